"""What host code in torch is made of."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.analysis.symmetric import is_contiguous
from kopt.diagnostics import Problem
from kopt.dialects import host, symm
from kopt.dialects.symm import out_forms
from kopt.lowering.host import torch_calls
from kopt.lowering.torch.collectives import ALGORITHMS
from kopt.lowering.torch.module import HANDLERS
from kopt.lowering.torch.partitions import given_to
from kopt.open_extents import open_extents
from kopt.passes.verifying.host_forms import Check, HostForms, of_elements
from kopt.passes.verifying.removed_by import formless
from kopt.walk import walk

_NO_ELEMENT_TYPE = "torch has no element type"


def _formless(op: Operation) -> Problem:
    return formless(op, "triton", f"'{op.name}' has no torch form")


def _of_alloc(op: host.AllocOp) -> Iterator[Problem]:
    yield from of_elements(op.result, _NO_ELEMENT_TYPE)


def _of_call(op: host.CallOp) -> Iterator[Problem]:
    if not torch_calls.is_torch_operator(op.callee.data):
        yield Problem(op, f"torch has no operator {op.callee.data!r} that programs may call", id="no-form")


def _of_constant(op: ConstantOp) -> Iterator[Problem]:
    if not isinstance(op.value, IntegerAttr | FloatAttr):
        yield Problem(op, f"'{op.name}' of {op.result.type} has no torch form", id="no-form")


def _of_placed_alloc(op: host.AllocOp) -> Iterator[Problem]:
    yield from _of_alloc(op)
    if (symm.group_of(op.result.type) is None) != (op.id is None):
        wanted = "persistent memory is symmetric memory and the reverse, for torch"
        yield Problem(op, f"{wanted}; found {op.result.type} {'not ' if op.id is None else ''}persistent", id="no-form")
    if op.id is not None and _is_open(op.result.type):
        yield Problem(op, f"persistent memory is as large in every call, found {op.result.type}", id="no-form")


def _of_all_reduce(op: symm.AllReduceOp) -> Iterator[Problem]:
    if op.algorithm is None:
        yield from _of_collective(op)
    elif ALGORITHMS[op.algorithm.data][2] is None:
        message = f"torch has no {op.algorithm.data} all-reduce that allocates its result"
        yield Problem(op, message, ("run symm-to-dps before",), id="no-form")


def _of_all_reduce_out(op: symm.AllReduceOutOp) -> Iterator[Problem]:
    if op.algorithm is None:
        yield from _of_result(op, op.out)
    elif op.waits_at != out_forms.BARRIERS:
        name = ALGORITHMS[op.algorithm.data][0]
        yield Problem(
            op, f"torch's {name} waits at entry and exit; found barriers [{', '.join(op.waits_at)}]", id="no-form"
        )


def _of_collective(op: symm.CollectiveOp | symm.AllReduceOp) -> Iterator[Problem]:
    yield from of_elements(op.result, _NO_ELEMENT_TYPE)
    yield from _of_result(op, op.result)


def _of_collective_out(op: symm.CollectiveOutOp) -> Iterator[Problem]:
    yield from _of_result(op, op.out)


def _of_result(op: Operation, out: SSAValue) -> Iterator[Problem]:
    assert isinstance(out.type, MemRefType)
    if not isinstance(out.type.layout, NoneAttr) and not is_contiguous(out.type):
        yield Problem(op, f"{op.name} writes a contiguous array, found {out.type}", id="no-form")


def _of_partition(op: host.PartitionOp) -> Iterator[Problem]:
    if isinstance(op.parent_op(), host.PartitionOp):
        yield Problem(op, "a captured run is no part of another", id="no-form")
    for value in given_to(op):
        if not isinstance(value.type, MemRefType):
            yield Problem(op, f"a captured run takes arrays, found {value.type} from outside", id="no-form")
    types = (value.type for inner in walk(op) for value in (*inner.operands, *inner.results))
    if (type := next(filter(_is_open, types), None)) is not None:
        yield Problem(op, f"a captured run is of arrays as large in every call, found {type}", id="no-form")


def _is_open(type: Attribute) -> bool:
    return isinstance(type, MemRefType) and bool(open_extents(type.get_shape()))


_CHECKS: dict[type[Operation], Check] = {
    host.AllocOp: _of_alloc,
    host.CallOp: _of_call,
    ConstantOp: _of_constant,
}

#: Functions around kernels.
KERNELS = HostForms(torch_calls.HANDLERS, _formless, _CHECKS)
#: Programs of all ranks.
PROGRAMS = HostForms(
    HANDLERS,
    _formless,
    {
        **_CHECKS,
        host.AllocOp: _of_placed_alloc,
        host.PartitionOp: _of_partition,
        symm.AllReduceOp: _of_all_reduce,
        symm.AllReduceOutOp: _of_all_reduce_out,
        **dict.fromkeys((symm.AllGatherOp, symm.ReduceScatterOp, symm.AllToAllOp), _of_collective),
        **dict.fromkeys((symm.AllGatherOutOp, symm.ReduceScatterOutOp, symm.AllToAllOutOp), _of_collective_out),
    },
)
