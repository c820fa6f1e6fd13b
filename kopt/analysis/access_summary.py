"""Access summaries: what a launch does with each array, and who needs what an array held before.

Pure, and the same for grids that stand in a function and for functional launches. Per launch: `accesses`. Over a
function: `seen_by` says of an argument or an allocation whether anything sees the elements that it begins with.

Two arguments of a function may be one array (`may_alias`); an allocation is nobody else's. What is said of a memref
is said of the elements as they are named by it: a read through another argument is another array's read, so facts
about an argument must not be used to leave out what a second argument of its element type could show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import effects_on_memory, root
from kopt.analysis.boxes import Boxes, count, joined
from kopt.analysis.coverage import Verdict, coverage, place_of, written_boxes
from kopt.analysis.effects import get_effects
from kopt.analysis.view_boxes import in_root
from kopt.cached_property import cached_property
from kopt.dialects.host import CopyOp, LaunchOp, ViewOp
from kopt.dialects.tile import GridOp, StoreOp, array_type
from kopt.dialects.tile.memory import Access
from kopt.walk import walk


@dataclass(frozen=True)
class AccessSummary:
    """What a launch does with one memref: the first op that reads it, that reads it too early, that writes it.

    ``early`` reads elements that its own cell has not written before: it sees what the array held before the launch.
    """

    body: GridOp | LaunchOp
    memory: SSAValue
    read: Operation | None
    early: Operation | None
    written: Operation | None

    @cached_property
    def covered(self) -> Verdict:
        """Whether the launch writes all of it."""
        return coverage(self.memory, self.body)

    @property
    def output_only(self) -> bool:
        """Whether the launch writes every element and sees none from before."""
        return self.written is not None and self.early is None and bool(self.covered)


def accesses(body: GridOp | LaunchOp) -> dict[SSAValue, AccessSummary]:
    """The access to each memref that a grid names, or to each of a launch's arguments, in order."""
    memories = body.body.block.args if isinstance(body, LaunchOp) else [memory for _, memory in effects_on_memory(body)]
    return {memory: access(memory, body) for memory in dict.fromkeys(memories)}


def access(memory: SSAValue, body: GridOp | LaunchOp) -> AccessSummary:
    """The access of a grid or launch to one memref."""
    found = [(kind, op) for op in walk(body) if not op.regions for kind in _kinds(op, memory)]
    reads = [op for kind, op in found if kind is MemoryEffectKind.READ]
    writes = [op for kind, op in found if kind is MemoryEffectKind.WRITE]
    early = [op for op in reads if not _follows_own_store(op, writes)]
    return AccessSummary(body, memory, _first(reads), _first(early), _first(writes))


def _first(ops: Sequence[Operation]) -> Operation | None:
    return ops[0] if ops else None


def _kinds(op: Operation, memory: SSAValue) -> Iterator[MemoryEffectKind]:
    if memory in op.operands:
        yield from (effect.kind for effect in get_effects(op) or () if effect.value is memory)


def _follows_own_store(read: Operation, writes: Sequence[Operation]) -> bool:
    """Whether an unmasked store to the very places that an op reads has happened before it, in the same visit."""
    if read in writes or not isinstance(read, Access):
        return False
    return any(isinstance(store, StoreOp) and _writes_first(store, read) for store in writes)


def _writes_first(store: StoreOp, read: Access) -> bool:
    same = store.mask is None and store.entries == read.entries
    return same and _happens_before(store, read)


def _happens_before(first: Operation, second: Operation) -> bool:
    """Whether an op stands before another in a block around it."""
    ancestor: Operation | None = second
    while ancestor is not None and ancestor.parent is not first.parent:
        ancestor = ancestor.parent_op()
    return ancestor is not None and ancestor is not first and first.is_before_in_block(ancestor)


# Over a function.


@dataclass(frozen=True)
class Initial:
    """Whether something sees the elements that an array begins with; why, as a clause, and the op that decides it."""

    needed: bool
    reason: str = ""
    blame: Operation | None = None


def may_alias(a: SSAValue, b: SSAValue) -> bool:
    """Whether two memrefs may share elements: views of one array, or arguments of one element type."""
    a, b = root(a), root(b)
    if a is b:
        return True
    both_given = isinstance(a, BlockArgument) and isinstance(b, BlockArgument)
    assert isinstance(a.type, MemRefType) and isinstance(b.type, MemRefType)
    return both_given and a.type.element_type == b.type.element_type


def seen_by(value: SSAValue, ops: Iterable[Operation]) -> Initial:
    """Whether anything sees what an argument or an allocation holds before ``ops``, the rest of a function.

    Host ops are gone through in order: each launch or copy adds to what is surely written, and the first op that reads
    before all is written decides. What is left over at the end of the function counts for arguments, which the caller
    keeps. Where another argument may be the same array, its reads and writes are not followed: they count as reads.
    """
    written: list[Boxes] = []
    for op in ops:
        for reason, blame in _early_reads(op, value):
            if not _all(written, value):
                return Initial(True, reason, blame)
        written += _writes(op, value)
    if isinstance(value, BlockArgument) and not _all(written, value):
        return Initial(True, "the caller keeps what is not written")
    return Initial(False)


def _all(written: Sequence[Boxes], value: SSAValue) -> bool:
    shape = array_type(value).get_shape()
    if 0 in shape:
        return True
    found = count(joined(written), shape) if written else None
    return found is not None and found.fewest > 0


def _early_reads(op: Operation, value: SSAValue) -> Iterator[tuple[str, Operation]]:
    """What an op of the host reads of an array, or of one that it may share elements with."""
    if isinstance(op, ViewOp):
        return
    if isinstance(op, GridOp):
        for memory, found in accesses(op).items():
            if may_alias(memory, value) and (blame := found.early if root(memory) is value else found.read) is not None:
                yield f"{place_of(blame)} reads it", blame
        return
    if isinstance(op, LaunchOp):
        yield from _launch_reads(op, value)
        return
    read = [op.source] if isinstance(op, CopyOp) else op.operands
    for operand in read:
        if isinstance(operand.type, MemRefType) and may_alias(operand, value):
            yield _host_read(op, operand), op


def _launch_reads(launch: LaunchOp, value: SSAValue) -> Iterator[tuple[str, Operation]]:
    """What a functional launch takes from an array: what it reads, and what its new version keeps."""
    for operand, found in zip(launch.inputs, accesses(launch).values(), strict=False):
        if not may_alias(operand, value):
            continue
        if found.early is not None:
            yield f"{place_of(found.early)} reads it", found.early
        elif found.written is not None and not found.covered:
            yield found.covered.reason, found.covered.blame or launch


def _host_read(op: Operation, operand: SSAValue) -> str:
    return "it is returned" if op.name == "func.return" else f"{place_of(op)} reads it"


def _writes(op: Operation, value: SSAValue) -> list[Boxes]:
    """The elements of an array that an op of the host surely writes."""
    if isinstance(op, GridOp):
        memories = dict.fromkeys(m for kind, m in effects_on_memory(op) if kind is MemoryEffectKind.WRITE)
        found = [(memory, boxes) for memory in memories if root(memory) is value for boxes in written_boxes(memory, op)]
    elif isinstance(op, CopyOp) and root(op.target) is value:
        found = [(op.target, Boxes.of(*((0, extent) for extent in array_type(op.target).get_shape())))]
    else:
        return []
    return [boxes for memory, set in found if (boxes := in_root(memory, set)) is not None]
