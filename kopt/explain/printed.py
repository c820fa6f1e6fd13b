"""IR as text whose every line knows the operations that it shows: exact, for the printer says where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.printer import Printer

from kopt.dialects.tile import GridOp
from kopt.dialects.tile.memory import Access
from kopt.walk import walk

#: A line of a plan with a buffer.
_BUFFER = re.compile(r"\s*@([\w$.]+) = ")


@dataclass(frozen=True)
class Printed:
    """The lines of a module, the operations of each, and the line on which each operation begins."""

    lines: Sequence[str]
    ops: Sequence[tuple[Operation, ...]]
    starts: Mapping[Operation, int]


def shape(module: ModuleOp) -> list[Any]:
    """All that the text of a module is made of, and where it comes from: two modules of equal shapes have one text.

    To compare shapes takes a hundredth of the time that printing does. Attributes never change, so they are kept as
    they are; operations are the same ones.
    """
    return [
        (
            op,
            op.parent,
            op.location,
            op.operands,
            *op.properties.items(),
            *op.attributes.items(),
            *((value.type, value.name_hint) for value in (*op.results, *_arguments(op))),
        )
        for op in module.walk()
    ]


def _arguments(op: Operation) -> Iterator[SSAValue]:
    return (value for region in op.regions for block in region.blocks for value in block.args)


def printed(module: ModuleOp) -> Printed:
    """The text of a module, the same as ``str``, with what its lines show."""
    stream = StringIO()
    printer = _LinePrinter(stream)
    printer.print_op(module)
    lines = stream.getvalue().split("\n")
    ops = [_shown(line, printer.owners.get(number)) for number, line in enumerate(lines)]
    return Printed(lines, ops, printer.starts)


class _LinePrinter(Printer):
    """Notes the lines of each operation: those that no operation inside of it has."""

    def __init__(self, stream: StringIO):
        super().__init__(stream)
        self.owners: dict[int, Operation] = {}
        self.starts: dict[Operation, int] = {}

    def print_op(self, op: Operation) -> None:
        start = self._current_line
        self.starts[op] = start
        self.owners.setdefault(start, op)
        super().print_op(op)
        for line in range(start + 1, self._current_line + 1):
            self.owners.setdefault(line, op)


def _shown(line: str, owner: Operation | None) -> tuple[Operation, ...]:
    """The operations of a line: of a plan's buffer the accesses that go by it."""
    if isinstance(owner, GridOp) and owner.plan is not None and (match := _BUFFER.match(line)):
        accesses = (op for op in walk(owner) if isinstance(op, Access))
        if found := tuple(op for op in accesses if op.via is not None and op.via.data == match[1]):
            return found
    return () if owner is None else (owner,)
