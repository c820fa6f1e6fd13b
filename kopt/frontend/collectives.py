"""Collectives on host tensors: torch's functional ones and those of its symmetric memory, as ``symm`` ops."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from kopt.dialects import symm
from kopt.dialects.symm.checks import unsupported as unsupported_reduction
from kopt.frontend.dtypes import element_type
from kopt.frontend.host import Host, HostArray, Root
from kopt.frontend.state import unsupported

#: How torch names the ways to combine the ranks' elements.
_KINDS = {"sum": "add", "max": "max", "min": "min", "avg": "avg"}


def _all_reduce(host: Host, tensor: Any, kind: str, group: str) -> Any:
    """By the algorithm that the import is told, where it can combine such elements; else by the library."""
    return _all_reduce_by(host.all_reduce, host, tensor, kind, group, strict=False)


def _all_reduce_in(algorithm: str) -> Callable[..., Any]:
    """The operators of symmetric memory, which say how."""
    return functools.partial(_all_reduce_by, algorithm, strict=True)


def _all_reduce_by(algorithm: str | None, host: Host, tensor: Any, kind: str, group: str, strict: bool) -> Any:
    kind = _kind(kind)

    def make(value: SSAValue, type: MemRefType) -> Operation:
        problem = unsupported_reduction(kind, type)
        if problem is not None and strict:
            unsupported(f"an all-reduce by {algorithm} {problem}", id="collective")
        return symm.AllReduceOp(kind, value, host.groups[group], type, algorithm if problem is None else None)

    return _record(host, tensor, tuple(tensor.shape), make)


def _all_gather(host: Host, tensor: Any, size: int, group: str) -> Any:
    shape = (tensor.shape[0] * size, *tensor.shape[1:])
    return _record(host, tensor, shape, lambda value, type: symm.AllGatherOp(value, host.groups[group], type))


def _reduce_scatter(host: Host, tensor: Any, kind: str, size: int, group: str) -> Any:
    if _kind(kind) != "add":
        unsupported(f"reduce_scatter by '{kind}' is not supported", "reduce_scatter knows 'sum'", id="collective")
    if tensor.shape[0] % size:
        unsupported(f"reduce_scatter deals {tensor.shape[0]} rows to {size} ranks", id="collective")
    shape = (tensor.shape[0] // size, *tensor.shape[1:])
    return _record(host, tensor, shape, lambda value, type: symm.ReduceScatterOp(value, host.groups[group], type))


def _all_to_all(host: Host, tensor: Any, received: list[int], sent: list[int], group: str) -> Any:
    if len({*received, *sent}) > 1:
        unsupported(
            "all_to_all of parts of different sizes is not supported", "pad the parts to one size", id="collective"
        )
    shape = tuple(tensor.shape)
    return _record(host, tensor, shape, lambda value, type: symm.AllToAllOp(value, host.groups[group], type))


def _same(host: Host, tensor: Any) -> Any:
    """Waiting is the lowering's business: whoever reads a result reads it when it is there."""
    return tensor


def _each(one: Callable[..., Any]) -> Callable[..., Any]:
    """A collective of several tensors: one for each of them."""
    return lambda host, tensors, *rest: [one(host, tensor, *rest) for tensor in tensors]


def _given(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """All arguments in the order of the schema."""
    named = zip(func._schema.arguments, args, strict=False)
    values = {**{argument.name: value for argument, value in named}, **kwargs}
    return [values[argument.name] for argument in func._schema.arguments if argument.name in values]


def _kind(name: str) -> str:
    if name.lower() not in _KINDS:
        unsupported(
            f"combining the elements of ranks by '{name}' is not supported",
            f"known: {', '.join(_KINDS)}",
            id="collective",
        )
    return _KINDS[name.lower()]


def _record(
    host: Host, tensor: torch.Tensor, shape: tuple[int, ...], make: Callable[[Any, MemRefType], Operation]
) -> torch.Tensor:
    """A collective's op, and the new tensor that it gives."""
    type = MemRefType(element_type(tensor.dtype), shape)
    op = make(host.ssa(tensor), type)
    result = torch.empty(shape, dtype=tensor.dtype, device="meta")
    return host.track(result, HostArray(host.emit(op), Root()))


_FUNCTIONAL: dict[str, Callable[..., Any]] = {
    "all_reduce": _all_reduce,
    "all_gather_into_tensor": _all_gather,
    "reduce_scatter_tensor": _reduce_scatter,
    "all_to_all_single": _all_to_all,
    "all_reduce_coalesced": _each(_all_reduce),
    "all_gather_into_tensor_coalesced": _each(_all_gather),
    "reduce_scatter_tensor_coalesced": _each(_reduce_scatter),
    "wait_tensor": _same,
    "_wrap_tensor_autograd": _same,
}
#: By the namespace of the operator, which torch.ops.NAMESPACE.name spells, then its name.
COLLECTIVES: dict[str, dict[str, Callable[..., Any]]] = {
    "_c10d_functional": _FUNCTIONAL,
    "_c10d_functional_autograd": _FUNCTIONAL,
    "symm_mem": {
        "one_shot_all_reduce": _all_reduce_in("one_shot"),
        "multimem_one_shot_all_reduce": _all_reduce_in("multimem"),
    },
}
#: Operators of these namespaces are refused unless they are in the table: they change tensors as no call here may.
_OURS = {*COLLECTIVES, "c10d"}


def handler_of(func: Any) -> Callable[..., Any] | None:
    """How a collective is recorded; None for other operators. Refuses the collectives that are not functional."""
    if func.namespace not in _OURS:
        return None
    name = func.overloadpacket.__name__
    record = COLLECTIVES.get(func.namespace, {}).get(name)
    if record is None:
        known = "all_reduce, all_gather_tensor, reduce_scatter_tensor, all_to_all_single"
        unsupported(
            f"the collective '{name}' is not supported in a program",
            f"use torch.distributed._functional_collectives: {known}",
            id="collective",
        )
    return lambda host, func, args, kwargs: record(host, *_given(func, args, kwargs))
