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
GROUP = 8


#: How many blocks there are, or rows of them: a number, or an ``index`` value.
Count = int | SSAValue


def _value(build: Builder, number: Count) -> SSAValue:
    return number if isinstance(number, SSAValue) else build.index(number)


def _arith(build: Builder, kind: type, value: SSAValue, number: Count, hint: str | None = None) -> SSAValue:
    return build.add(kind(value, _value(build, number)), hint)


def block_numbers(body: Block, grid: tile.GridOp, counts: Sequence[Count], group: int | None = None) -> list[SSAValue]:
    """Adds the block number of each dimension to a kernel. Cells run with the last dimension first.

    A count may be the extent of which there are blocks. Where the last two dimensions are rows and columns of a dot,
    rows of blocks are grouped; ``group`` says how many are, 1 none, and may ask for it of any dimensions.
    """
    build = Builder(InsertPoint.at_end(body), grid)
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
        outer = wide[:-2]
        cells = _times(build, height, width) if outer else 1
        inside = _arith(build, RemSIOp, pid, cells, "cell") if outer else pid
        found = dict(zip(last, _grouped(build, inside, (height, width), rows, [hints[n] for n in last]), strict=True))
        if outer:
            found |= _row_major(build, _arith(build, DivSIOp, pid, cells), outer, counts, hints)
    return [found[number] if number in found else build.index(0) for number in range(len(counts))]


def _blocks(build: Builder, count: Count, range: SSAValue) -> Count:
    """A number of blocks; of an extent, ``(extent + size - 1) / size``."""
    if isinstance(count, int):
        return count
    size = tile.range_type(range).size
    return _arith(build, DivSIOp, _arith(build, AddiOp, count, size - 1), size) if size > 1 else count


def _is_low(rows: Count, group: int) -> bool:
    return isinstance(rows, int) and rows <= group


def _times(build: Builder, one: Count, other: Count) -> Count:
    if isinstance(one, int):
        return one * other if isinstance(other, int) else _arith(build, MuliOp, other, one)
    return _arith(build, MuliOp, one, other)


def _is_product(grid: tile.GridOp, dims: Sequence[int]) -> bool:
    """Whether two dimensions of a grid are the rows and columns of a dot."""
    types = [grid.ranges[number].type for number in dims]
    tags = tuple(type.tag for type in types if isinstance(type, tile.RangeType))
    dots = [op.result.type for op in walk(grid, tile.DotOp)]
    return any(isinstance(type, tile.TileType) and type.tags[-2:] == tags for type in dots)


def _row_major(
    build: Builder, pid: SSAValue, wide: Sequence[int], counts: Sequence[Count], hints: Sequence[str]
) -> dict[int, SSAValue]:
    found: dict[int, SSAValue] = {}
    rest = pid
    for number in reversed(wide[1:]):
        found[number] = _arith(build, RemSIOp, rest, counts[number], hints[number])
        rest = _arith(build, DivSIOp, rest, counts[number])
    if wide:
        found[wide[0]] = rest
    return found


def _grouped(
    build: Builder, pid: SSAValue, counts: tuple[Count, Count], size: int, hints: Sequence[str]
) -> tuple[SSAValue, SSAValue]:
    """Groups of ``size`` rows of blocks; within a group, columns of blocks one after another.

    Only the last group may be of fewer rows, and it is not where the rows divide into groups: nothing is divided by a
    number that the program computes then.
    """
    rows, columns = counts
    cells = _times(build, columns, size)
    group = _arith(build, DivSIOp, pid, cells)
    first = _arith(build, MuliOp, group, size, "first")
    height = size if isinstance(rows, int) and rows % size == 0 else _height(build, rows, first, size)
    inside = _arith(build, RemSIOp, pid, cells, "inside")
    row = build.add(AddiOp(first, _arith(build, RemSIOp, inside, height)), hints[0])
    return row, _arith(build, DivSIOp, inside, height, hints[1])


def _height(build: Builder, rows: Count, first: SSAValue, size: int) -> SSAValue:
    """The rows of a group that begins at one: ``min(rows - first, size)``."""
    return build.add(MinSIOp(build.add(SubiOp(_value(build, rows), first)), build.index(size)), "group")
