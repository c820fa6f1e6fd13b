"""Whole dimensions ``:`` whose lanes no op mixes but by reducing them: they may become ranges that are walked.

Dimensions of values that are lane by lane the same are one: those of a sum's terms, of what is carried, of what is
loaded and stored as ``:``. One is left out where an op takes it apart or orders it: slices, scans, sorts, combinations
by functions.

    %v = tile.load %x[%i, :]     %m = tile.reduce max %v [1]     %e = tile.sub %v, …     tile.store %e, %out[%i, :]
becomes
    the axis ``x.1``, of %v, %e and the last dimensions of %x and %out; reduced
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation, SSAValue

from kopt.analysis.launch_models.program_points import Path, ProgramPoint
from kopt.dialects.tile import (
    ELEMENTWISE,
    Access,
    AllAttr,
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
    block_axes,
    tile_type,
)
from kopt.dialects.tile.bodies import Carrying
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.forms import wide_dims

#: One dimension of a value.
Node = tuple[SSAValue, int]


@dataclass
class Whole:
    """A dimension of values: its axis's tag, its elements, the axes around what loads and stores it."""

    tag: str
    extent: int
    path: Path
    is_reduced: bool = False


@dataclass
class WholeDims:
    """The whole dimensions of one launch that may be walked."""

    places: Sequence[ProgramPoint]
    ids: Mapping[Operation, str]
    _above: dict[Node, Node] = field(default_factory=dict)
    _apart: list[Node] = field(default_factory=list)
    _reduced: list[Node] = field(default_factory=list)
    _loaded: list[tuple[Node, str, int, Path]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for place in self.places:
            self._visit(place)
        apart, reduced = {self._top(node) for node in self._apart}, {self._top(node) for node in self._reduced}
        self._found: dict[Node, Whole] = {}
        for node, tag, extent, path in self._loaded:
            if (top := self._top(node)) in apart:
                continue
            if (known := self._found.get(top)) is None:
                self._found[top] = Whole(tag, extent, path, top in reduced)
            else:
                known.path = _common(known.path, path)

    @property
    def found(self) -> tuple[Whole, ...]:
        """The dimensions, in the order of the program."""
        return tuple(self._found.values())

    def tag(self, value: SSAValue, dim: int) -> str:
        """The axis of a plain dimension of a value; empty where it is none."""
        whole = self._found.get(self._top((value, dim))) if self._found else None
        return "" if whole is None else whole.tag

    # Which dimensions are the same.

    def _top(self, node: Node) -> Node:
        while (above := self._above.get(node)) is not None:
            node = above
        return node

    def same(self, a: SSAValue, b: SSAValue, dims: Iterator[tuple[int, int]]) -> None:
        """Pairs of dimensions of two values are the same."""
        for m, n in dims:
            if _is_plain(a, m) and _is_plain(b, n) and (first := self._top((a, m))) != (second := self._top((b, n))):
                self._above[first] = second

    def alike(self, *values: SSAValue) -> None:
        """Values of one shape are lane by lane the same, scalars left out."""
        tiles = [value for value in values if isinstance(value.type, TileType)]
        for value in tiles[1:]:
            rank = min(value.type.rank, tiles[0].type.rank)  # pyright: ignore[reportAttributeAccessIssue]
            self.same(tiles[0], value, ((n, n) for n in range(rank)))

    def apart(self, value: SSAValue, *dims: int) -> None:
        """Dimensions of a value, all where none are named, have to stay in one piece."""
        if isinstance(value.type, TileType):
            wanted = dims or range(value.type.rank)
            self._apart += [(value, dim) for dim in wanted if _is_plain(value, dim)]

    def reduced(self, value: SSAValue, dim: int) -> None:
        """A dimension is combined to one lane."""
        self._reduced.append((value, dim))

    def _visit(self, place: ProgramPoint) -> None:
        op = place.op
        if isinstance(op, Access):
            self._access(op, place)
        elif (rule := _RULES.get(type(op))) is not None:
            rule(self, op)
        elif op.regions:
            self._region(op)
        elif op.results:
            _in_one_piece(self, op)

    def _access(self, op: Access, place: ProgramPoint) -> None:
        """Dimensions ``:`` are those of the array; what slices and numbers of rows give stays in one piece."""
        value = op.value if isinstance(op, StoreOp) else op.results[0] if op.results else op.operands[0]
        mask = getattr(op, "mask", None)
        given = [operand for operand in op.operands if operand.type == value.type]
        self.alike(value, *given, *op.results, *([mask] if mask is not None else []))
        shape = memory_shape(op.memory.type)
        for n, axis in enumerate(block_axes(op.entries, shape)):
            if not isinstance(op.entries[axis.position], AllAttr):
                self.apart(value, n)
            elif _is_plain(value, n):
                tag = f"{self.ids[op]}.{axis.position}"
                self._loaded.append(((value, n), tag, shape[axis.position], place.path))
        for index in op.indices:
            self.apart(index)

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


# Rules.


def _alike(dims: WholeDims, op: Operation) -> None:
    dims.alike(*op.results, *op.operands)


def _broadcast(dims: WholeDims, op: BroadcastOp) -> None:
    dims.same(op.input, op.result, ((n, to) for n, to in enumerate(op.mapping)))


def _transpose(dims: WholeDims, op: TransposeOp) -> None:
    dims.same(op.input, op.result, ((n, to) for to, n in enumerate(op.order)))


def _reshape(dims: WholeDims, op: ReshapeOp) -> None:
    before, after = wide_dims(op.input.type), wide_dims(op.result.type)
    old, new = _sizes(op.input), _sizes(op.result)
    if [old[n] for n in before] == [new[n] for n in after]:
        dims.same(op.input, op.result, zip(before, after, strict=True))
    else:
        dims.apart(op.input)
        dims.apart(op.result)


def _reduce(dims: WholeDims, op: ReduceOp) -> None:
    kept = [n for n in range(len(_sizes(op.input))) if n not in op.dimensions]
    dims.same(op.input, op.result, ((n, to) for to, n in enumerate(kept)))
    for dim in op.dimensions:
        dims.reduced(op.input, dim)


def _dot(dims: WholeDims, op: DotOp) -> None:
    m, k = len(_sizes(op.lhs)) - 2, len(_sizes(op.lhs)) - 1
    dims.same(op.lhs, op.result, ((n, n) for n in range(k)))
    dims.same(op.rhs, op.result, ((n, n) for n in (*range(m), k)))
    dims.same(op.lhs, op.rhs, iter([(k, m)]))
    dims.reduced(op.lhs, k)
    if op.accumulator is not None:
        dims.alike(op.result, op.accumulator)


def _along(dims: WholeDims, op: Any) -> None:
    """Ops that order the lanes of one dimension, or put several values behind one another."""
    _alike(dims, op)
    for value in (*op.operands, *op.results):
        dims.apart(value, op.dim.data)


def _in_one_piece(dims: WholeDims, op: Operation) -> None:
    """Ops of which nothing is known."""
    for value in (*op.operands, *op.results):
        dims.apart(value)


_RULES: dict[type, Callable[[WholeDims, Any], None]] = {
    **dict.fromkeys([*ELEMENTWISE.values(), SelectOp, CastOp, BitcastOp, MaskOp, ValidLanesOp, PhiloxOp], _alike),
    **dict.fromkeys([ScanOp, SortOp, ConcatOp], _along),
    **dict.fromkeys([AssociativeReduceOp, AssociativeScanOp], _in_one_piece),
    **dict.fromkeys([FullOp, SplatOp], lambda dims, op: None),
    BroadcastOp: _broadcast,
    TransposeOp: _transpose,
    ReshapeOp: _reshape,
    ReduceOp: _reduce,
    DotOp: _dot,
}


def _is_plain(value: SSAValue, dim: int) -> bool:
    """Whether a dimension is of no loop, and has lanes at all."""
    type = value.type
    if not isinstance(type, TileType):
        return False
    own = type.dims.data[dim]
    return not own.tag.data and own.size.data > 1


def _sizes(value: SSAValue) -> list:
    return list(tile_type(value).dims.data)


def _common(first: Path, second: Path) -> Path:
    """The loops around both."""
    number = 0
    while number < min(len(first), len(second)) and first[number] == second[number]:
        number += 1
    return first[:number]
