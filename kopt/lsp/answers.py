"""What is shown at a place of a text, and what may be written there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, Operation, OpResult, SSAValue

from kopt.dialects.documentation import markdown, parts_of, summary
from kopt.lsp import registered
from kopt.lsp.document import Document
from kopt.lsp.words import TextWord

#: What stands before the name of an operation on its line: its results, or the brace of the region that it is in.
_BEFORE_OP = re.compile(r"\s*(?:%[^=]*=\s*)?|.*\{\s*(?:%[^=]*=\s*)?")
_TYPED = re.compile(r"[%^@!]?[\w$.]*$", re.ASCII)


@dataclass(frozen=True)
class Suggestion:
    """A word that may come there: its text, its kind (op, type, value, symbol, label), and what it is."""

    text: str
    kind: str
    detail: str = ""


def hover(document: Document, position: int) -> tuple[TextWord, str] | None:
    """The word at a position and what it is, as Markdown."""
    word = document.words.at(position)
    text = None if word is None else _described(document, word)
    return (word, text) if word is not None and text else None


def completions(document: Document, position: int) -> tuple[int, list[Suggestion]]:
    """What may stand at a position, and where the word that is being typed begins."""
    line = document.text[document.starts[document.line_col(position)[0]] : position]
    typed = _TYPED.search(line)
    assert typed is not None  # it may be empty
    start = position - len(typed.group())
    before = line[: typed.start()]
    if _in_comment_or_string(document, position):
        return start, []
    return start, [one for one in _possible(document, position, typed.group(), before) if one.text != typed.group()]


def _possible(document: Document, position: int, typed: str, before: str) -> Iterator[Suggestion]:
    if typed.startswith(("%", "^")):
        yield from _names(document, position, typed[0])
    elif typed.startswith("@"):
        yield from (Suggestion(one.definition.name, "symbol", one.op_name) for one in document.symbols)
    elif typed.startswith("!"):
        yield from (Suggestion(f"!{name}", "type", summary(one.__doc__)) for name, one in registered.types().items())
    elif _BEFORE_OP.fullmatch(before):
        yield from (Suggestion(name, "op", summary(one.__doc__)) for name, one in registered.ops().items())


def _names(document: Document, position: int, sigil: str) -> Iterator[Suggestion]:
    piece = document.piece_at(position)
    if piece is None:
        return
    around = {op for start, (op, end) in piece.operations.items() if start <= position < end}
    for found in piece.visible(position):
        # Labels are seen before they are defined, values only after the operation that they come from.
        before = found.end < position and not any(value.owner in around for value in found.values if _is_result(value))
        if found.name.startswith(sigil) and (sigil == "^" or before):
            kind = "label" if sigil == "^" else "value"
            yield Suggestion(found.name, kind, ", ".join(str(value.type) for value in found.values))


def _is_result(value: SSAValue) -> bool:
    return isinstance(value, OpResult)


def _in_comment_or_string(document: Document, position: int) -> bool:
    word = document.words.at(position)
    if word is None or position == word.start:
        return False
    return word.kind == "comment" or (word.kind == "string" and position < word.end)


def _described(document: Document, word: TextWord) -> str | None:
    if word.kind in ("type", "attribute"):
        found = registered.type_or_attribute(word.text[1:])
        return None if found is None else f"`{word.text}`\n\n{markdown(found.__doc__)}".strip()
    if word.kind in ("value", "symbol"):
        return _definition(document, word)
    op_type = document.op_at(word)
    return None if op_type is None else _op(op_type)


def _op(op_type: type[Operation]) -> str:
    """Its docstring, and its parts by their names."""
    return "\n\n".join(part for part in (f"`{op_type.name}`", markdown(op_type.__doc__), parts_of(op_type)) if part)


def _definition(document: Document, word: TextWord) -> str | None:
    """A value and its type; of a symbol the line that defines it."""
    found = document.definition(word)
    if found is None:
        return None
    if word.kind == "symbol":
        return _code([document.line_at(found.start).strip()])
    name, _, number = word.text.partition("#")
    values = [*enumerate(found.values)]
    if number:
        values = [(index, value) for index, value in values if index == int(number)]
    several = len(found.values) > 1
    lines = [f"{name}#{index} : {value.type}" if several else f"{name} : {value.type}" for index, value in values]
    return None if not lines else f"{_code(lines)}\n\n{_origin(found.values[0])}".strip()


def _origin(value: SSAValue) -> str:
    owner: Any = value.owner
    if isinstance(value, OpResult):
        return f"from `{value.op.name}`"
    parent = owner.parent_op() if isinstance(owner, Block) else None
    return "" if parent is None else f"an argument in `{parent.name}`"


def _code(lines: Iterable[str]) -> str:
    return "\n".join(["```mlir", *lines, "```"])
