"""What the host's ops do: allocations, views that share storage, copies, launches and library calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from kopt.dialects import host
from kopt.dialects.tile import DimOp, ExtentOp, literal_value
from kopt.interpreter.aten import call
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.rounding import cast, constant, numpy_type, poison, rounded


def _memref(type: Attribute) -> MemRefType:
    assert isinstance(type, MemRefType)
    return type


def _alloc(m: Machine, op: host.AllocOp) -> np.ndarray:
    return _filled(m, _memref(op.result.type), op.fill)


def _filled(m: Machine, type: MemRefType, fill: Attribute | None = None) -> np.ndarray:
    """A new array; without a fill its elements are poison."""
    value = poison(type.element_type) if fill is None else constant(literal_value(fill), type.element_type)
    return np.full(m.shape(type), rounded(np.asarray(value), type.element_type), numpy_type(type.element_type))


def _slices(op: host.SliceOp | host.InsertOp) -> tuple[slice, ...]:
    return tuple(slice(start, start + size * step, step) for start, size, step in op.bounds)


def _copy(m: Machine, op: host.CopyOp) -> None:
    source, target = _memref(op.source.type), _memref(op.target.type)
    m[op.target][...] = cast(m[op.source], source.element_type, target.element_type)


def _expand(m: Machine, op: host.ExpandOp) -> np.ndarray:
    """A view whose repeated elements are one, which updates may write."""
    view = np.broadcast_to(m[op.source], op.result_type.get_shape())
    view.flags.writeable = m[op.source].flags.writeable
    return view


def _insert(m: Machine, op: host.InsertOp) -> np.ndarray:
    result = m[op.base].copy()
    result[_slices(op)] = m[op.value]
    return result


def _launch(m: Machine, op: host.LaunchOp) -> Any:
    """The body works on copies of what it writes, so that the operands stay what they were."""
    arrays = [m[value] for value in op.inputs]
    for number in op.written[: len(op.outputs) - len(op.yielded)]:
        unread = number in op.donated
        arrays[number] = _filled(m, _memref(op.inputs[number].type)) if unread else arrays[number].copy()
    arrays += [_filled(m, _memref(value.type)) for value in op.yielded]
    m.run_region(op.body.block, arrays)
    outputs = [arrays[number] for number in op.written]
    return outputs[0] if len(outputs) == 1 else outputs


def _reuse(m: Machine, op: host.ReuseOp) -> np.ndarray:
    """The old array's memory, in which nothing of the old array may be seen."""
    m[op.source][...] = _filled(m, _memref(op.result.type), op.fill)
    return m[op.source]


def _partition(m: Machine, op: host.PartitionOp) -> Any:
    outputs = m.run_region(op.body.block)
    return outputs[0] if len(outputs) == 1 else outputs


def _call(m: Machine, op: host.CallOp) -> Any:
    inputs = [(m[value], _memref(value.type).element_type) for value in op.inputs]
    results = call(op.callee.data, op.arguments.data, inputs, [_memref(value.type) for value in op.outputs])
    return results[0] if len(results) == 1 else results


def _call_out(m: Machine, op: host.CallOutOp) -> None:
    inputs = [(m[value], _memref(value.type).element_type) for value in op.inputs]
    m[op.out][...] = call(op.callee.data, op.arguments.data, inputs, [_memref(op.out.type)])[0]


HANDLERS: dict[type, Handler] = {
    host.AllocOp: _alloc,
    DimOp: lambda m, op: m[op.source].shape[op.dim.data],
    ExtentOp: lambda m, op: m.extent(op.extent),
    host.ReshapeOp: lambda m, op: m[op.source].reshape(op.result_type.get_shape()),
    host.PermuteOp: lambda m, op: np.transpose(m[op.source], op.order),
    host.SliceOp: lambda m, op: m[op.source][_slices(op)],
    host.ExpandOp: _expand,
    host.CopyOp: _copy,
    host.InsertOp: _insert,
    host.LaunchOp: _launch,
    host.CallOp: _call,
    host.CallOutOp: _call_out,
    host.ReuseOp: _reuse,
    host.FreeOp: lambda m, op: None,
    host.PartitionOp: _partition,
}
