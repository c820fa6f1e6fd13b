"""Which kernel a collective becomes, with its arrays brought into rows and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import FixedBitwidthType, bf16, f32, i1, i32
from xdsl.ir import Operation, SSAValue

from kopt.dialects import symm
from kopt.dialects.tile import array_type
from kopt.passes.collectives.building import Members
from kopt.passes.collectives.one_shot import exchange, reduce_at_once
from kopt.passes.collectives.ring import gather, reduce
from kopt.passes.collectives.shaping import PIECE_ROWS, SHARED_ROWS, RowParts, from_rows, parts_of, to_rows

#: The collectives that kernels exist of.
Collective = symm.AllReduceOp | symm.AllGatherOp | symm.ReduceScatterOp | symm.AllToAllOp
#: Elements that kernels combine; anything of 8 to 32 bits is only moved.
_COMBINED = (f32, bf16, i32)
_MOVED_BITS = (8, 16, 32)


@dataclass(frozen=True)
class Job:
    """One collective to expand: the op, its kernel's name and members, and whether ranks copy along a ring."""

    op: Collective
    name: str
    members: Members
    is_ring: bool

    @property
    def input(self) -> SSAValue:
        """The array of this rank."""
        return self.op.input

    @property
    def kind(self) -> str:
        """How elements are combined."""
        return self.op.kind.data if isinstance(self.op, symm.AllReduceOp) else "add"


def ranks_of(op: Collective) -> int | None:
    """The number of ranks that the shapes tell, or None."""
    sizes = [array_type(value).get_shape()[:1] for value in (op.input, op.result)]
    if isinstance(op, symm.AllGatherOp | symm.ReduceScatterOp) and 0 not in (sizes[0][0], sizes[1][0]):
        low, high = sorted(size[0] for size in sizes)
        return high // low
    return None


def obstacle(op: Collective) -> str | None:
    """Why a collective stays as it is, or None."""
    type = array_type(op.input)
    element = type.element_type
    if 0 in (*type.get_shape(), *array_type(op.result).get_shape()) or -1 in type.get_shape():
        return f"a kernel moves some elements of static shape, found {type}"
    if isinstance(op, symm.AllReduceOp | symm.ReduceScatterOp) and element not in _COMBINED:
        return f"kernels combine {', '.join(map(str, _COMBINED))}, found {element}"
    if isinstance(op, symm.AllReduceOp) and op.kind.data == "avg" and element == i32:
        return "the average of integers is no integer"
    if not isinstance(element, FixedBitwidthType) or element.bitwidth not in _MOVED_BITS or element == i1:
        return f"kernels move elements of 8, 16 and 32 bits, found {element}"
    return None


def expand(job: Job) -> SSAValue:
    """Builds the kernel and what stands around it; gives the collective's result."""
    return _EXPANSIONS[type(job.op)](job)


def _all_reduce(job: Job) -> SSAValue:
    type = array_type(job.op.result)
    if job.is_ring:
        parts = parts_of(type, job.members.ranks)
        rows = to_rows(job.input, parts.whole.get_shape())
        return from_rows(reduce(job.name, rows, parts, job.members, job.kind, is_gathered=True), parts.count, type)
    parts = parts_of(type, 1, SHARED_ROWS // job.members.ranks)
    rows = to_rows(job.input, parts.single.get_shape())
    return from_rows(reduce_at_once(job.name, rows, parts, job.members, job.kind, is_personal=False), 1, type)


def _all_gather(job: Job) -> SSAValue:
    type = array_type(job.op.result)
    parts = parts_of(type, job.members.ranks)
    rows = to_rows(job.input, parts.single.get_shape())
    if job.is_ring:
        result = gather(job.name, rows, parts, job.members)
    else:
        result = exchange(job.name, rows, parts, job.members, is_personal=False)
    return from_rows(result, parts.count, type)


def _reduce_scatter(job: Job) -> SSAValue:
    most = PIECE_ROWS if job.is_ring else SHARED_ROWS // job.members.ranks
    parts = parts_of(array_type(job.input), job.members.ranks, most)
    rows = to_rows(job.input, parts.whole.get_shape())
    if job.is_ring:
        result = reduce(job.name, rows, parts, job.members, job.kind, is_gathered=False)
    else:
        result = reduce_at_once(job.name, rows, parts, job.members, job.kind, is_personal=True)
    return from_rows(result, 1, array_type(job.op.result))


def _all_to_all(job: Job) -> SSAValue:
    """Always at once: what a rank has for another is nobody else's to pass on."""
    type = array_type(job.op.result)
    parts: RowParts = parts_of(type, job.members.ranks)
    rows = to_rows(job.input, parts.whole.get_shape())
    return from_rows(exchange(job.name, rows, parts, job.members, is_personal=True), parts.count, type)


_EXPANSIONS: dict[type[Operation], Callable[[Job], SSAValue]] = {
    symm.AllReduceOp: _all_reduce,
    symm.AllGatherOp: _all_gather,
    symm.ReduceScatterOp: _reduce_scatter,
    symm.AllToAllOp: _all_to_all,
}
