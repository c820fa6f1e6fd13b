"""How collectives and symmetric memory are printed: tables of torch's operators and of its communication library."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from kopt.analysis.symmetric import is_contiguous
from kopt.dialects import host, symm
from kopt.dialects.tile.values import literal_value
from kopt.lowering.host.torch_calls import HANDLERS as HOST
from kopt.lowering.host.torch_calls import torch_dtype

if TYPE_CHECKING:
    from kopt.lowering.torch.module import ProgramPrinter

#: Of an all-reduce by an algorithm: torch's operator, its name of the given result, the one that allocates it.
ALGORITHMS: dict[str, tuple[str, str, str | None]] = {
    "one_shot": ("one_shot_all_reduce_out", "out", "one_shot_all_reduce"),
    "two_shot": ("two_shot_all_reduce_out", "output", None),
    "multimem": ("multimem_one_shot_all_reduce_out", "out", "multimem_one_shot_all_reduce"),
}
_SYMMETRIC_KINDS = {"add": '"sum"'}
_LIBRARY_KINDS = {"add": "SUM", "max": "MAX", "min": "MIN", "avg": "AVG"}
_LIBRARY: dict[type[Operation], str] = {
    symm.AllGatherOp: "all_gather_into_tensor",
    symm.AllGatherOutOp: "all_gather_into_tensor",
    symm.ReduceScatterOp: "reduce_scatter_tensor",
    symm.ReduceScatterOutOp: "reduce_scatter_tensor",
    symm.AllToAllOp: "all_to_all_single",
    symm.AllToAllOutOp: "all_to_all_single",
}


def _alloc(program: ProgramPrinter, op: host.AllocOp) -> None:
    type, id = op.result.type, op.id
    group = symm.group_of(type)
    if group is None or id is None:
        return HOST[host.AllocOp](program, op)
    assert isinstance(type, MemRefType)
    sizes, strides = tuple(type.get_shape()), tuple(type.get_strides() or ())
    place = f"{torch_dtype(type.element_type)}, {program.where}, {program.groups[group]}.group_name"
    text = f"{sizes}, {strides}, {place}, {program.alloc_id(id.data)}"
    program.assign(op.result, f"symm_mem._SymmetricMemory.empty_strided_p2p({text})")
    if op.fill is not None:
        program.fill(op.result, op.fill)


def _all_reduce(program: ProgramPrinter, op: symm.AllReduceOp) -> None:
    if op.algorithm is None:
        _new(program, op.result)
        _reduce_by_library(program, op, op.result)
        return
    name = ALGORITHMS[op.algorithm.data][2]
    program.assign(op.result, f"torch.ops.symm_mem.{name}({_symmetric_arguments(program, op)})")


def _all_reduce_out(program: ProgramPrinter, op: symm.AllReduceOutOp) -> None:
    if op.algorithm is None:
        _reduce_by_library(program, op, op.out)
        return
    name, out, _ = ALGORITHMS[op.algorithm.data]
    arguments = _symmetric_arguments(program, op)
    program.writer.line(f"torch.ops.symm_mem.{name}({arguments}, {out}={program.names[op.out]})")


def _symmetric_arguments(program: ProgramPrinter, op: symm.AllReduceOp | symm.AllReduceOutOp) -> str:
    group = program.groups[op.group.data]
    return f"{program.names[op.input]}, {_SYMMETRIC_KINDS[op.kind.data]}, {group}.group_name"


def _reduce_by_library(program: ProgramPrinter, op: symm.AllReduceOp | symm.AllReduceOutOp, out: SSAValue) -> None:
    name = program.names[out]
    program.writer.line(f"{name}.copy_({program.names[op.input]})")
    kind, group = _LIBRARY_KINDS[op.kind.data], program.groups[op.group.data]
    program.writer.line(f"dist.all_reduce({name}, dist.ReduceOp.{kind}, group={group})")


def _collective(program: ProgramPrinter, op: symm.CollectiveOp) -> None:
    _new(program, op.result)
    _by_library(program, op, op.result)


def _collective_out(program: ProgramPrinter, op: symm.CollectiveOutOp) -> None:
    _by_library(program, op, op.out)


def _by_library(program: ProgramPrinter, op: symm.CollectiveOp | symm.CollectiveOutOp, out: SSAValue) -> None:
    given = program.names[op.input] + ("" if is_contiguous(op.input.type) else ".contiguous()")
    group = program.groups[op.group.data]
    program.writer.line(f"dist.{_LIBRARY[type(op)]}({program.names[out]}, {given}, group={group})")


def _new(program: ProgramPrinter, value: SSAValue) -> None:
    assert isinstance(value.type, MemRefType)
    shape, dtype = program.shape_text(value.type), torch_dtype(value.type.element_type)
    program.assign(value, f"torch.empty({shape}, dtype={dtype}{program.device})")


def _barrier(program: ProgramPrinter, op: symm.BarrierOp) -> None:
    group = program.groups[op.group.data]
    program.writer.line(f"symm_mem.get_symm_mem_workspace({group}.group_name, min_size=1).barrier()")


def _signal(program: ProgramPrinter, op: symm.SignalOp | symm.WaitOp) -> None:
    group = symm.group_of(op.buffer.type)
    assert group is not None
    handle = f"symm_mem.rendezvous({program.names[op.buffer]}, {program.groups[group]}.group_name)"
    name = "put_signal" if isinstance(op, symm.SignalOp) else "wait_signal"
    program.writer.line(f"{handle}.{name}({_number(program, op.rank)}, {op.channel.value.data})")


def _number(program: ProgramPrinter, value: SSAValue) -> str:
    if isinstance(value.owner, ConstantOp):
        return repr(literal_value(value.owner.value))
    return program.names[value]


#: How each op is printed in place of, or besides, the host's own.
HANDLERS: dict[type[Operation], Callable[[Any, Any], None]] = {
    host.AllocOp: _alloc,
    symm.AllReduceOp: _all_reduce,
    symm.AllReduceOutOp: _all_reduce_out,
    **dict.fromkeys((symm.AllGatherOp, symm.ReduceScatterOp, symm.AllToAllOp), _collective),
    **dict.fromkeys((symm.AllGatherOutOp, symm.ReduceScatterOutOp, symm.AllToAllOutOp), _collective_out),
    symm.BarrierOp: _barrier,
    symm.SignalOp: _signal,
    symm.WaitOp: _signal,
}
