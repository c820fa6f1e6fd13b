"""What editors are told of a text, without the protocol."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kopt.diagnostics import warning
from kopt.lsp.answers import completions, hover
from kopt.lsp.document import Document

ROOT = Path(__file__).resolve().parents[2]
SOFTMAX = (ROOT / "examples/ir/softmax.mlir").read_text()
ADD = """\
func.func @add(%a: i32) -> i32 {
  %r = arith.addi %a, %a : i32
  func.return %r : i32
}
"""


def place(text: str, marked: str) -> int:
    """The position of ``|`` in an excerpt that the text has without it."""
    excerpt = marked.replace("|", "", 1)
    assert text.count(excerpt) == 1, excerpt
    return text.index(excerpt) + marked.index("|")


def shown(text: str, marked: str) -> str:
    found = hover(Document(text), place(text, marked))
    return "" if found is None else found[1]


def defined(text: str, marked: str) -> str | None:
    """The definition's line, up to the word."""
    document = Document(text)
    word = document.words.at(place(text, marked))
    found = None if word is None else document.definition(word)
    return None if found is None else f"{document.line_col(found.start)[0] + 1}:{text[found.start : found.end]}"


def offered(text: str, marked: str) -> list[str]:
    return [one.text for one in completions(Document(text), place(text, marked))[1]]


@pytest.mark.parametrize("path", sorted((ROOT / "examples/ir").glob("*.mlir")), ids=lambda path: path.stem)
def test_examples_have_no_problems(path):
    assert Document(path.read_text()).problems == []


def test_each_piece_has_its_problem_at_its_word():
    wrong_op = ADD.replace("arith.addi", "arith.addo")
    wrong_value = ADD.replace("return %r", "return %q")
    unverified = ADD.replace("func.return %r : i32", "func.return")
    text = "// -----\n".join([ADD, wrong_op, wrong_value, unverified])
    found = Document(text).problems
    assert [text[problem.start : problem.end] for problem in found] == ["arith.addo", "%q", "func.return"]
    assert [text.count("\n", 0, problem.start) + 1 for problem in found] == [7, 13, 18]
    assert "did you mean 'arith.addi'" in found[0].message


def test_a_problem_is_where_the_text_has_it_not_where_a_loc_says():
    text = ADD.replace("func.return %r : i32", 'func.return loc("model.py":90:3)')
    (problem,) = Document(text).problems
    assert text[problem.start : problem.end] == "func.return"


def test_hover():
    assert "Reads a block of a memref." in shown(SOFTMAX, "tile.lo|ad")
    assert "%v : !tile.tile<b0=16 x 2560 x f32>" in shown(SOFTMAX, "tile.sub %|v")
    assert "from `tile.load`" in shown(SOFTMAX, "tile.sub %|v")
    assert "an argument in `tile.grid`" in shown(SOFTMAX, "tile.load %x[%|i")
    assert "A block being computed" in shown(SOFTMAX, "%v = tile.load %x[%i, :] : memref<1000x2560xf32> -> !tile.t|ile")
    assert shown(SOFTMAX, "over |blocks") == "" == shown(SOFTMAX, "memref<1000|x2560xf32>) ->")


def test_hover_of_an_op_that_leaves_out_its_dialect():
    assert "`func.return`" in shown(ADD.replace("func.return", "return"), "re|turn")


def test_hover_of_several_results():
    text = (
        'func.func @f() {\n  %a:2 = "test.op"() : () -> (i32, f32)\n  "test.op"(%a#1) : (f32) -> ()\n  func.return\n}\n'
    )
    assert Document(text).problems == []
    assert "%a#1 : f32" in shown(text, "%a|#1") and "i32" not in shown(text, "%a|#1")
    assert "%a#0 : i32\n%a#1 : f32" in shown(text, "%a|:2")


def test_definitions_go_by_scope():
    text = f"{ADD}{ADD.replace('@add', '@other').replace('%r', '%s')}"
    assert defined(text, "return |%s") == "6:%s"
    assert defined(text, "%s = arith.addi %a|") == "5:%a"
    assert defined(text, "%r = arith.addi |%a") == "1:%a"


def test_definitions_of_labels_and_symbols():
    text = f"""\
func.func @g(%a: i32) -> i32 {{
  %c = func.call @add(%a) : (i32) -> i32
  func.return %c : i32
}}
{ADD.replace("func.func @add", "func.func private @add")}
"test.op"() ({{
  "test.termop"() [^next] : () -> ()
^next:
  "test.termop"() : () -> ()
}}) : () -> ()
"""
    assert Document(text).problems == []
    assert defined(text, "func.call @a|dd") == "5:@add"
    assert defined(text, "[^ne|xt]") == "12:^next"
    assert [(one.definition.name, text[one.start : one.end][-1]) for one in Document(text).symbols] == [
        ("@g", "}"),
        ("@add", "}"),
    ]


def test_symbols_of_several_pieces():
    text = f"{ADD}// -----\n{ADD}func.func @h(%z: i32) -> i32 {{\n  %c = func.call @add(%z) : (i32) -> i32\n"
    assert defined(text, "func.call @a|dd") == "6:@add"


def test_what_stands_before_an_error_is_known():
    text = SOFTMAX.replace("tile.exp", "tile.exponential")
    assert len(Document(text).problems) == 1
    assert "%v : !tile.tile" in shown(text, "tile.sub %|v")
    assert defined(text, "tile.sub %|v") == "5:%v"
    assert defined(text, "tile.store %|r") is None
    assert [one.definition.name for one in Document(text).symbols] == ["@softmax"]


def test_completion():
    text = SOFTMAX.replace("%d = tile.sub %v, %mb", "%d = tile.s %v, %mb")
    assert {"tile.sub", "tile.store", "func.func", "arith.addi"} <= {*offered(text, "%d = tile.s|")}
    values = offered(text, "%d = tile.s %|v")
    assert {"%x", "%out", "%i", "%v", "%m", "%mb"} == {*values}  # not itself, nor what comes later
    assert {"!tile.tile", "!tile.ref"} <= {*offered(text, "-> !|tile.tile<b0=16 x 2560 x f32>\n    %m =")}
    assert offered(text, "in (|1000)") == [] == offered(text, "// Soft|max")


def test_completion_of_values_goes_by_scope():
    text = f"{ADD}{ADD.replace('@add', '@other').replace('%a', '%b').replace('%r', '%s')}"
    assert offered(text, "%s = arith.addi %|b") == ["%b"]


@pytest.mark.parametrize(
    "text", ["", "\n\n", "// -----", "%", '"', "{", "@", "func.func @", "\x00\x0c\u2028", "<" * 5000]
)
def test_no_text_is_too_wrong(text):
    ask_everywhere(text, [0, len(text) // 2, len(text)])


def test_garbage_is_answered():
    """Parts of a text left out, doubled and mixed up with other characters: every question has an answer."""
    chance = random.Random(0)
    for _ in range(60):
        text = f"{SOFTMAX}// -----\n{ADD}"
        for _ in range(chance.randrange(1, 6)):
            at, until = sorted(chance.randrange(len(text)) for _ in range(2))
            until = min(until, at + 40)
            text = (
                text[:at] + chance.choice(["", text[at:until] * 2, '"', "}", "{", "é𝒳", "%x", "-----"]) + text[until:]
            )
        found = ask_everywhere(text, [chance.randrange(len(text) + 1) for _ in range(10)])
        assert not any("bug in kopt" in problem.message for problem in found.problems), text


def ask_everywhere(text: str, positions: list[int]) -> Document:
    document = Document(text)
    for problem in document.problems:
        assert 0 <= problem.start <= problem.end <= len(text) + 1
    for position in positions:
        hover(document, position)
        completions(document, position)
        word = document.words.at(position)
        assert word is None or word.start <= position <= word.end
        if word is not None:
            document.definition(word)
    return document


def test_what_is_only_warned_of_keeps_its_kind(monkeypatch):
    def verify(module):
        warning(next(op for op in module.walk() if op.name == "arith.addi"), "adds", id="lost-updates")

    monkeypatch.setattr("kopt.lsp.document.verify", verify)
    (found,) = Document(ADD).problems
    assert (found.severity, found.message, found.id) == ("warning", "adds", "lost-updates")
