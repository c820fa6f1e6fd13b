"""The emitted module, whose every line knows the operations that it was written for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from kopt.lowering import emit
from kopt.lowering.writer import WrittenText, written


def emitted(module: ModuleOp, entry: str, family: str, source: str) -> list[tuple[Operation, ...]]:
    """The operations of each line of a module's emitted ``source``: none of imports and of helpers.

    The writers of the text say them. An operation without a line of its own stands in those of its users.
    """
    with written() as parts:
        emit(module, entry, family, allow_inline=True)  # nothing of it runs
    own: list[Operation | None] = [None] * (source.count("\n") + 1)
    for part in parts:
        _place(part, source, own)
    lines = {op for op in own if op is not None}
    return [tuple(_with_inlined(op, lines)) for op in own]


def _place(part: WrittenText, source: str, own: list[Operation | None]) -> None:
    """Notes the lines of a part of the source, where it stands in it as it was written."""
    text = part.text.rstrip("\n")
    start = source.find(text)
    if not text or start < 0:
        return
    first = source.count("\n", 0, start)
    for number, origin in enumerate(part.origins[: text.count("\n") + 1], first):
        own[number] = origin or own[number]


def _with_inlined(op: Operation | None, lines: set[Operation]) -> Iterator[Operation]:
    """An operation, and those whose expressions stand in its line."""
    left: Sequence[Operation] = [] if op is None else [op]
    seen: set[Operation] = set()
    while left:
        yield from left
        seen |= {*left}
        owners = {value.owner for one in left for value in one.operands}
        left = [one for one in owners if isinstance(one, Operation) and one not in lines | seen and not one.regions]
