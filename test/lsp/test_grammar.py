"""The TextMate grammar and the extension for VS Code. That the grammar is current is `test_generated_pages`'."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kopt.dialects import DIALECTS
from kopt.lsp.grammar import grammar
from kopt.registry import load
from kopt.tools.main import main

EXTENSION = Path(__file__).resolve().parents[2] / "editors/vscode"
GRAMMAR = json.loads((EXTENSION / "syntaxes/kopt-mlir.tmLanguage.json").read_text())
LINES = json.loads((EXTENSION / "test/lines.json").read_text())
PATTERNS = [(one["name"].removesuffix(".kopt-mlir"), re.compile(one["match"])) for one in GRAMMAR["patterns"]]


def tokens(line: str) -> list[tuple[str, str]]:
    """The words that the grammar colours: the pattern that matches first in the line, the first of several."""
    found, position = [], 0
    while position < len(line):
        matches = [(scope, match) for scope, pattern in PATTERNS if (match := pattern.search(line, position))]
        scope, match = min(matches, key=lambda one: one[1].start(), default=(None, None))
        if match is None:
            break
        found.append((match.group(), scope))
        position = max(match.end(), position + 1)
    return found


@pytest.mark.parametrize("one", LINES, ids=lambda one: one["line"])
def test_words(one):
    """As in VS Code's own tokenizer, which `editors/vscode/test` runs on the same lines."""
    assert [list(word) for word in tokens(one["line"])] == one["words"]


@pytest.mark.parametrize("name", DIALECTS)
def test_every_op_is_known(name):
    for op in load(DIALECTS[name]).operations:
        if op.name != "builtin.unregistered":
            assert tokens(op.name) == [(op.name, f"support.function.{name}")]


def test_what_the_command_prints(capsys):
    """It has what the committed one has, and plug-ins' ops."""
    assert main(["lsp", "--grammar"]) == 0
    printed = json.loads(capsys.readouterr().out)
    own = grammar({name: load(path) for name, path in DIALECTS.items()})
    assert own == GRAMMAR
    assert {one["name"] for one in own["patterns"]} <= {one["name"] for one in printed["patterns"]}


def test_the_extension():
    manifest = json.loads((EXTENSION / "package.json").read_text())
    contributed = manifest["contributes"]
    (language,), (colours,) = contributed["languages"], contributed["grammars"]
    assert language["id"] == colours["language"] and colours["scopeName"] == GRAMMAR["scopeName"]
    for path in ("extension.js", "LICENSE", language["configuration"], colours["path"]):
        assert (EXTENSION / path).is_file()
    assert (
        f"extension.js --bundle --platform=node --external:vscode --outfile={manifest['main'][2:]}"
        in manifest["scripts"]["vscode:prepublish"]
    )
    json.loads((EXTENSION / language["configuration"]).read_text())
    source = (EXTENSION / "extension.js").read_text()
    assert f'language: "{language["id"]}"' in source
    (setting,) = contributed["configuration"]["properties"]
    assert f'getConfiguration("{setting.partition(".")[0]}").get("{setting.partition(".")[2]}")' in source


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_extension_parses():
    done = subprocess.run(["node", "--check", EXTENSION / "extension.js"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
