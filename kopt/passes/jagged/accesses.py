"""Gathering loads and stores as slices: their index lists, and values whose dimensions follow those."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import IndexCastOp
from xdsl.dialects.builtin import IndexType, MemRefType, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.alignment import multiple
from kopt.analysis.slices import NotSlices, SliceEntry, Slicing
from kopt.analysis.streaming import is_computed
from kopt.analysis.visit_independence import is_blind_to_visits
from kopt.dialects.builder import Builder
from kopt.dialects.host import ReshapeOp as ViewOp
from kopt.dialects.jagged import RowsOp
from kopt.dialects.tile import (
    BroadcastOp,
    DimAttr,
    Entry,
    ExtractOp,
    ForOp,
    GridOp,
    LoadOp,
    ReshapeOp,
    ShiftOp,
    StoreOp,
    TileType,
    array_type,
    block_axes,
    is_gather,
    tile_type,
)
from kopt.dialects.tile.index_list import ALL, SliceAttr
from kopt.ir.atoms import BlockNumber, Element, Symbol
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.ranges import binding
from kopt.ir.rewriting import moved
from kopt.ir.sums import SumAnalysis
from kopt.ir.to_ssa import IndexWriter
from kopt.ir.to_tiles import TileWriter
from kopt.passes.jagged.masks import simplified


def raise_access(access: LoadOp | StoreOp, sums: SumAnalysis) -> None:
    """Rewrites an access whose gathering entries are slices; raises `NotSlices` where they are not.

    Accesses that have none that starts at loaded numbers stay as they are, but for loads that repeat blocks of flat
    storage: what is computed of lanes alone is no item's. So do stores where all lanes start at one, since to write
    blocks that begin anywhere needs what they held, unless other blocks of their loop serve as well.
    """
    gathers = [entry for entry in access.entries if is_gather(entry)]
    dims = tile_type(gathers[0]).dims.data
    slicing = Slicing(access, dims, sums)
    shape, parts = _parts(access, slicing)
    found = [part for part in parts if isinstance(part, SliceEntry)]
    counted = [part for part in found if _is_loaded(part, sums)]
    repeats = isinstance(access, LoadOp) and access.mask is None and bool(_along(found))  # else nothing but numbers
    repeated = repeats and shape is not None and len(_along(found)) < len(_wide(dims))
    if (
        repeated
        or any(part.dims for part in counted)
        or counted
        and (isinstance(access, LoadOp) or _may_move(access, parts, slicing))
    ):
        _check(found, dims, repeats)
        _check_static(parts, shape or array_type(access.memory).get_shape())
        _Rewriting(access, dims, shape, parts, sums).run()


#: Rows of one tile of memory, of the narrowest elements.
_TILE_ROWS = 32


def _tiles(part: SliceEntry) -> list[TileType]:
    """The types of the tiles that an entry's sum counts."""
    names = [atom.name for atom in part.added.terms if isinstance(atom, Symbol)]
    return [name.type for name in names if isinstance(name, SSAValue) and isinstance(name.type, TileType)]


def _is_loaded(part: SliceEntry, sums: SumAnalysis) -> bool:
    """Whether numbers that are loaded, and not computed of lanes alone, are among what an entry's sum counts."""
    names = [atom.name for atom in part.added.terms if isinstance(atom, Symbol)]
    exact = [sums.exact.expr(name) for name in names if isinstance(name, SSAValue) and isinstance(name.type, TileType)]
    return any(isinstance(atom, Symbol | Element) for expr in exact for atom in expr.atoms())


def _may_move(store: StoreOp, parts: Sequence[SliceEntry | Entry], slicing: Slicing) -> bool:
    """Whether the blocks of a store may begin elsewhere: those of a loop of computed bounds, whose visits are alike.

    They must be whole tiles of memory, of whatever else the loop walks.
    """
    moved = [(dim, part) for dim, part in enumerate(parts) if isinstance(part, SliceEntry) and part.added.terms]
    type = array_type(store.memory)
    return store.mask is None and all(
        part.range is not None
        and binding(part.range).size % max(_TILE_ROWS, multiple(type, dim)) == 0
        and _is_alike(part, store, slicing)
        for dim, part in moved
    )


def _is_alike(part: SliceEntry, store: StoreOp, slicing: Slicing) -> bool:
    """Whether a loop's blocks, moved by one number that is known before it, may be others of the same elements."""
    assert part.range is not None
    loop, atom = binding(part.range).owner, part.added.atom
    if not isinstance(loop, ForOp) or not is_computed(loop):
        return False
    owner = atom.name.owner if isinstance(atom, Symbol) and isinstance(atom.name, SSAValue) else None
    return isinstance(owner, Operation) and not loop.is_ancestor(owner) and is_blind_to_visits(loop, store)


def _parts(access: LoadOp | StoreOp, slicing: Slicing) -> tuple[list[int] | None, list[SliceEntry | Entry]]:
    """What becomes of each entry; the shape to see the array in, where it is flat storage of another."""
    type, sums = array_type(access.memory), slicing.sums
    if len(access.entries) > 1:
        return None, [slicing.part(sums.expr(e)) if is_gather(e) else e for e in access.entries]
    expr = sums.expr(access.indices[0])
    terms, _ = slicing.terms(expr)
    if all(abs(term.factor) == 1 for term in terms) and sum(term.dim is not None for term in terms) < 2:
        return None, [slicing.part(expr)]
    owner = access.memory.owner
    if isinstance(owner, ViewOp) and owner.source_type.get_num_dims() > 1:
        shape = list(owner.source_type.get_shape())
    else:
        shape = slicing.inferred_shape(expr, type.get_shape()[0])
    return shape, list(slicing.digits(expr, shape))


def _wide(dims: Sequence[DimAttr]) -> list[int]:
    """The dimensions of more than one lane."""
    return [n for n, dim in enumerate(dims) if dim.size.data != 1]


def _along(parts: Sequence[SliceEntry]) -> list[int]:
    """The dimensions of the index tile that entries stand along."""
    return [dim for part in parts for dim in (*part.dims, *([part.dim] if part.dim is not None else []))]


def _check(parts: Sequence[SliceEntry], dims: Sequence[DimAttr], repeats: bool) -> None:
    """Every dimension of the index tile must come from exactly one entry, and one entry only number rows.

    With ``repeats`` some may come from none: the block is repeated along them.
    """
    along = _along(parts)
    if sum(bool(part.dims) for part in parts) > 1:
        raise NotSlices("several dimensions start at numbers of the items")
    missing = not set(along) >= set(_wide(dims)) or bool(dims) and _is_element(parts)
    if len(set(along)) < len(along) or not repeats and missing:
        raise NotSlices("a dimension of the index tile has no entry of its own")
    if any(part.dim is not None and part.along != dims[part.dim] for part in parts):
        raise NotSlices("the index tile has other dimensions than its lanes")


def _check_static(parts: Sequence[SliceEntry | Entry], shape: Sequence[int]) -> None:
    """Numbers that are known now must lie in the array."""
    for part, extent in zip(parts, shape, strict=True):
        lanes = part.lanes if isinstance(part, SliceEntry) else None
        if lanes is not None and not 0 <= lanes.start <= lanes.stop <= extent:
            raise NotSlices(f"elements {lanes.start} to {lanes.stop} are not all in a dimension of {extent}")


def _is_element(parts: Sequence[SliceEntry]) -> bool:
    """Whether the index tile is of one element at loaded numbers, and of no block of one."""
    return not _along(parts) and not any(isinstance(atom, BlockNumber) for part in parts for atom in part.added.terms)


class _Rewriting:
    """The new index list of one access, and the order of its dimensions."""

    def __init__(
        self,
        access: LoadOp | StoreOp,
        dims: Sequence[DimAttr],
        shape: list[int] | None,
        parts: Sequence[SliceEntry | Entry],
        sums: SumAnalysis,
    ):
        self.access, self.dims, self.shape, self.parts, self.sums = access, dims, shape, parts, sums
        self.build = Builder(access)

    def run(self) -> None:
        access = self.access
        memory = self._memory()
        extents = self.shape or array_type(access.memory).get_shape()
        entries = [
            self._entry(part, extent) if isinstance(part, SliceEntry) else part
            for part, extent in zip(self.parts, extents, strict=True)
        ]
        order = self._order(entries)
        mask = simplified(access.mask, access) if access.mask is not None else None
        mask = self._transposed(mask, order) if mask is not None else None
        if isinstance(access, StoreOp):
            value = self._transposed(access.value, order)
            self._replace(StoreOp(value, memory, entries, mask, access.attributes), [])
            return
        other = access.other if mask is not None else None
        load = LoadOp(memory, entries, mask, other, access.pad, access.attributes)
        kept = sorted(order)
        value = self._transposed(self.build.add(load, access.result.name_hint), [order.index(n) for n in kept])
        type = tile_type(access.result)
        if len(kept) < type.rank:
            value = self.build.add(BroadcastOp(value, kept, type))
        self._replace(None, [value])

    def _memory(self) -> SSAValue:
        """The array, or what it is a flat view of."""
        memory = self.access.memory
        if self.shape is None:
            return memory
        type = array_type(memory)
        if isinstance(memory.owner, ViewOp) and list(memory.owner.source_type.get_shape()) == self.shape:
            return memory.owner.source
        grid = self.access.parent_op()
        while not isinstance(grid, GridOp):
            assert grid is not None
            grid = grid.parent_op()
        view = ViewOp(memory, MemRefType(type.element_type, self.shape))
        return Builder(grid, self.access).add(view, memory.name_hint)

    def _order(self, entries: Sequence[Entry]) -> list[int]:
        """For each dimension of the new block, its number in the old one."""
        old = block_axes(self.access.entries, array_type(self.access.memory).get_shape())
        first = next((n for n, axis in enumerate(old) if axis.gather_dim is not None), 0)  # none of a number's
        kept = {axis.position: n for n, axis in enumerate(old) if axis.gather_dim is None}
        order: list[int] = []
        for part, position in zip(self.parts, range(len(self.parts)), strict=True):
            if isinstance(part, SliceEntry):
                own = [] if part.dim is None else [part.dim]
                order += [first + dim for dim in (*part.dims, *own)]
            elif position in kept:
                order.append(kept[position])
        return order

    def _entry(self, part: SliceEntry, extent: int) -> Entry:
        if part.lanes is not None:
            return ALL if part.lanes == range(extent) else SliceAttr(part.lanes.start, part.lanes.stop)
        if part.range is None:
            return self._number(part.added) if (known := part.added.number) is None else known
        if part.dims:
            return self.build.add(RowsOp(part.range, self._starts(part)), "rows")
        if part.added == ZERO:
            return part.range
        return self.build.add(ShiftOp(part.range, self._number(part.added)))

    def _number(self, expr: IndexExpr) -> SSAValue:
        """A sum of numbers as an ``index``."""
        return IndexWriter(self.build.add, self._as_index, self.sums.begin).value(expr)

    def _as_index(self, value: SSAValue) -> SSAValue:
        """A number; a tile's as soon as the tile is: outside of loops that it does not move with."""
        if not isinstance(value.type, TileType):
            return value if value.type == IndexType() else self.build.add(IndexCastOp(value, IndexType()))
        build = Builder.after(value, self.access)
        return build.add(ExtractOp(build.reshape(value, []), IndexType()))

    def _starts(self, part: SliceEntry) -> SSAValue:
        """What is added to the lanes, as a tile of the items' dimensions."""
        element = i64 if any(type.element_type == i64 for type in _tiles(part)) else i32
        own = moved({dim: n for n, dim in enumerate(part.dims)}).expr(part.added)
        return TileWriter(self.build.add, self.sums.begin).value(own, [self.dims[dim] for dim in part.dims], element)

    def _transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """A value's dimensions in an order; those of one lane that it leaves out are dropped."""
        type, kept = tile_type(value), sorted(order)
        if len(kept) < type.rank:
            value = self.build.add(ReshapeOp(value, type.with_dims([type.dims.data[n] for n in kept])))
            order = [kept.index(n) for n in order]
        return self.build.transpose(value, order)

    def _replace(self, op: Operation | None, results: Sequence[SSAValue]) -> None:
        if op is not None:
            op.location = self.access.location
            Rewriter.replace_op(self.access, op)
        else:
            Rewriter.replace_op(self.access, [], list(results))
