"""The pass ``pad-to-power-of-two``: Triton's blocks have powers of two as sizes."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.diagnostics import location_of
from kopt.dialects import atomic, tile, triton
from kopt.dialects.builder import Builder
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr
from kopt.errors import LoweringError
from kopt.ir.widths import next_power_of_two
from kopt.passes.gpu.moved_lanes import refuse_moved
from kopt.passes.gpu.widened_reshapes import gather_reshaped
from kopt.passes.launches import is_bound
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.retyping import defined_values, replace_dims
from kopt.passes.verifying.removed_by import formless
from kopt.walk import walk

_Access = tile.LoadOp | tile.StoreOp | atomic.RmwOp | atomic.CasOp


@dataclass(frozen=True)
class PadToPowerOfTwoPass(ModulePass):
    """Widens every dimension that is no power of two to a range over it, whose lanes ``insert-masks`` then knows.

    A plain dimension of N lanes becomes tagged ``wN``, over a ``tile.whole``. Reshapes that move its lanes become
    gathers by lane number (`tile.take_along`). Blocks that ``split-odd-blocks`` left alone in their loops are widened.

        %v = tile.load %x[%i, :] : memref<8x100xf32> -> !tile.tile<b0=8 x 100 x f32>
    becomes
        %w = tile.whole 100 : !tile.range<w100=128>
        %v = tile.load %x[%i, %w] : memref<8x100xf32> -> !tile.tile<b0=8 x w100=128 x f32>

    Refuses a strided slice of a memref beside gathered dimensions, and to reshape lanes of ragged blocks; slices and
    concatenations of such dimensions too: ``convert-slices-to-gathers`` comes first.
    """

    name = "pad-to-power-of-two"
    meaning = REASSOCIATES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        taken: set[str] = set()
        for grid in walk(op, tile.GridOp):
            if is_bound(grid):
                continue
            odd = _odd_dims(grid)
            _refuse_parts(grid, odd)
            wholes = _make_wholes(grid, odd, taken)
            _widen(grid, odd, wholes)
            gather_reshaped(grid, wholes)


def _refuse_parts(grid: tile.GridOp, odd: Set[tile.DimAttr]) -> None:
    """Parts of a dimension are other ones of the dimension that takes its place, and so are lanes of a block."""
    for dim in odd:
        if dim.tag.data:
            refuse_moved(grid, dim)
    for op in walk(grid, tile.ConcatOp, tile.SliceOp, tile.DynamicSliceOp):
        tiles = (value.type for value in (*op.operands, *op.results) if isinstance(value.type, tile.TileType))
        if not odd.isdisjoint(dim for type in tiles for dim in type.dims.data):
            raise formless(op, "triton", f"'{op.name}' is of a dimension that is no power of two").error


def _make_wholes(grid: tile.GridOp, odd: Set[tile.DimAttr], taken: set[str]) -> dict[int, tile.WholeOp]:
    """A range over each plain extent that is no power of two, at the start of the grid's body."""
    plain = {dim.size.data for dim in odd if not dim.tag.data}
    wholes: dict[int, tile.WholeOp] = {}
    start = grid.body.block.first_op
    for size in sorted(plain):
        type = tile.RangeType(_fresh(f"w{size}", taken), next_power_of_two(size))
        whole = tile.WholeOp(size, type)
        whole.location = grid.location
        whole.result.name_hint = "lanes"
        assert start is not None
        Rewriter.insert_op(whole, InsertPoint.before(start))
        wholes[size] = whole
    return wholes


def _odd_dims(grid: tile.GridOp) -> set[tile.DimAttr]:
    """The dimensions of tiles and ranges that are no power of two."""
    types = [value.type for op in walk(grid) for value in defined_values(op)]
    tiles = {dim for type in types if isinstance(type, tile.TileType) for dim in type.dims.data}
    ranges = {type.dim for type in types if isinstance(type, tile.RangeType)}
    return {dim for dim in tiles | ranges if next_power_of_two(dim.size.data) != dim.size.data}


def _fresh(tag: str, taken: set[str]) -> str:
    """``tag``, or with a number where another grid of the module has it: a tag names one binding."""
    name, number = tag, 1
    while name in taken:
        number += 1
        name = f"{tag}_{number}"
    taken.add(name)
    return name


def _widen(grid: tile.GridOp, odd: Set[tile.DimAttr], wholes: dict[int, tile.WholeOp]) -> None:
    """Puts wider dimensions in place of others in types, and those of ranges in place of plain ones in index lists."""
    if not odd:
        return
    dims = {dim: tile.DimAttr(next_power_of_two(dim.size.data), dim.tag.data) for dim in odd}
    dims |= {tile.DimAttr(size): tile.range_type(whole.result).dim for size, whole in wholes.items()}
    for op in walk(grid):
        if isinstance(op, _Access):
            _widen_entries(op, wholes)
    replace_dims(grid, lambda dim: dims.get(dim, dim))
    for op in walk(grid):
        if isinstance(op, tile.BroadcastOp):
            _retag_input(op)
        elif isinstance(op, tile.MaskOp):
            _retag_result(op)


def _retag_input(op: tile.BroadcastOp) -> None:
    """A plain dimension that takes a block's tag takes it after it was widened, too."""
    target = op.result_type.dims.data
    pairs = list(zip(op.input_type.dims.data, (target[at] for at in op.mapping), strict=True))
    dims = [new if old.tag.data and new.size == old.size else old for old, new in pairs]
    if dims != [old for old, _ in pairs]:
        op.operands[0] = Builder(op).add(triton.RetagOp(op.input, op.input_type.with_dims(dims)))


def _retag_result(op: tile.MaskOp) -> None:
    """A block that a mask makes plain keeps its tag there, and takes that of the whole dimension after it."""
    before, after = tile.tile_type(op.input), tile.tile_type(op.result)
    pairs = list(zip(before.dims.data, after.dims.data, strict=True))
    if not any(old.tag.data and new.tag.data and old != new for old, new in pairs):
        return
    kept = after.with_dims([old if old.tag.data and new.tag.data else new for old, new in pairs])
    mask = tile.MaskOp(op.input, op.limits, op.fill, kept)
    mask.location = op.location
    Rewriter.insert_op(mask, InsertPoint.before(op))
    Rewriter.replace_op(op, triton.RetagOp(mask, after))


def _widen_entries(op: _Access, wholes: dict[int, tile.WholeOp]) -> None:
    assert isinstance(op.memory.type, MemRefType)
    entries = op.entries
    wide = [_widen_entry(op, e, n, wholes) for e, n in zip(entries, op.memory.type.get_shape(), strict=True)]
    if all(new is old for new, old in zip(wide, entries, strict=True)):
        return
    gathers = [sum(map(tile.is_gather, list_)) for list_ in (entries, wide)]
    if gathers[1] > max(1, gathers[0]) or gathers[1] > gathers[0] > 0:
        raise LoweringError("a strided slice beside gathered rows has no Triton form", location_of(op), id="gpu-block")
    replacement = op.with_access(wide, op.mask)
    replacement.location = op.location
    for new, old in zip(replacement.results, op.results, strict=True):
        new.name_hint = old.name_hint
    Rewriter.replace_op(op, replacement)


def _widen_entry(op: Operation, entry: Entry, extent: int, wholes: dict[int, tile.WholeOp]) -> Entry:
    """A whole dimension by its range; a slice by the range of its length, shifted."""
    if isinstance(entry, AllAttr):
        return wholes[extent].result if extent in wholes else entry
    if not isinstance(entry, SliceAttr) or entry.length not in wholes:
        return entry
    whole = wholes[entry.length].result
    if entry.step.data != 1:
        return _strided(op, whole, entry)
    if not entry.start.data:
        return whole
    build = Builder(op)
    return build.add(tile.ShiftOp(whole, build.index(entry.start.data)))


def _strided(op: Operation, whole: SSAValue, entry: SliceAttr) -> SSAValue:
    """The elements of a strided slice as gathered rows: ``start + step * lane``."""
    build = Builder(op)
    lanes = build.add(tile.IndexOp(whole))
    step, start = build.full(entry.step.data, lanes), build.full(entry.start.data, lanes)
    return build.compute("add", build.compute("mul", lanes, step), start)
