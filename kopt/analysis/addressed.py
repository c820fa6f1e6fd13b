"""Addressed windows: blocks at loaded numbers that the grid tells, ``w[group[i], k, n]``, pages of a cache.

Pure. Pallas moves such a block where its number can be computed from the grid and from arrays in scalar memory that are
there before the grid runs (`pltpu.PrefetchScalarGridSpec`). A dimension whose index `kopt.analysis.windows` finds
computed becomes, where every load agrees,

| index | the window's block | its number |
|---|---|---|
| ``group[i]`` | 1, squeezed away | ``s0`` |
| a range that begins at ``group[i] * 16``, of 16 lanes | 16 | ``s0`` |
| a range that a loop walks which is to be a dimension of the grid | the range's lanes | its ``d`` |

Numbers are elements of arrays of 32 bits that only scalars are loaded of, that fit scalar memory together, and that the
launch does not write. An array whose loads are masked, or may not run, has no such window: its numbers may be anything
where they are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from kopt.analysis.index_maps import IndexNumber, over_axes
from kopt.analysis.layouts import fits_scalar_memory, has_layout, scalar_words
from kopt.analysis.storage import stored_element
from kopt.analysis.windows import Dim, Window
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ForOp, GridOp, LoadOp, RangeType, TileType, WhenOp
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr
from kopt.ir.atoms import Atom, Extremum, Symbol, Wrap
from kopt.ir.division import floordiv
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr, number
from kopt.ir.ranges import binding, unshifted
from kopt.ir.rewriting import substitute
from kopt.targets.budget import Budget


def addressed(window: Window, launch: LaunchOp, axes: Sequence[SSAValue]) -> Window | None:
    """The window whose blocks loaded numbers tell, or None; ``axes`` are the ranges of the grid, and of loops to be."""
    if window.written or any(load.mask is not None for load in window.loads):
        return None
    found = _Addresses(launch, axes, window.analysis)
    moved = moving(window, axes, found)
    if not any(number.kind == "load" for number in found.numbers) or all(dim.kind == "point" for dim in moved.dims):
        return None
    moved = replace(moved, numbers=tuple(found.numbers))
    runs = all(_always_runs(load, axes, moved.grid_dims) for load in window.loads)
    return moved if runs and _fit_together(moved) and has_layout(moved) else None


def moving(window: Window, axes: Sequence[SSAValue], numbers: _Addresses | None = None) -> Window:
    """The window that moves with all of some axes, and with loaded numbers; whole where it cannot."""
    dims = [_dim(window, position, axes, numbers) or dim for position, dim in enumerate(window.dims)]
    return replace(window, dims=tuple(dims))


def _dim(window: Window, position: int, axes: Sequence[SSAValue], numbers: _Addresses | None) -> Dim | None:
    """A computed dimension as all loads agree on it, or None; only then are its numbers asked for."""
    if window.written or not window.dims[position].dynamic:
        return None
    trial = None if numbers is None else replace(numbers, numbers=[*numbers.numbers])
    (found, *others) = {_entry(load.entries[position], window.analysis, axes, trial) for load in window.loads}
    if found is None or others:
        return None
    if numbers is not None and trial is not None:
        numbers.numbers = trial.numbers
    return found


def _entry(entry: Entry, analysis: IndexAnalysis, axes: Sequence[SSAValue], numbers: _Addresses | None) -> Dim | None:
    if isinstance(entry, int | AllAttr | SliceAttr) or not isinstance(entry.type, RangeType | IndexType):
        return None
    first, size = _resolved(analysis.first(entry)), 1
    if isinstance(entry.type, RangeType):
        size = binding(entry).size
    if first.divisor % size:
        return None
    other = (lambda atom: None) if numbers is None else numbers.affine
    index = over_axes(floordiv(first, size), axes, other)
    if index is None:
        return None
    return Dim("point", 1, index) if isinstance(entry.type, IndexType) else Dim("block", size, index, unshifted(entry))


def _resolved(form: IndexExpr) -> IndexExpr:
    """A sum without wraps of 32 bits and more, since an element of memory has a number that fits; and with 0 for the
    number of a loop's only block."""
    known: dict[Atom, IndexExpr] = {}
    for atom in form.terms:
        if isinstance(atom, Wrap) and atom.bits >= 32:
            known[atom] = atom.inner
        elif (value := atom.range.number) is not None:
            known[atom] = number(value)
    return substitute(form, known) if known else form


@dataclass
class _Addresses:
    """The numbers that index maps ask for, in order: each after those that it is made of."""

    launch: LaunchOp
    axes: Sequence[SSAValue]
    analysis: IndexAnalysis
    numbers: list[IndexNumber] = field(default_factory=list)

    def affine(self, atom: Atom) -> AffineExpr | None:
        """The symbol of a number, or None."""
        if isinstance(atom, Wrap) and atom.bits >= 32:
            return over_axes(atom.inner, self.axes, self.affine)
        if isinstance(atom, Extremum):
            operands = [over_axes(_resolved(operand), self.axes, self.affine) for operand in atom.operands]
            return self._symbol("max" if atom.largest else "min", operands)
        load = atom.name.owner if isinstance(atom, Symbol) and isinstance(atom.name, SSAValue) else None
        if not isinstance(load, LoadOp) or load.mask is not None or not self._is_given(load.memory):
            return None
        return self._symbol("load", [self._at(entry) for entry in load.entries], load.memory)

    def _symbol(
        self, kind: Literal["load", "min", "max"], at: Sequence[AffineExpr | None], memory: SSAValue | None = None
    ) -> AffineExpr | None:
        known = tuple(part for part in at if part is not None)
        if len(known) < len(at):
            return None
        found = IndexNumber(kind, known, memory)
        if found not in self.numbers:
            self.numbers.append(found)
        return AffineExpr.symbol(self.numbers.index(found))

    def _at(self, entry: Entry) -> AffineExpr | None:
        if isinstance(entry, int):
            return AffineExpr.constant(entry)
        if not isinstance(entry, SSAValue) or not isinstance(entry.type, IndexType):
            return None
        return over_axes(_resolved(self.analysis.expr(entry)), self.axes, self.affine)

    def _is_given(self, memory: SSAValue) -> bool:
        """Whether scalar memory can hold an array before the grid runs."""
        args = self.launch.body.block.args
        if memory not in args or not isinstance(memory.type, MemRefType):
            return False
        position = args.index(memory)
        scalars = all(_is_scalar(use.operation) for use in memory.uses)
        taken = position < len(self.launch.inputs) and position not in self.launch.written
        stored = MemRefType(stored_element(memory.type), memory.type.get_shape())
        return taken and scalars and bool(memory.type.get_shape()) and fits_scalar_memory(stored)


def _is_scalar(op: Operation) -> bool:
    """Whether an op loads one element; a plan that names an array does nothing to it."""
    if isinstance(op, GridOp):
        return True
    return isinstance(op, LoadOp) and isinstance(op.result.type, TileType) and op.result.type.rank == 0


def _always_runs(load: LoadOp, axes: Sequence[SSAValue], moves: frozenset[int]) -> bool:
    """Whether a load runs in every cell that its block is brought for."""
    parent = load.parent_op()
    while not isinstance(parent, GridOp):
        if isinstance(parent, ForOp):
            runs = (binding(parent.range).trips or 0) > 0
        else:  # the first or last visit of a dimension, for which one block is brought
            runs = isinstance(parent, WhenOp) and all(r in axes and axes.index(r) not in moves for r in parent.ranges)
        if not runs:
            return False
        assert parent is not None
        parent = parent.parent_op()
    return True


def _fit_together(window: Window) -> bool:
    return Budget.is_scalar_memory(sum(map(words_of, window.addresses)))


def words_of(array: SSAValue) -> int:
    """Words of scalar memory that an array of numbers takes."""
    return scalar_words(array.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
