"""Which cell of a grid a program computes: its block along each dimension, from the program's one number."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import AddiOp, ConstantOp, DivSIOp, MinSIOp, MuliOp, RemSIOp, SubiOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from kopt.dialects import tile, triton
from kopt.walk import walk

#: Rows of blocks that run side by side in a matrix product, so that they share columns in the L2 cache.
_GROUP = 8


class _Arith:
    """Adds index arithmetic at the end of a block."""

    def __init__(self, block: Block, at: Operation):
        self._block = block
        self._location = at.location

    def add(self, op: Operation, hint: str | None = None) -> SSAValue:
        op.location = self._location
        op.results[0].name_hint = hint
        self._block.add_op(op)
        return op.results[0]

    def number(self, value: int) -> SSAValue:
        return self.add(ConstantOp.from_int_and_width(value, IndexType()))

    def of(self, kind: type, value: SSAValue, number: int | SSAValue, hint: str | None = None) -> SSAValue:
        other = self.number(number) if isinstance(number, int) else number
        return self.add(kind(value, other), hint)


def block_numbers(body: Block, grid: tile.GridOp, counts: Sequence[int]) -> list[SSAValue]:
    """Adds the block number of each dimension to a kernel. Cells run with the last dimension first.

    Where the last two are rows and columns of a dot, rows of blocks are grouped.
    """
    arith = _Arith(body, grid)
    pid = arith.add(triton.ProgramIdOp(), "pid")
    wide = [number for number, count in enumerate(counts) if count > 1]
    hints = [f"{range.name_hint or 'tile'}_block" for range in grid.ranges]
    last = wide[-2:]
    if len(last) < 2 or counts[last[0]] <= _GROUP or not _is_product(grid, last):
        found = _row_major(arith, pid, wide, counts, hints)
    else:
        height, width = (counts[number] for number in last)
        outer = wide[:-2]
        inside = arith.of(RemSIOp, pid, height * width, "cell") if outer else pid
        found = dict(zip(last, _grouped(arith, inside, height, width, [hints[n] for n in last]), strict=True))
        if outer:
            found |= _row_major(arith, arith.of(DivSIOp, pid, height * width), outer, counts, hints)
    return [found[number] if number in found else arith.number(0) for number in range(len(counts))]


def _is_product(grid: tile.GridOp, dims: Sequence[int]) -> bool:
    """Whether two dimensions of a grid are the rows and columns of a dot."""
    types = [grid.ranges[number].type for number in dims]
    tags = tuple(type.tag for type in types if isinstance(type, tile.RangeType))
    dots = [op.result.type for op in walk(grid, tile.DotOp)]
    return any(isinstance(type, tile.TileType) and type.tags[-2:] == tags for type in dots)


def _row_major(
    arith: _Arith, pid: SSAValue, wide: Sequence[int], counts: Sequence[int], hints: Sequence[str]
) -> dict[int, SSAValue]:
    found: dict[int, SSAValue] = {}
    rest = pid
    for number in reversed(wide[1:]):
        found[number] = arith.of(RemSIOp, rest, counts[number], hints[number])
        rest = arith.of(DivSIOp, rest, counts[number])
    if wide:
        found[wide[0]] = rest
    return found


def _grouped(arith: _Arith, pid: SSAValue, rows: int, columns: int, hints: Sequence[str]) -> tuple[SSAValue, SSAValue]:
    """Groups of `_GROUP` rows of blocks; within a group, columns of blocks one after another."""
    group = arith.of(DivSIOp, pid, _GROUP * columns)
    first = arith.of(MuliOp, group, _GROUP, "first")
    height = arith.add(MinSIOp(arith.add(SubiOp(arith.number(rows), first)), arith.number(_GROUP)), "group")
    inside = arith.of(RemSIOp, pid, _GROUP * columns, "inside")
    row = arith.add(AddiOp(first, arith.of(RemSIOp, inside, height)), hints[0])
    return row, arith.of(DivSIOp, inside, height, hints[1])
