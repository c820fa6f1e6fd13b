"""Hazards between the threads of a program: where accesses of one array need a barrier between them.

Pure. Triton deals the lanes of a block out to threads, for each access as it likes. So one thread may load what another
has stored before, or store over what another still has to load. Triton orders accesses of shared memory, but not those
of arrays.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import effects_on_memory, root
from kopt.analysis.scope import ancestors
from kopt.analysis.shared_elements import moves_with
from kopt.dialects.atomic import COMMUTES, RmwOp
from kopt.dialects.tile import (
    LANEWISE,
    Access,
    Carrying,
    ForOp,
    LoadOp,
    StoreOp,
    tile_type,
)
from kopt.dialects.triton import LaunchOp
from kopt.ir.access_relation import AccessRelation
from kopt.ir.atoms import Atom, BlockNumber, Symbol
from kopt.ir.from_access import relation_of
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.walk import walk

#: After so many accesses of an array without a barrier the next one has one in any case: comparing is quadratic.
_MOST = 64

#: An access since the last barrier, and the loop of which that was an earlier visit, if it is known to be one.
_Pending = tuple[Operation, Operation | None]


def barrier_points(launch: LaunchOp) -> list[Operation]:
    """The ops of a launch before which all threads must have made their accesses, in the order of the program."""
    hazards = _Hazards(launch)
    hazards.through(launch.body.block, frozenset())
    return [op for op in walk(launch) if op in hazards.points]


@dataclass(frozen=True)
class _Effect:
    """What an operation does: the arrays that it accesses, of those that the launch writes."""

    arrays: frozenset[SSAValue]
    writes: bool


class _Hazards:
    """A walk over a launch that keeps the accesses since the last barrier; ``points`` are the barriers it wants."""

    def __init__(self, launch: LaunchOp):
        self.points: set[Operation] = set()
        self._analysis = IndexAnalysis()
        self._relations: dict[Access, AccessRelation] = {}
        self._effects = dict(_effects(launch))
        self._left: dict[Operation, frozenset[_Pending]] = {}

    def through(self, block: Block, pending: frozenset[_Pending]) -> frozenset[_Pending]:
        """The accesses since the last barrier at the end of a block, with those before it."""
        for op in block.ops:
            own = self._accesses(op)
            if any(self._want_barrier(pending, access) for access in own):
                self.points.add(op)
            if op in self.points:
                pending = frozenset()
            if isinstance(op, Carrying):
                pending |= self._left_by(op)
            elif op.regions:
                ends = [self.through(inner, pending) for region in op.regions for inner in region.blocks]
                pending = pending.union(*ends)
            else:
                pending |= {(access, None) for access in own}
        return pending

    def _accesses(self, op: Operation) -> list[Operation]:
        """What a barrier before an op is for: all accesses of a loop; a branch has barriers of its own."""
        if op.regions and not isinstance(op, Carrying):
            return []
        return [inner for inner in walk(op) if inner in self._effects]

    def _left_by(self, loop: Operation) -> frozenset[_Pending]:
        """The accesses of a loop since its last barrier: of visits, until they leave nothing new to the next one."""
        if loop not in self._left:
            once = isinstance(loop, ForOp) and self._analysis.number(loop.range).range.high == 0
            carried = frozenset[_Pending]()
            while True:
                left = frozenset((access, loop) for access, _ in self.through(loop.regions[0].block, carried))
                if once or left <= carried:
                    break
                carried |= left
            self._left[loop] = frozenset((access, None) for access, _ in left)
        return self._left[loop]

    def _want_barrier(self, pending: frozenset[_Pending], access: Operation) -> bool:
        """Whether accesses since the last barrier have to be made before another."""
        own = self._effects[access]
        near = [one for one in pending if self._effects[one[0]].arrays & own.arrays]
        return len(near) >= _MOST or any(self._conflict(before, loop, access) for before, loop in near)

    def _conflict(self, before: Operation, loop: Operation | None, after: Operation) -> bool:
        """Whether threads may meet in an element of two accesses, the first of which may be of an earlier visit."""
        if not (self._effects[before].writes or self._effects[after].writes):
            return False
        if not isinstance(before, Access) or not isinstance(after, Access):
            return True
        if _commute(before, after) or (before.memory is after.memory and self._are_apart(before, loop, after)):
            return False
        return not (_are_alike(before, after, loop) and _is_of_one_thread(before, after))

    def _are_apart(self, before: Access, loop: Operation | None, after: Access) -> bool:
        """Whether two accesses of an array have no element in common, the first in an earlier visit of ``loop``."""
        blocks = [set(_blocks(op)) for op in (before, after, loop) if op is not None]
        visible = set[Block].intersection(*blocks)
        first, second = self._relation(before), self._relation(after)
        for pair in zip(first.indices, second.indices, strict=True):
            fixed = {atom: factor for atom, factor in pair[0].terms.items() if _is_fixed(atom, visible)}
            one, other = (index - IndexExpr(0, fixed) for index in pair)
            ranges = [
                index.range.intersection(relation.domain.range_of(index))
                for index, relation in ((one, first), (other, second))
            ]
            if ranges[0].intersection(ranges[1]).is_empty:
                return True
            if isinstance(loop, ForOp) and moves_with(self._analysis.number(loop.range), (one, other)):
                return True
        return False

    def _relation(self, op: Access) -> AccessRelation:
        if op not in self._relations:
            self._relations[op] = relation_of(op, self._analysis)
        return self._relations[op]


def _effects(launch: LaunchOp) -> Iterator[tuple[Operation, _Effect]]:
    """What the operations of a launch do that access an array which it writes, whatever views of it they have."""
    roots: dict[SSAValue, SSAValue] = {
        arg: root(array) for arg, array in zip(launch.body.block.args, launch.inputs, strict=True)
    }
    found: dict[Operation, list[tuple[MemoryEffectKind, SSAValue]]] = {}
    for op in walk(launch):
        if not op.regions and (effects := list(effects_on_memory(op))):
            found[op] = [(kind, roots.get(memory, root(memory))) for kind, memory in effects]
    written = {array for effects in found.values() for kind, array in effects if kind is MemoryEffectKind.WRITE}
    for op, effects in found.items():
        arrays = written.intersection(array for _, array in effects)
        if arrays:
            yield op, _Effect(frozenset(arrays), any(kind is MemoryEffectKind.WRITE for kind, _ in effects))


def _blocks(op: Operation) -> Iterator[Block]:
    """The blocks that hold an op, innermost first: what they define has one value wherever the op is."""
    return (one.parent for one in ancestors(op) if one.parent is not None)


def _is_fixed(atom: Atom, visible: set[Block]) -> bool:
    """Whether an atom is one number, made of values that some blocks define."""
    atoms = [atom, *(inner for part in atom.parts for inner in part.atoms())]
    return all(not one.along and _is_defined_in(_name(one), visible) for one in atoms if not one.parts)


def _name(atom: Atom) -> Hashable:
    return atom.name if isinstance(atom, Symbol | BlockNumber) else None


def _is_defined_in(name: Hashable, blocks: set[Block]) -> bool:
    value = name[0] if isinstance(name, tuple) else name
    if not isinstance(value, SSAValue):
        return False
    return (value.owner if isinstance(value.owner, Block) else value.owner.parent) in blocks


def _commute(before: Access, after: Access) -> bool:
    """Whether two updates give the same in either order: those of one kind, whose previous values nothing uses."""
    return (
        isinstance(before, RmwOp)
        and isinstance(after, RmwOp)
        and before.kind == after.kind
        and COMMUTES[before.kind.data]
        and not any(result.uses for op in (before, after) for result in op.previous)
    )


def _are_alike(before: Access, after: Access, loop: Operation | None) -> bool:
    """Whether two accesses are of the same elements lane by lane, also in an earlier visit of ``loop``."""
    if before.memory is not after.memory or before.entries != after.entries:
        return False
    return loop is None or not any(loop.is_ancestor(entry.owner) for entry in before.indices)


def _is_of_one_thread(before: Access, after: Access) -> bool:
    """Whether each thread makes both of two accesses of the same elements, in their order.

    Two stores of one kind of block are dealt out alike. A store of what was computed from a load lane by lane comes
    after the load: in the same thread, or in one to which the other gave the value.
    """
    if not isinstance(after, StoreOp):
        return False
    if isinstance(before, StoreOp):
        return before.value.type == after.value.type
    return isinstance(before, LoadOp) and tuple(_ends(before)) == (after,)


def _ends(load: LoadOp) -> Iterable[Operation]:
    """The ops other than those lane by lane, of blocks of the same lanes, to which a loaded value comes."""
    dims, ends = tile_type(load.result).dims, dict[Operation, None]()
    values: list[SSAValue] = [load.result]
    for value in values:
        for use in value.uses:
            op = use.operation
            if not isinstance(op, LANEWISE) or tile_type(op.results[0]).dims != dims:
                ends[op] = None
            elif op.results[0] not in values:
                values.append(op.results[0])
    return ends
