"""The blocks of a plan's buffers: their shapes and bytes, at given sizes.

A buffer holds what its accesses touch while the axes stand still that it moves with: along an axis that it does not
move with, such as a loop of a resident block, all that the axis walks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

import numpy as np

from kopt.ir.atoms import Atom, BlockNumber, Element, Lane, Symbol
from kopt.ir.index_expr import IndexExpr
from kopt.ir.launch_model import LaunchModel, ModelAccess
from kopt.planning.trips import Number, Sizes, Trips, value
from kopt.plans.plan import Buffer, Plan
from kopt.targets.tiling import LANES, padded_bytes, round_up, sublanes

#: Kinds of buffers that the grid's own pipeline moves.
WINDOWS = ("window", "resident", "accumulate", "one_hot")
#: Memory of the cells, which nothing moves.
SCRATCH = "scratch"
#: Kinds whose blocks move with the axes that the plan names alone, whatever loops visit of them.
_NAMED = (*WINDOWS, SCRATCH)
#: Kinds in scalar memory.
SCALAR = ("smem", "smem_chunk")
#: Kinds that take rows or elements one by one.
ROWS = ("rows", "row_loop", "row_dma")
#: Kinds whose copies nothing hides, unless a word of the buffer says that they are ahead.
EXPOSED, AHEAD = ("dma", *ROWS), ("prefetch", "outstanding")


class Blocks:
    """The blocks of one plan."""

    def __init__(self, model: LaunchModel, plan: Plan, sizes: Sizes, trips: Mapping[str, Trips]):
        self._model, self._sizes, self._trips = model, sizes, trips
        self._tags = {axis.tag for axis in model.axes}
        self._shapes: dict[str, tuple[Number, ...]] = {}
        self._accesses: dict[str, list[ModelAccess]] = {}
        for access in model.accesses:
            if access.id in plan.via:
                self._accesses.setdefault(plan.via[access.id], []).append(access)

    def accesses(self, buffer: Buffer) -> Sequence[ModelAccess]:
        """The accesses that a buffer serves."""
        return self._accesses.get(buffer.name, ())

    def reads(self, buffer: Buffer) -> bool:
        """Whether blocks come."""
        return any(access.mode != "store" for access in self.accesses(buffer))

    def writes(self, buffer: Buffer) -> bool:
        """Whether blocks leave."""
        return any(access.mode != "load" for access in self.accesses(buffer))

    def axes(self, buffer: Buffer) -> frozenset[str]:
        """What its blocks move with: of copies in the kernel, all that their accesses do."""
        moves = (access.moves for access in self.accesses(buffer)) if buffer.kind not in _NAMED else ()
        return frozenset(buffer.axes).union(*moves)

    def shape(self, buffer: Buffer) -> tuple[Number, ...]:
        """The lanes of a block, of each dimension of the operand as many as its widest access has."""
        if buffer.name not in self._shapes:
            axes = self.axes(buffer)
            known = buffer.kind not in _NAMED or buffer.address is not None
            shapes = [self._access_shape(access, axes, known) for access in self.accesses(buffer)]
            if buffer.kind == "dma":
                pairs = zip(self.accesses(buffer), shapes, strict=True)
                shapes = [
                    self._copied(shape, access, self._access_shape(access, axes, False)) for access, shape in pairs
                ]
            self._shapes[buffer.name] = tuple(_largest(lanes) for lanes in zip(*shapes, strict=True))
        return self._shapes[buffer.name]

    def size(self, buffer: Buffer) -> Number:
        """Bytes of one block, as copies move them."""
        return self._elements(buffer) * self._bits(buffer) / 8

    def memory(self, buffer: Buffer, bits: int | None = None) -> Number:
        """Bytes of one block in VMEM, padded to tiles; with other bits for accumulators.

        What each copy of ``rows`` brings stands for itself: a row of 32 bits padded to lanes, a narrower one with the
        rows that it comes with.
        """
        bits = bits or self._bits(buffer)
        if buffer.kind != "rows":
            return padded_bytes(self.shape(buffer) or (1,), bits)
        rows, lanes = self._row(buffer)
        moved = rows if bits >= 32 else round_up(rows, sublanes(bits))
        copies = self._elements(buffer) / np.maximum(1, rows * lanes)  # of arrays without elements there are none
        return padded_bytes((moved, lanes), bits) * copies

    def picked(self, buffer: Buffer) -> Number:
        """The elements of which the rows of a buffer of narrow ones are picked: all that copies bring."""
        bits = self._bits(buffer)
        return self.memory(buffer) * 8 / bits if buffer.kind == "rows" and bits < 32 else 0

    def _row(self, buffer: Buffer) -> tuple[Number, Number]:
        """The rows and lanes that each copy of an array's last two dimensions brings."""
        indices = self.accesses(buffer)[0].relation.indices
        *_, above, last = (None, *(_counted(index) for index in indices))
        if last is None:
            return 1, self._elements(buffer) / np.maximum(1, self.rows(buffer))
        return 1 if above is None else value(above.size, self._sizes), value(last.size, self._sizes)

    def array_size(self, operand: str) -> Number:
        """Bytes of a whole array."""
        found = self._model.operand(operand)
        return value(found.elements, self._sizes) * found.bits / 8

    def rows(self, buffer: Buffer) -> Number:
        """How many copies bring what lies in pieces."""
        return sum(value(access.relation.runs, self._sizes) for access in self.accesses(buffer))

    def _elements(self, buffer: Buffer) -> Number:
        if buffer.kind in ROWS:
            lanes = [access.relation.lanes for access in self.accesses(buffer)]
            return _largest([prod(value(size, self._sizes) for size in shape) for shape in lanes])
        return prod(self.shape(buffer))

    def _bits(self, buffer: Buffer) -> int:
        return self._model.operand(buffer.operand).bits

    def _access_shape(self, access: ModelAccess, axes: frozenset[str], known: bool) -> tuple[Number, ...]:
        pairs = zip(access.relation.indices, access.relation.shape, strict=True)
        return tuple(self._lanes(index, value(extent, self._sizes), axes, known) for index, extent in pairs)

    def _copied(self, block: tuple[Number, ...], access: ModelAccess, other: tuple[Number, ...]) -> tuple[Number, ...]:
        """What a DMA takes: the block where that is whole tiles of memory, else the ``other`` that a window would.

        Dimensions of which single elements are taken stand outside of tiles, as a view of the array has them.
        """
        relation = access.relation
        pairs = zip(relation.indices, block, relation.shape, strict=True)
        dims = [(own, extent) for index, own, extent in pairs if any(isinstance(atom, Lane) for atom in index.atoms())]
        tile = (sublanes(relation.bits), LANES) if len(dims) > 1 else (LANES * 32 // relation.bits,)
        inner = zip(dims[-2:], tile[-len(dims) :], strict=True) if dims else ()
        fits = [(own % unit == 0) | (own == value(extent, self._sizes)) for (own, extent), unit in inner]
        copied = np.all(np.broadcast_arrays(True, *fits), axis=0)
        return tuple(np.where(copied, *pair) for pair in zip(block, other, strict=True))

    def _lanes(self, index: IndexExpr, extent: Number, axes: frozenset[str], known: bool) -> Number:
        """The elements of one dimension between the least and the largest that an access has while ``axes`` stand.

        The last block that is walked may begin in the array and reach beyond it, as in `kopt.analysis.windows`.
        Unless ``known``, nothing tells a block's place but the axes: where loaded numbers do, it is all of them.
        """
        atoms = [*index.atoms()]
        if not known and any(isinstance(atom, Symbol | Element) for atom in atoms):
            return extent
        walking = {str(atom.name) for atom in atoms if isinstance(atom, BlockNumber)} & self._tags - axes
        if any(_varies(atom, walking) for atom in atoms if atom not in index.terms):
            return extent
        block: Number = 1
        reach: Number = 0
        for atom, factor in index.terms.items():
            if isinstance(atom, Lane):
                block = block + (value(atom.size, self._sizes) - 1) * abs(value(factor, self._sizes))
            elif isinstance(atom, BlockNumber) and str(atom.name) in walking:
                steps = np.ceil(self._trips[str(atom.name)].mean) - 1
                reach = reach + steps * abs(value(factor, self._sizes))
        return np.minimum(extent - 1, reach) + block if walking else block


def _counted(index: IndexExpr) -> Lane | None:
    """The lanes of a dimension of which an access takes a block, one element after another."""
    lanes = [atom for atom in index.atoms() if not isinstance(atom, BlockNumber)]
    (lane, *others) = lanes or [None]
    return lane if isinstance(lane, Lane) and not others and index.terms.get(lane) == 1 else None


def _varies(atom: Atom, walking: Collection[str]) -> bool:
    """Whether an atom inside of another differs between lanes, or between blocks that are walked."""
    return isinstance(atom, Lane) or isinstance(atom, BlockNumber) and str(atom.name) in walking


def _largest(values: Sequence[Number]) -> Number:
    total = values[0]
    for one in values[1:]:
        total = np.maximum(total, one)
    return total
