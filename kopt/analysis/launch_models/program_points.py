"""The operations of a launch in the order of the program, each with the loops around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Block, Operation

from kopt.dialects.tile import UNLIKELY, CarryingLoop, GridOp, RangeType, WhileOp

#: The axes of the loops around a place, from outside in.
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProgramPoint:
    """An operation, the axes of the loops around it, and its number in the order of the program.

    It is ``unlikely`` in a branch that is for numbers which are never there as a rule.
    """

    op: Operation
    path: Path
    number: int
    unlikely: bool = False


def places(grid: GridOp) -> list[ProgramPoint]:
    """What a launch runs, the grid itself left out."""
    found: list[ProgramPoint] = []
    _visit(grid.body.block, tuple(_tags(grid.body.block)), found)
    return found


def inner_path(op: Operation, path: Path, number: int) -> Path:
    """The path inside an operation at a place; a loop without a range has a tag of its own."""
    if isinstance(op, CarryingLoop):
        return (*path, *_tags(op.body.block))
    return (*path, f"while.{number}") if isinstance(op, WhileOp) else path


def _visit(block: Block, path: Path, found: list[ProgramPoint], unlikely: bool = False) -> None:
    for op in block.ops:
        number = len(found)
        found.append(ProgramPoint(op, path, number, unlikely))
        for region in op.regions:
            rarely = unlikely or UNLIKELY in op.attributes and region is op.regions[0]
            for inner in region.blocks:
                _visit(inner, inner_path(op, path, number), found, rarely)


def _tags(block: Block) -> Iterator[str]:
    return (arg.type.tag for arg in block.args if isinstance(arg.type, RangeType))
