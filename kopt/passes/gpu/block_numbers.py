"""Which cell of a grid a program computes: its block along each dimension, from the program's one number."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import AddiOp, DivSIOp, MinSIOp, MuliOp, RemSIOp, SubiOp
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from kopt.dialects import tile, triton
from kopt.dialects.builder import Builder
from kopt.walk import walk

#: Rows of blocks that run side by side in a matrix product, so that they share columns in the L2 cache.
_GROUP = 8


def _arith(build: Builder, kind: type, value: SSAValue, number: int | SSAValue, hint: str | None = None) -> SSAValue:
    return build.add(kind(value, build.index(number)), hint)


def block_numbers(body: Block, grid: tile.GridOp, counts: Sequence[int]) -> list[SSAValue]:
    """Adds the block number of each dimension to a kernel. Cells run with the last dimension first.

    Where the last two are rows and columns of a dot, rows of blocks are grouped.
    """
    build = Builder(InsertPoint.at_end(body), grid)
    pid = build.add(triton.ProgramIdOp(), "pid")
    wide = [number for number, count in enumerate(counts) if count > 1]
    hints = [f"{range.name_hint or 'tile'}_block" for range in grid.ranges]
    last = wide[-2:]
    if len(last) < 2 or counts[last[0]] <= _GROUP or not _is_product(grid, last):
        found = _row_major(build, pid, wide, counts, hints)
    else:
        height, width = (counts[number] for number in last)
        outer = wide[:-2]
        inside = _arith(build, RemSIOp, pid, height * width, "cell") if outer else pid
        found = dict(zip(last, _grouped(build, inside, height, width, [hints[n] for n in last]), strict=True))
        if outer:
            found |= _row_major(build, _arith(build, DivSIOp, pid, height * width), outer, counts, hints)
    return [found[number] if number in found else build.index(0) for number in range(len(counts))]


def _is_product(grid: tile.GridOp, dims: Sequence[int]) -> bool:
    """Whether two dimensions of a grid are the rows and columns of a dot."""
    types = [grid.ranges[number].type for number in dims]
    tags = tuple(type.tag for type in types if isinstance(type, tile.RangeType))
    dots = [op.result.type for op in walk(grid, tile.DotOp)]
    return any(isinstance(type, tile.TileType) and type.tags[-2:] == tags for type in dots)


def _row_major(
    build: Builder, pid: SSAValue, wide: Sequence[int], counts: Sequence[int], hints: Sequence[str]
) -> dict[int, SSAValue]:
    found: dict[int, SSAValue] = {}
    rest = pid
    for number in reversed(wide[1:]):
        found[number] = _arith(build, RemSIOp, rest, counts[number], hints[number])
        rest = _arith(build, DivSIOp, rest, counts[number])
    if wide:
        found[wide[0]] = rest
    return found


def _grouped(build: Builder, pid: SSAValue, rows: int, columns: int, hints: Sequence[str]) -> tuple[SSAValue, SSAValue]:
    """Groups of `_GROUP` rows of blocks; within a group, columns of blocks one after another."""
    group = _arith(build, DivSIOp, pid, _GROUP * columns)
    first = _arith(build, MuliOp, group, _GROUP, "first")
    height = build.add(MinSIOp(build.add(SubiOp(build.index(rows), first)), build.index(_GROUP)), "group")
    inside = _arith(build, RemSIOp, pid, _GROUP * columns, "inside")
    row = build.add(AddiOp(first, _arith(build, RemSIOp, inside, height)), hints[0])
    return row, _arith(build, DivSIOp, inside, height, hints[1])
