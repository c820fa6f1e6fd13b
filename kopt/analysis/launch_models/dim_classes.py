"""Which dimensions of values are lane by lane the same: those of a sum's terms, of what is carried, of a product's K.

Dimensions of loops have a tag that says so; these are the plain ones. Subclasses say what else they ask of an op.

    %v = tile.load %x[%i, :]     %m = tile.reduce max %v [1]     %e = tile.sub %v, …
becomes
    one class: the last dimensions of %v and %e
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import (
    ELEMENTWISE,
    Access,
    AssociativeReduceOp,
    AssociativeScanOp,
    BitcastOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    DotOp,
    FullOp,
    MaskOp,
    PhiloxOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    SelectOp,
    SortOp,
    SplatOp,
    StoreOp,
    TileType,
    TransposeOp,
    ValidLanesOp,
    tile_type,
)
from kopt.dialects.tile.bodies import Carrying
from kopt.ir.forms import wide_dims

#: One dimension of a value.
Node = tuple[SSAValue, int]


class DimClasses:
    """Classes of plain dimensions of more than one lane, as far as ops were visited."""

    def __init__(self):
        self._above: dict[Node, Node] = {}

    def top(self, node: Node) -> Node:
        """The dimension that stands for a class."""
        while (above := self._above.get(node)) is not None:
            node = above
        return node

    def same(self, a: SSAValue, b: SSAValue, dims: Iterator[tuple[int, int]]) -> None:
        """Pairs of dimensions of two values are the same."""
        for m, n in dims:
            if is_plain(a, m) and is_plain(b, n) and (first := self.top((a, m))) != (second := self.top((b, n))):
                self._above[first] = second

    def alike(self, *values: SSAValue) -> None:
        """Values of one shape are lane by lane the same, scalars left out."""
        tiles = [value for value in values if isinstance(value.type, TileType)]
        for value in tiles[1:]:
            rank = min(value.type.rank, tiles[0].type.rank)  # pyright: ignore[reportAttributeAccessIssue]
            self.same(tiles[0], value, ((n, n) for n in range(rank)))

    def visit(self, op: Operation) -> None:
        """Takes in what an op says."""
        if isinstance(op, Access):
            self.access(op)
        elif (rule := _RULES.get(type(op))) is not None:
            rule(self, op)
        elif op.regions:
            self._region(op)
        elif op.results:
            _in_one_piece(self, op)

    # What subclasses ask for.

    def access(self, op: Access) -> None:
        """What is loaded, stored or updated, and the mask of that."""
        mask = getattr(op, "mask", None)
        value = block_of(op)
        given = [operand for operand in op.operands if operand.type == value.type]
        self.alike(value, *given, *op.results, *([mask] if mask is not None else []))

    def apart(self, value: SSAValue, *dims: int) -> None:
        """An op orders the lanes of dimensions of a value, or takes them apart; of all where none are named."""

    def reduced(self, value: SSAValue, dim: int) -> None:
        """A dimension is combined to one lane."""

    def reshaped(self, op: ReshapeOp) -> None:
        """An op merges or splits dimensions."""
        self.apart(op.input)
        self.apart(op.result)

    def joined(self, op: ConcatOp) -> None:
        """An op puts the lanes of several values behind one another."""
        for value in (*op.operands, op.result):
            self.apart(value, op.dim.data)

    def _region(self, op: Operation) -> None:
        """Carried values, and those of several paths, are one."""
        inits, carried = (op.inits, op.carried) if isinstance(op, Carrying) else ((), ())
        for region in op.regions:
            last = region.block.last_op if region.blocks else None
            given = last.operands[len(last.operands) - len(op.results) :] if last is not None else ()
            for result, value in zip(op.results, given, strict=False):
                self.alike(result, value)
        for result, init, inner in zip(op.results, inits, carried, strict=False):
            self.alike(result, init, inner)


def block_of(op: Access) -> SSAValue:
    """The block that an access moves."""
    return op.value if isinstance(op, StoreOp) else op.results[0] if op.results else op.operands[0]


# Rules.


def _alike(dims: DimClasses, op: Operation) -> None:
    dims.alike(*op.results, *op.operands)


def _broadcast(dims: DimClasses, op: BroadcastOp) -> None:
    dims.same(op.input, op.result, ((n, to) for n, to in enumerate(op.mapping)))


def _transpose(dims: DimClasses, op: TransposeOp) -> None:
    dims.same(op.input, op.result, ((n, to) for to, n in enumerate(op.order)))


def _reshape(dims: DimClasses, op: ReshapeOp) -> None:
    before, after = wide_dims(op.input.type), wide_dims(op.result.type)
    old, new = _sizes(op.input), _sizes(op.result)
    if [old[n] for n in before] == [new[n] for n in after]:
        dims.same(op.input, op.result, zip(before, after, strict=True))
    else:
        dims.reshaped(op)


def _reduce(dims: DimClasses, op: ReduceOp) -> None:
    kept = [n for n in range(len(_sizes(op.input))) if n not in op.dimensions]
    dims.same(op.input, op.result, ((n, to) for to, n in enumerate(kept)))
    for dim in op.dimensions:
        dims.reduced(op.input, dim)


def _dot(dims: DimClasses, op: DotOp) -> None:
    m, k = len(_sizes(op.lhs)) - 2, len(_sizes(op.lhs)) - 1
    dims.same(op.lhs, op.result, ((n, n) for n in range(k)))
    dims.same(op.rhs, op.result, ((n, n) for n in (*range(m), k)))
    dims.same(op.lhs, op.rhs, iter([(k, m)]))
    dims.reduced(op.lhs, k)
    if op.accumulator is not None:
        dims.alike(op.result, op.accumulator)


def _along(dims: DimClasses, op: Any) -> None:
    """Ops that order the lanes of one dimension."""
    _alike(dims, op)
    for value in (*op.operands, *op.results):
        dims.apart(value, op.dim.data)


def _join(dims: DimClasses, op: ConcatOp) -> None:
    for value in op.operands:
        dims.same(value, op.result, ((n, n) for n in range(len(_sizes(value))) if n != op.dim.data))
    dims.joined(op)


def _in_one_piece(dims: DimClasses, op: Operation) -> None:
    """Ops of which nothing is known."""
    for value in (*op.operands, *op.results):
        dims.apart(value)


_RULES: dict[type, Callable[[DimClasses, Any], None]] = {
    **dict.fromkeys([*ELEMENTWISE.values(), SelectOp, CastOp, BitcastOp, MaskOp, ValidLanesOp, PhiloxOp], _alike),
    **dict.fromkeys([ScanOp, SortOp], _along),
    **dict.fromkeys([AssociativeReduceOp, AssociativeScanOp], _in_one_piece),
    **dict.fromkeys([FullOp, SplatOp], lambda dims, op: None),
    BroadcastOp: _broadcast,
    ConcatOp: _join,
    TransposeOp: _transpose,
    ReshapeOp: _reshape,
    ReduceOp: _reduce,
    DotOp: _dot,
}


def is_plain(value: SSAValue, dim: int) -> bool:
    """Whether a dimension is of no loop, and has lanes at all."""
    type = value.type
    if not isinstance(type, TileType):
        return False
    own = type.dims.data[dim]
    return not own.tag.data and own.size.data > 1


def _sizes(value: SSAValue) -> list:
    return list(tile_type(value).dims.data)
