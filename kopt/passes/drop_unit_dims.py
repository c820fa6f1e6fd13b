"""The pass ``drop-unit-dims``: blocks of one element are numbers, not dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IntAttr, ModuleOp, NoneAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.dialects import atomic, tile
from kopt.dialects.builder import Builder
from kopt.dialects.tile.shape import int_array
from kopt.passes.retyping import defined_values
from kopt.walk import walk

#: Dialects whose ops the pass can rewrite.
_KNOWN = ("tile", "atomic", "arith", "scf")
#: Ops that need the dimension that they work along.
_ALONG = (
    tile.ArgReduceOp | tile.AssociativeReduceOp | tile.AssociativeScanOp | tile.ScanOp | tile.SortOp | tile.TakeAlongOp
)


@dataclass(frozen=True)
class DropUnitDimsPass(ModulePass):
    """Drops the dimension of every range of one element: its first element takes its place in index lists.

    Matrix products over blocks of one batch thus become products of two matrices, for which GPUs have larger units.

        tile.grid (%b: b0=1, %i: b1=64) in (8, 512) {
          %v = tile.load %x[%b, %i] : memref<8x512xf32> -> !tile.tile<b0=1 x b1=64 x f32>
    becomes
          %n = tile.begin %b : !tile.range<b0=1>
          %v = tile.load %x[%n, %i] : memref<8x512xf32> -> !tile.tile<b1=64 x f32>

    A range stays as it is where its dimension is a matrix's row or column, or is joined, scanned or searched. It never
    refuses.
    """

    name = "drop-unit-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            drop_dims(grid, _unit_tags(grid))


def drop_dims(grid: tile.GridOp, tags: set[str]) -> None:
    """Drops the dimensions with some tags of one lane, where no op needs them."""
    if tags:
        _drop(grid, tags - {tag for op in walk(grid) for tag in _needed(op)})


def _unit_tags(grid: tile.GridOp) -> set[str]:
    """The tags of one lane."""
    ranges = [*grid.ranges, *(op.range for op in walk(grid, tile.ForOp))]
    types = [range.type for range in ranges]
    return {type.tag for type in types if isinstance(type, tile.RangeType) and type.size == 1}


def _needed(op: Operation) -> Iterator[str]:
    """The tags that an op needs as dimensions."""
    if isinstance(op, tile.DotOp):
        yield from (*tile.tile_type(op.lhs).tags[-2:], *tile.tile_type(op.rhs).tags[-2:])
    elif isinstance(op, tile.ConcatOp):
        yield from (tile.tile_type(value).tags[op.dim.data] for value in op.inputs)
    elif isinstance(op, _ALONG):
        yield tile.tile_type(op.operands[0]).tags[op.dim.data]
    elif op.dialect_name() not in _KNOWN or isinstance(op, tile.GetOp | tile.PutOp):
        for value in (*op.operands, *op.results):
            if isinstance(value.type, tile.TileType):
                yield from value.type.tags
            elif isinstance(value.type, tile.RangeType):
                yield value.type.tag


def _drop(grid: tile.GridOp, tags: set[str]) -> None:
    if not tags:
        return
    # Users first: what a rewrite asks of its operands' types is then as it was.
    for op in reversed(walk(grid)):
        rewrite = _REWRITES.get(type(op))
        if rewrite is not None:
            rewrite(op, tags)
    for op in walk(grid):
        for value in defined_values(op):
            if isinstance(value.type, tile.TileType) and tags & set(value.type.tags):
                Rewriter.replace_value_with_new_type(value, _without(value.type, tags))
    for op in [inner for inner in walk(grid, tile.ReduceOp) if not inner.dimensions]:
        Rewriter.replace_op(op, [], [op.input])


def _without(type: tile.TileType, tags: set[str]) -> tile.TileType:
    return type.with_dims([dim for dim in type.dims.data if dim.tag.data not in tags])


def _kept(type: tile.TileType, tags: set[str]) -> list[int]:
    """The dimensions that stay."""
    return [number for number, tag in enumerate(type.tags) if tag not in tags]


def _access(op: tile.LoadOp | tile.StoreOp | atomic.RmwOp | atomic.CasOp, tags: set[str]) -> None:
    """Ranges of one element become their first element."""
    for number, operand in enumerate(op.operands):
        if isinstance(operand.type, tile.RangeType) and operand.type.tag in tags:
            op.operands[number] = Builder(op).add(tile.BeginOp(operand))


def _lanes(op: tile.IndexOp | tile.ValidOp, tags: set[str]) -> None:
    """The one lane's number, and that it is valid: with its dimension still, which ops after it are rewritten by."""
    if tile.tag_of(op.range) not in tags:
        return
    type = tile.tile_type(op.result)
    if isinstance(op, tile.IndexOp):
        number = tile.SplatOp(Builder(op).add(tile.BeginOp(op.range)), type)
        number.location = op.location
        number.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, number)
        return
    Rewriter.replace_op(op, tile.FullOp(1, type))


def _arange(op: tile.ArangeOp, tags: set[str]) -> None:
    """One lane's number is the first."""
    if not _without(tile.tile_type(op.result), tags).rank:
        number = tile.FullOp(op.start.data, tile.tile_type(op.result))
        number.location = op.location
        Rewriter.replace_op(op, number)


def _mask(op: tile.MaskOp, tags: set[str]) -> None:
    kept = _kept(tile.tile_type(op.input), tags)
    limits = [op.limits[number] for number in kept]
    op.layout = ArrayAttr([op.layout.data[number] for number in kept])
    op.operands = [op.input, *(limit for limit in limits if limit is not None)]
    if all(isinstance(attr, NoneAttr) for attr in op.layout.data):
        Rewriter.replace_op(op, [], [op.input])


def _broadcast(op: tile.BroadcastOp, tags: set[str]) -> None:
    """Dimensions are renumbered; an input's own 1 for a dropped dimension is dropped too."""
    source, kept = tile.tile_type(op.input), _kept(op.result_type, tags)
    stay = [n for n, at in enumerate(op.mapping) if at in kept and source.tags[n] not in tags]
    own = [n for n, at in enumerate(op.mapping) if at not in kept and source.tags[n] not in tags]
    if own:
        dims = [dim for n, dim in enumerate(source.dims.data) if n not in own]
        op.operands[0] = Builder(op).add(tile.ReshapeOp(op.input, source.with_dims(dims)))
    op.dims = int_array([kept.index(op.mapping[n]) for n in stay])


def _transpose(op: tile.TransposeOp, tags: set[str]) -> None:
    kept = _kept(tile.tile_type(op.input), tags)
    op.permutation = int_array([kept.index(n) for n in op.order if n in kept])


def _slice(op: tile.SliceOp, tags: set[str]) -> None:
    kept = _kept(tile.tile_type(op.input), tags)
    lists = [[bound[part] for n, bound in enumerate(op.bounds) if n in kept] for part in range(3)]
    op.offsets, op.sizes, op.strides = (int_array(numbers) for numbers in lists)


def _reduce(op: tile.ReduceOp, tags: set[str]) -> None:
    """One lane reduced is that lane: a reduction of nothing is replaced when all types have changed."""
    kept = _kept(tile.tile_type(op.input), tags)
    op.dims = int_array([kept.index(dim) for dim in op.dimensions if dim in kept])


def _along(op: tile.ConcatOp | _ALONG, tags: set[str]) -> None:
    op.dim = IntAttr(_kept(tile.tile_type(op.operands[0]), tags).index(op.dim.data))


#: What ops with numbered dimensions or ranges become; the others change their types only.
_REWRITES: dict[type, Callable[..., None]] = {
    tile.LoadOp: _access,
    tile.StoreOp: _access,
    atomic.RmwOp: _access,
    atomic.CasOp: _access,
    tile.IndexOp: _lanes,
    tile.ArangeOp: _arange,
    tile.ValidOp: _lanes,
    tile.MaskOp: _mask,
    tile.BroadcastOp: _broadcast,
    tile.TransposeOp: _transpose,
    tile.SliceOp: _slice,
    tile.ReduceOp: _reduce,
    tile.ConcatOp: _along,
    **dict.fromkeys(_ALONG.__args__, _along),
}
