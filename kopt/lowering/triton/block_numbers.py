"""Which cell of a grid a program computes: its block along each dimension, from the program's one number."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import AddiOp, ConstantOp, DivSIOp, MinSIOp, MuliOp, RemSIOp, SubiOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from kopt.dialects import tile, triton

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

    In a grid of two dimensions with a dot, rows of blocks are grouped instead.
    """
    arith = _Arith(body, grid)
    pid = arith.add(triton.ProgramIdOp(), "pid")
    wide = [number for number, count in enumerate(counts) if count > 1]
    hints = [f"{range.name_hint or 'tile'}_block" for range in grid.ranges]
    if len(wide) == 2 and min(counts[n] for n in wide) > 1 and _has_dot(grid) and counts[wide[0]] > _GROUP:
        rows, columns = _grouped(arith, pid, counts[wide[0]], counts[wide[1]], [hints[n] for n in wide])
        found = {wide[0]: rows, wide[1]: columns}
    else:
        found = _row_major(arith, pid, wide, counts, hints)
    return [found[number] if number in found else arith.number(0) for number in range(len(counts))]


def _has_dot(grid: tile.GridOp) -> bool:
    return any(isinstance(op, tile.DotOp) for op in grid.walk())


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
