"""What decides which elements a function touches: index arithmetic, masks, loops and conditions, and what those read.

Pure. `IndexSlicer` follows operands backwards from accesses. What is found is a part of the function: run alone, in the
same order, it visits the same places as the whole does. Memory is followed as well: an index that is loaded needs every
op that writes the array it is loaded from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import effects_on_memory, root
from kopt.dialects import host, jagged
from kopt.dialects.tile import Access, ForOp, GridOp, StoreOp, TakeAlongOp, WhenOp, WhileOp
from kopt.dialects.tile.bodies import Carrying, CarryingLoop
from kopt.walk import walk

#: Ops whose bodies are sliced; other ops with regions are taken whole.
CONTROL = (GridOp, ForOp, jagged.ForOp, WhileOp, WhenOp, scf.IfOp, scf.ForOp)
_OPAQUE = (CallOp, host.LaunchOp, host.PartitionOp)


@dataclass(frozen=True)
class IndexSlice:
    """A part of a function: ops that run, accesses that are only ``located``, and the arrays whose elements count.

    Lanes of blocks that are picked by number are located as well.

    ``held`` are arguments and arrays of the host, by the memref that owns them. ``assumed`` are indices that were not
    followed: they are taken to be inside.
    """

    run: frozenset[Operation] = frozenset()
    located: frozenset[Access | TakeAlongOp] = frozenset()
    held: frozenset[SSAValue] = frozenset()
    assumed: frozenset[SSAValue] = frozenset()

    def __or__(self, other: IndexSlice) -> IndexSlice:
        return IndexSlice(
            self.run | other.run, self.located | other.located, self.held | other.held, self.assumed | other.assumed
        )


def sliceable(func: FuncOp) -> bool:
    """Whether a function can be sliced: as it is imported, without launches and calls of other functions."""
    return not any(isinstance(op, _OPAQUE) for op in walk(func))


@dataclass
class IndexSlicer:
    """Collects a slice of one function, whose arrays have these ``writers``."""

    writers: Mapping[SSAValue, Sequence[Operation]]
    _run: set[Operation] = field(default_factory=set)
    _located: set[Access | TakeAlongOp] = field(default_factory=set)
    _held: set[SSAValue] = field(default_factory=set)
    _assumed: set[SSAValue] = field(default_factory=set)
    _work: list[SSAValue | Operation] = field(default_factory=list)
    _followed: set[SSAValue] = field(default_factory=set)

    def result(self) -> IndexSlice:
        """What was collected so far, with all that it needs."""
        while self._work:
            item = self._work.pop()
            self._follow(item) if isinstance(item, SSAValue) else self._execute(item)
        return IndexSlice(
            frozenset(self._run), frozenset(self._located), frozenset(self._held), frozenset(self._assumed)
        )

    def locate(self, op: Access, assumed: Iterable[SSAValue] = ()) -> None:
        """Adds where an access goes, whether it happens, and for which lanes; not what it moves."""
        self._located.add(op)
        self._assumed.update(assumed)
        self._work += [index for index in op.indices if index not in self._assumed]
        self._work += [mask] if (mask := getattr(op, "mask", None)) is not None else []
        self._around(op)

    def pick(self, op: TakeAlongOp) -> None:
        """Adds which lanes of a block are picked, and whether they are; not what they hold."""
        self._located.add(op)
        self.value(op.indices, op)

    def execute(self, op: Operation) -> None:
        """Adds an op with all that it computes."""
        self._work.append(op)

    def store(self, op: StoreOp) -> None:
        """Adds a store with the value that it writes, though nothing that is added reads it."""
        self._run.add(op)
        self._work += [operand for operand in op.operands if operand is not op.memory]
        self._around(op)

    def value(self, value: SSAValue, user: Operation) -> None:
        """Adds what computes a value, and what decides whether its user runs."""
        self._work.append(value)
        self._around(user)

    def _execute(self, op: Operation) -> None:
        if op in self._run:
            return
        for inner in walk(op):
            self._run.add(inner)
            self._work += inner.operands
        for operand in op.operands:
            if isinstance(operand.type, MemRefType):
                self._hold(root(operand))
        self._around(op)

    def _hold(self, memory: SSAValue) -> None:
        """The elements of an array count: all that writes them runs."""
        if memory in self._held:
            return
        self._held.add(memory)
        self._work += self.writers.get(memory, ())
        if isinstance(memory.owner, Operation):
            self._work.append(memory.owner)

    def _follow(self, value: SSAValue) -> None:
        if value in self._followed:  # a loop may carry it to itself
            return
        self._followed.add(value)
        owner = value.owner
        if isinstance(value.type, MemRefType):
            return  # where an array is, every machine knows; its elements are held where they count
        if isinstance(owner, Block):
            self._argument(value, owner)
        elif isinstance(owner, CONTROL):
            self._control(owner)
            self._work += _passed_on(owner, [id(result) for result in owner.results].index(id(value)))
        else:
            self._execute(owner)

    def _argument(self, value: SSAValue, block: Block) -> None:
        parent = block.parent_op()
        if not isinstance(parent, CONTROL):
            return
        self._control(parent)
        first = len(block.args) - len(_carried(parent))
        if value in block.args[first:]:
            self._work += _passed_on(parent, block.args.index(value) - first)

    def _control(self, op: Operation) -> None:
        if op in self._run:
            return
        self._run.add(op)
        self._work += _deciding(op)
        self._around(op)

    def _around(self, op: Operation) -> None:
        parent = op.parent_op()
        if isinstance(parent, CONTROL):
            self._control(parent)


def writers(func: FuncOp) -> dict[SSAValue, list[Operation]]:
    """The ops that write each array or a view of it, by the memref that owns it."""
    found: dict[SSAValue, list[Operation]] = defaultdict(list)
    for op in [inner for inner in walk(func) if not inner.regions]:
        for kind, memory in effects_on_memory(op):
            if kind is MemoryEffectKind.WRITE:
                found[root(memory)].append(op)
    return found


def _carried(op: Operation) -> tuple[SSAValue, ...]:
    return tuple(op.iter_args) if isinstance(op, scf.ForOp) else tuple(op.inits) if isinstance(op, Carrying) else ()


def _passed_on(op: Operation, number: int) -> list[SSAValue]:
    """What a loop carries as its value of a number, or what a branch gives as its result: of each body, and first."""
    skipped = 1 if isinstance(op, WhileOp) else 0
    lasts = [region.block.last_op for region in op.regions if region.blocks]
    yielded = [last.operands[number + skipped] for last in lasts if last is not None]
    return [*yielded, *_carried(op)[number : number + 1]]


def _deciding(op: Operation) -> list[SSAValue]:
    """What decides which visits a loop makes, and which branch is taken."""
    if isinstance(op, WhileOp):
        return [op.condition, op.more]
    if isinstance(op, CarryingLoop):
        return list(op.operands[: len(op.operands) - len(op.inits)])
    if isinstance(op, scf.ForOp):
        return [op.lb, op.ub, op.step]
    return list(op.operands)
