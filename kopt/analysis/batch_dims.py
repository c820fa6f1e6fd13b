"""Batch dimensions of cells: taken whole, and the same is done for every number along them. Planes are their parts.

Pure. The heads of ``v[seq, :, h, :]``, which batched products keep apart, are planes: a cell for each computes what one
cell does for all. Two dimensions are one where an op makes lane ``n`` of the one from lane ``n`` of the other; what
combines lanes of a dimension, or numbers them, ties it to its cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from kopt.analysis.effects import is_side_effect_free
from kopt.dialects.tile import (
    BroadcastOp,
    CarryingLoop,
    CastOp,
    DotOp,
    ElementwiseOp,
    FullOp,
    GridOp,
    LoadOp,
    MaskOp,
    ReduceOp,
    ReshapeOp,
    SelectOp,
    SplatOp,
    StoreOp,
    TileType,
    TransposeOp,
    YieldOp,
    array_type,
    block_axes,
    tile_type,
)
from kopt.dialects.tile.index_list import AllAttr
from kopt.walk import walk

#: A dimension of a value, or a position in an access's index list.
Slot = tuple[SSAValue | Operation, int]


@dataclass(frozen=True)
class Planes:
    """``count`` planes, by the dimensions of values and the positions in index lists that count them."""

    count: int
    dims: dict[SSAValue, int]
    entries: dict[LoadOp | StoreOp, int]


def find_planes(grid: GridOp) -> list[Planes]:
    """The planes of a grid's cells, those furthest from the lanes of memory first.

    All that cells write must have them, at one position of each array, and so must what they read of those arrays.
    Lanes of memory are none, for those are read together.
    """
    slots = _Slots()
    for op in walk(grid):
        if op is grid:
            continue
        if not isinstance(op, LoadOp | StoreOp) and not op.regions and not is_side_effect_free(op):
            return []
        _RULES.get(type(op), _rule_of(op))(op, slots)
    found = [planes for group in slots.groups() if (planes := _planes(group)) and _covers(planes, grid)]
    return sorted(found, key=lambda planes: max(planes.entries[store] for store in _stores(planes.entries)))


class _Slots:
    """Which dimensions are one, and which are tied to their cells."""

    def __init__(self) -> None:
        self._parent: dict[Slot, Slot] = {}
        self._tied: set[Slot] = set()

    def join(self, a: Slot, b: Slot) -> None:
        self._parent[self._root(a)] = self._root(b)

    def tie(self, value: SSAValue, dims: Iterable[int]) -> None:
        self._tied.update((value, dim) for dim in dims)

    def groups(self) -> list[list[Slot]]:
        """The dimensions that are one, of those that are not tied."""
        tied = {self._root(slot) for slot in self._tied}
        found: dict[Slot, list[Slot]] = {}
        for slot in self._parent:
            if (root := self._root(slot)) not in tied:
                found.setdefault(root, []).append(slot)
        return list(found.values())

    def _root(self, slot: Slot) -> Slot:
        self._parent.setdefault(slot, slot)
        while (parent := self._parent[slot]) != slot:
            self._parent[slot] = self._parent[parent]
            slot = parent
        return slot


def _planes(group: Sequence[Slot]) -> Planes | None:
    dims = {value: dim for value, dim in group if isinstance(value, SSAValue)}
    entries = {op: position for op, position in group if isinstance(op, LoadOp | StoreOp)}
    if len(dims) + len(entries) < len(group) or not _stores(entries):
        return None
    if any(position == len(op.entries) - 1 for op, position in entries.items()):
        return None
    if any(not isinstance(op.entries[position], AllAttr) for op, position in entries.items()):
        return None
    sizes = {(tile_type(value).shape[dim], tile_type(value).tags[dim]) for value, dim in dims.items()}
    ((size, tag), *others) = sizes
    return Planes(size, dims, entries) if size > 1 and not tag and not others else None


def _covers(planes: Planes, grid: GridOp) -> bool:
    """Whether no cell would write what another one does, or read it."""
    accesses = walk(grid, LoadOp, StoreOp)
    written = {op.memory for op in accesses if isinstance(op, StoreOp)}
    places = {(op.memory, planes.entries.get(op)) for op in accesses if op.memory in written}
    return len(places) == len(written) and all(position is not None for _, position in places)


def _stores(entries: Iterable[LoadOp | StoreOp]) -> list[StoreOp]:
    return [op for op in entries if isinstance(op, StoreOp)]


def _same(values: Sequence[SSAValue], slots: _Slots) -> None:
    """Joins the dimensions of values of one shape, one by one."""
    first, *others = values
    if isinstance(first.type, TileType):
        for other in others:
            for dim in range(tile_type(first).rank):
                slots.join((first, dim), (other, dim))


def _lanewise(op: Operation, slots: _Slots) -> None:
    _same([*op.results, *op.operands], slots)


def _mask(op: MaskOp, slots: _Slots) -> None:
    _same([op.result, op.input], slots)


def _broadcast(op: BroadcastOp, slots: _Slots) -> None:
    for dim, at in enumerate(op.mapping):
        if op.input_type.shape[dim] == op.result_type.shape[at]:
            slots.join((op.input, dim), (op.result, at))


def _transpose(op: TransposeOp, slots: _Slots) -> None:
    for dim, at in enumerate(op.order):
        slots.join((op.input, at), (op.result, dim))


def _reshape(op: ReshapeOp, slots: _Slots) -> None:
    """Dimensions of one lane come and go; what else is merged or split is tied."""
    before, after = ([n for n, size in enumerate(tile_type(v).shape) if size != 1] for v in (op.input, op.result))
    if [op.input_type.shape[n] for n in before] == [op.result_type.shape[n] for n in after]:
        for old, new in zip(before, after, strict=True):
            slots.join((op.input, old), (op.result, new))
    else:
        _other(op, slots)


def _dot(op: DotOp, slots: _Slots) -> None:
    values = [value for value in (*op.operands, op.result) if isinstance(value.type, TileType)]
    for value in values:
        for dim in range(tile_type(value).rank - 2):
            slots.join((value, dim), (op.result, dim))
        slots.tie(value, range(tile_type(value).rank)[-2:])


def _reduce(op: ReduceOp, slots: _Slots) -> None:
    kept = [dim for dim in range(tile_type(op.input).rank) if dim not in op.dimensions]
    for new, old in enumerate(kept):
        slots.join((op.input, old), (op.result, new))
    slots.tie(op.input, op.dimensions)


def _access(op: LoadOp | StoreOp, slots: _Slots) -> None:
    block = op.result if isinstance(op, LoadOp) else op.value
    _same([block, *([op.mask] if op.mask is not None else [])], slots)
    for dim, axis in enumerate(block_axes(op.entries, array_type(op.memory).get_shape())):
        slots.join((block, dim), (op, axis.position))
    for index in op.indices:
        _tie_all([index], slots)


def _loop(op: CarryingLoop, slots: _Slots) -> None:
    for values in zip(op.results, op.inits, op.carried, op.yielded, strict=True):
        _same(values, slots)


def _branches(op: scf.IfOp, slots: _Slots) -> None:
    for region in op.regions:
        last = region.block.last_op if region.blocks else None
        for values in zip(op.results, last.operands if last is not None else (), strict=False):
            _same(values, slots)


def _free(op: Operation, slots: _Slots) -> None:
    """Equal in all lanes, or done with by the op around."""


def _other(op: Operation, slots: _Slots) -> None:
    _tie_all([*op.operands, *op.results], slots)


def _tie_all(values: Iterable[SSAValue], slots: _Slots) -> None:
    for value in values:
        if isinstance(value.type, TileType):
            slots.tie(value, range(value.type.rank))


def _rule_of(op: Operation) -> Callable[..., None]:
    return _lanewise if isinstance(op, ElementwiseOp) else _loop if isinstance(op, CarryingLoop) else _other


_RULES: dict[type[Operation], Callable[..., None]] = {
    CastOp: _lanewise,
    SelectOp: _lanewise,
    MaskOp: _mask,
    BroadcastOp: _broadcast,
    TransposeOp: _transpose,
    ReshapeOp: _reshape,
    DotOp: _dot,
    ReduceOp: _reduce,
    LoadOp: _access,
    StoreOp: _access,
    scf.IfOp: _branches,
    scf.YieldOp: _free,
    YieldOp: _free,
    FullOp: _free,
    SplatOp: _free,
}
