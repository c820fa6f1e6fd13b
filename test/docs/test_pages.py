"""The Python programs and shell commands of the documentation run as they are printed.

The Python blocks of a page are one program, in order. A block that only illustrates stands behind a comment that says
why: ``<!-- illustration: wants eight TPUs -->``. A page that begins with ``<!-- environment: NAME=VALUE -->`` runs in a
process that has it. `test_readme.py` is for README.md and for what is on the tour.
"""

from __future__ import annotations

import linecache
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .command_lines import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.glob("docs/**/*.md"))
_BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?```(?P<kind>\w+)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
_ENVIRONMENT = re.compile(r"<!-- environment: (\w+)=(\w+) -->\n")
#: What pages use as the tour defined it.
PREAMBLE = """\
import jax, torch, kopt, kopt.language as hl
from examples.softmax import softmax
x = torch.randn(6, 8)
"""


def blocks(page: Path, kind: str) -> list[str]:
    """The blocks of a kind that are no illustrations, each behind as many empty lines as it has in the page."""
    text = page.read_text()
    found = [match for match in _BLOCK.finditer(text) if match["kind"] == kind]
    run = [match for match in found if not (match["mark"] or "").startswith("illustration: ")]
    return ["\n" * text.count("\n", 0, match.start("body")) + match["body"] for match in run]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands(page: Path) -> list[str]:
    """The lines of the page's shell blocks; `test_readme.py` runs those of the tour."""
    lines = "\n".join(blocks(page, "sh") if page.stem != "getting-started" else []).splitlines()
    return [line.partition("  #")[0].strip() for line in lines if line.strip()]


WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]
COMMANDS = [(name(page), line) for page in PAGES for line in commands(page)]


def execute(page: Path) -> None:
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(PREAMBLE, scope)
    for number, body in enumerate(blocks(page, "python")):
        file = f"<{page.stem} block {number}>"
        linecache.cache[file] = (len(body), None, body.splitlines(keepends=True), file)
        exec(compile(body, file, "exec"), scope)


def test_most_pages_have_something_to_run():
    assert len(WITH_PYTHON) >= 10 and len(COMMANDS) >= 7


def test_illustrations_say_why():
    marks = [match["mark"] for page in PAGES for match in _BLOCK.finditer(page.read_text()) if match["mark"]]
    reasons = [mark.removeprefix("illustration: ") for mark in marks if mark.startswith("illustration")]
    assert reasons and all(len(reason.split()) >= 3 for reason in reasons)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_programs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    if (found := _ENVIRONMENT.match(page.read_text())) is None:
        return execute(page)
    # Kernels want a file to read their source from.
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks(page, "python")))
    environment = {**os.environ, found[1]: found[2], "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page, line", COMMANDS)
def test_commands(page, line, tmp_path):
    done = run(line, tmp_path)
    assert done.code == 0, done.out + done.err


def test_ir_beside_upstream_mlir():
    """Upstream's text is upstream's: xDSL parses it with MLIR's dialects alone."""
    from xdsl.context import Context
    from xdsl.dialects import get_all_dialects
    from xdsl.parser import Parser

    import kopt

    upstream, own = blocks(ROOT / "docs/from-mlir.md", "mlir")
    context = Context()
    for dialect, factory in get_all_dialects().items():
        context.register_dialect(dialect, factory)
    Parser(context, upstream).parse_module().verify()
    assert "tile.grid" not in upstream
    kopt.parse(own)
