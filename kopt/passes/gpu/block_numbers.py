"""Which cell of a grid a program computes: its block along each dimension, from the program's one number."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import AddiOp, DivSIOp, MinSIOp, MuliOp, RemSIOp, SubiOp
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from kopt.dialects import tile, triton
from kopt.dialects.builder import Builder, named
from kopt.walk import walk

#: Rows of blocks that run side by side in a matrix product, so that they share columns in the L2 cache.
GROUP = 8
#: What emitted code calls that number.
_GROUP_NAME = "GROUP_M"
#: How many blocks there are, or rows of them: a number, or an ``index`` value.
Count = int | SSAValue


class _Cells(Builder):
    """Adds the arithmetic of cells: its numbers have names, each once."""

    def __init__(self, at: InsertPoint, grid: tile.GridOp):
        super().__init__(at, grid)
        self._named: dict[tuple[int, str], SSAValue] = {}

    def number(self, count: Count, name: str) -> SSAValue:
        """A number as a value of that name."""
        if isinstance(count, SSAValue):
            return count
        if (count, name) not in self._named:
            self._named[count, name] = value = named(self.index(count), name)
            value.owner.attributes[triton.NAMED] = UnitAttr()  # pyright: ignore[reportAttributeAccessIssue]
        return self._named[count, name]


def block_numbers(body: Block, grid: tile.GridOp, counts: Sequence[Count], group: int | None = None) -> list[SSAValue]:
    """Adds the block number of each dimension to a kernel. Cells run with the last dimension first.

    A count may be the extent of which there are blocks. Where the last two dimensions are rows and columns of a dot,
    rows of blocks are grouped; ``group`` says how many are, 1 none, and may ask for it of any dimensions.
    """
    build = _Cells(InsertPoint.at_end(body), grid)
    pid = build.add(triton.ProgramIdOp(), "pid")
    counts = [_blocks(build, *pair) for pair in zip(counts, grid.ranges, strict=True)]
    wide = [number for number, count in enumerate(counts) if isinstance(count, SSAValue) or count > 1]
    hints = [f"{range.name_hint or 'tile'}_block" for range in grid.ranges]
    last = wide[-2:]
    rows = GROUP if group is None else group
    is_grouped = _is_product(grid, last) if group is None else group > 1
    if len(last) < 2 or _is_low(counts[last[0]], rows) or not is_grouped:
        found = _row_major(build, pid, wide, counts, hints)
    else:
        height, width = (counts[number] for number in last)
        outer, inside, found = wide[:-2], pid, {}
        if outer:
            rows_of, columns_of = (build.number(counts[number], f"{hints[number]}s") for number in last)
            cells = build.add(MuliOp(rows_of, columns_of), "cells")
            inside = build.add(RemSIOp(pid, cells), "cell")
            found = _row_major(build, build.add(DivSIOp(pid, cells)), outer, counts, hints)
        found |= zip(last, _grouped(build, inside, (height, width), rows, [hints[n] for n in last]), strict=True)
    return [found[number] if number in found else build.index(0) for number in range(len(counts))]


def _blocks(build: Builder, count: Count, range: SSAValue) -> Count:
    """A number of blocks; of an extent, ``(extent + size - 1) / size``."""
    if isinstance(count, int):
        return count
    size = tile.range_type(range).size
    if size == 1:
        return count
    return build.add(DivSIOp(build.add(AddiOp(count, build.index(size - 1))), build.index(size)))


def _is_low(rows: Count, group: int) -> bool:
    return isinstance(rows, int) and rows <= group


def _is_product(grid: tile.GridOp, dims: Sequence[int]) -> bool:
    """Whether two dimensions of a grid are the rows and columns of a dot."""
    types = [grid.ranges[number].type for number in dims]
    tags = tuple(type.tag for type in types if isinstance(type, tile.RangeType))
    dots = [op.result.type for op in walk(grid, tile.DotOp)]
    return any(isinstance(type, tile.TileType) and type.tags[-2:] == tags for type in dots)


def _row_major(
    build: _Cells, pid: SSAValue, wide: Sequence[int], counts: Sequence[Count], hints: Sequence[str]
) -> dict[int, SSAValue]:
    found: dict[int, SSAValue] = {}
    rest = pid
    for dim in reversed(wide[1:]):
        count = build.number(counts[dim], f"{hints[dim]}s")
        found[dim] = build.add(RemSIOp(rest, count), hints[dim])
        rest = build.add(DivSIOp(rest, count), "rest" if dim != wide[1] else None)
    if wide:
        found[wide[0]] = rest
    return found


def _grouped(
    build: _Cells, pid: SSAValue, counts: tuple[Count, Count], size: int, hints: Sequence[str]
) -> tuple[SSAValue, SSAValue]:
    """Groups of ``size`` rows of blocks; within a group, columns of blocks one after another.

    Only the last group may be of fewer rows, and it is not where the rows divide into groups: nothing is divided by a
    number that the program computes then.
    """
    rows = counts[0]
    most = build.number(size, _GROUP_NAME)
    cells = build.add(MuliOp(most, build.number(counts[1], f"{hints[1]}s")), "group_cells")
    first = build.add(MuliOp(build.add(DivSIOp(pid, cells)), most), "first")
    height = most
    if not (isinstance(rows, int) and rows % size == 0):
        left = build.add(SubiOp(build.number(rows, f"{hints[0]}s"), first))
        height = build.add(MinSIOp(left, most), "group")
    inside = build.add(RemSIOp(pid, cells), "inside")
    row = build.add(AddiOp(first, build.add(RemSIOp(inside, height))), hints[0])
    return row, build.add(DivSIOp(inside, height), hints[1])
