"""How each ATen operator on host tensors is recorded: views, allocations, copies, and calls of everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves, tree_map
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, FloatAttr, IntegerAttr, NoneAttr, StringAttr, UnitAttr, f64, i64
from xdsl.ir import Attribute

from kopt import dtypes as kopt_dtypes
from kopt.dialects import host as ir
from kopt.dialects.host.operators import problem
from kopt.frontend import collectives
from kopt.frontend.dtypes import element_type
from kopt.frontend.host import Host, HostArray, Root, Snapshot
from kopt.frontend.open_shapes import admit, as_extent, memref_type, plain_tensor, seen_tensor
from kopt.frontend.state import unsupported

Handler = Callable[[Host, Any, tuple[Any, ...], dict[str, Any]], Any]


def record(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """One operator: its shape on meta tensors, and its op in the IR."""
    values, named = tree_map(plain_tensor, (args, kwargs))
    admit(func.overloadpacket.__name__, tree_leaves((values, named)))
    return tree_map(seen_tensor, _recorded(host, func, values, named))


def _recorded(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = func.overloadpacket.__name__
    if name == "equal":
        return _equal(host, *args)
    if name == "_local_scalar_dense":
        return host.value_of(args[0], lambda t: t.item())
    args, kwargs = tree_map(lambda v: host.meta(v) if isinstance(v, torch.Tensor) else v, (args, kwargs))
    if "device" in kwargs:
        kwargs["device"] = torch.device("meta")
    handler = collectives.handler_of(func) or _HANDLERS.get(name)
    if handler is not None:
        return handler(host, func, args, kwargs)
    if name.endswith("_") and not name.endswith("__"):
        return _in_place(host, func, args, kwargs)
    return _call(host, func, args, kwargs)


def _equal(host: Host, left: torch.Tensor, right: torch.Tensor) -> bool:
    """``torch.equal``: whether two tensors have one shape and the same elements, read from both."""
    if left.shape != right.shape:
        return False
    same = _recorded(host, torch.ops.aten.eq.Tensor, (left, right), {})
    return bool(host.value_of(_recorded(host, torch.ops.aten.all.default, (same,), {}), lambda t: t.item()))


def _recipe(host: Host, func: Any, args: Any, kwargs: Any, part: int | None = None) -> Any:
    """How to compute the result from real arguments, or None where an operand has no such way."""
    arrays = [host.array(v) for v in _tensors((args, kwargs))]
    if any(a.recipe is None for a in arrays):
        return None
    kwargs = {k: v for k, v in kwargs.items() if k not in ("device", "layout", "pin_memory")}

    def compute(data: Any) -> Any:
        real_args, real_kwargs = tree_map(
            lambda v: host.array(v).recipe(data) if isinstance(v, torch.Tensor) else v,  # pyright: ignore
            (args, kwargs),
        )
        result = func(*real_args, **real_kwargs)
        return result if part is None else result[part]

    return compute


def _tensors(tree: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    tree_map(lambda v: found.append(v) if isinstance(v, torch.Tensor) else None, tree)
    return found


def _view(make: Callable[[Any, torch.Tensor, torch.Tensor, tuple[Any, ...]], Any]) -> Handler:
    """A view of the first argument; ``make(source, before, after, args)`` gives its op."""

    def handler(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before = args[0]
        after = func(*args, **kwargs)
        source = host.array(before)
        if _layout(after) == _layout(before):
            return host.track(after, source)
        recipe = _recipe(host, func, args, kwargs)
        return host.result(make(source.ssa, before, after, args), after, source.root, recipe)

    return handler


def _layout(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.dtype, tensor.shape, tensor.stride()


def _reshape(source: Any, before: torch.Tensor, after: torch.Tensor, args: Any) -> Any:
    return ir.ReshapeOp(source, memref_type(after))


def _casts(func: Any) -> bool:
    """Whether a view is of the bits in another element type."""
    return func._overloadname == "dtype"


def _bits(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The bits in another element type; pairs of 4-bit floats stay the bytes that they are stored as."""
    if str(args[1]) != "torch.float4_e2m1fn_x2":
        return _call(host, func, args, kwargs)
    return _view(_reshape)(host, torch.ops.aten.view.default, (args[0], args[0].shape), {})


def _expand(source: Any, before: torch.Tensor, after: torch.Tensor, args: Any) -> Any:
    return ir.ExpandOp(source, memref_type(after))


def _permute(order: Callable[..., list[int]]) -> Callable[..., Any]:
    def make(source: Any, before: torch.Tensor, after: torch.Tensor, args: Any) -> Any:
        rank = before.ndim
        return ir.PermuteOp(source, [d % rank for d in order(rank, *args[1:])], memref_type(after))

    return make


def _swap(rank: int, a: int = 0, b: int = 1) -> list[int]:
    order = list(range(rank))
    order[a], order[b] = order[b], order[a]
    return order


def _slice(source: Any, before: torch.Tensor, after: torch.Tensor, args: Any) -> Any:
    dim = (args[1] if len(args) > 1 else 0) % before.ndim
    start = args[2] if len(args) > 2 and args[2] is not None else 0
    step = args[4] if len(args) > 4 else 1
    extent = before.shape[dim]
    start = min(max(start + extent if start < 0 else start, 0), extent)
    return _slice_op(source, before, after, dim, start, after.shape[dim], step)


def _slice_op(
    source: Any, before: torch.Tensor, after: torch.Tensor, dim: int, start: int, size: int, step: int = 1
) -> Any:
    offsets, sizes, strides = [0] * before.ndim, list(before.shape), [1] * before.ndim
    offsets[dim], sizes[dim], strides[dim] = start, size, step
    return ir.SliceOp(source, offsets, sizes, strides, memref_type(after))


def _select(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """One row: a slice of 1, then a reshape without that dimension."""
    before, dim, index = args[:3]
    dim, index = dim % before.ndim, index % before.shape[dim]
    source = host.array(before)
    row = torch.ops.aten.slice.Tensor(before, dim, index, index + 1)
    host.result(_slice_op(source.ssa, before, row, dim, index, 1), row, source.root)
    after = func(*args)
    op = ir.ReshapeOp(host.array(row).ssa, memref_type(after))
    return host.result(op, after, source.root, _recipe(host, func, args, kwargs))


def _split(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Slices one after another."""
    before = args[0]
    dim = (kwargs.get("dim", args[2] if len(args) > 2 else 0)) % before.ndim
    parts, out, start = func(*args, **kwargs), [], 0
    source = host.array(before)
    for number, part in enumerate(parts):
        op = _slice_op(source.ssa, before, part, dim, start, part.shape[dim])
        out.append(host.result(op, part, source.root, _recipe(host, func, args, kwargs, number)))
        start += part.shape[dim]
    return out


def _unbind(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    before = args[0]
    dim = (kwargs.get("dim", args[1] if len(args) > 1 else 0)) % before.ndim
    select = torch.ops.aten.select.int
    return [_select(host, select, (before, dim, n), {}) for n in range(before.shape[dim])]


def _same(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same array as a tensor of its own: torch takes no view that is the tensor it is of."""
    after = func(*args, **kwargs)
    return after if after is args[0] else host.track(after, host.array(args[0]))


def _allocate(fill: float | int | None, position: int | None = None) -> Handler:
    """A new array; ``position`` is where the argument that fills it stands."""

    def handler(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensor = func(*args, **kwargs)
        value = fill if position is None else args[position]
        if type(value) is int and value in host.tracer.open_extents:
            host.tracer.open_extents[value][0].needed()
        recipe = _recipe(host, func, args, kwargs) if value is not None else None
        if position is not None and tensor.dtype == torch.bool:
            value = bool(value)
        return host.result(ir.AllocOp(memref_type(tensor), value), tensor, Root(), recipe)

    return handler


def _copy_of(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """clone and conversions: a new array and a copy."""
    tensor = func(*args, **kwargs)
    recipe = _recipe(host, func, args, kwargs)
    out = host.result(ir.AllocOp(memref_type(tensor)), tensor, Root(), recipe)
    host.emit(ir.CopyOp(host.ssa(args[0]), host.ssa(out)))
    return out


def _copy_into(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``copy_``."""
    target, source = args[:2]
    _write(host, source, target)
    return target


def _write(host: Host, source: torch.Tensor, target: torch.Tensor) -> None:
    """Copies one array over another, broadcasting it."""
    value = host.ssa(source)
    if torch.Tensor.size(source) != torch.Tensor.size(target):
        after = source.expand(target.shape)
        value = host.emit(ir.ExpandOp(value, memref_type(after)))
    array = host.array(target)
    array.recipe = None
    host.emit(ir.CopyOp(value, host.written(target)))


def _fill(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``fill_`` and ``zero_``: a copy of a constant."""
    target = args[0]
    value = args[1] if len(args) > 1 else 0
    if isinstance(value, torch.Tensor):
        _write(host, value, target)
        return target
    constant = host.emit(ir.AllocOp(_dense(target), bool(value) if target.dtype == torch.bool else value))
    host.array(target).recipe = None
    host.emit(ir.CopyOp(constant, host.written(target)))
    return target


def _dense(tensor: torch.Tensor) -> Any:
    from xdsl.dialects.builtin import MemRefType

    return MemRefType(element_type(tensor.dtype), tuple(map(as_extent, torch.Tensor.size(tensor))))


def _in_place(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``x.add_(y)`` as a call and a copy."""
    packet = getattr(torch.ops.aten, func.overloadpacket.__name__[:-1], None)
    found = [] if packet is None else [getattr(packet, name) for name in packet.overloads()]
    overload = next((each for each in found if _types(each) == _types(func)), None)
    if overload is None:
        unsupported(f"the in-place operator {func} is not supported on the host", id="in-place")
    _write(host, _call(host, overload, args, kwargs), args[0])
    return args[0]


def _types(overload: Any) -> list[str]:
    """What an operator takes: ``pow_.Scalar`` what ``pow.Tensor_Scalar`` does, and not what ``pow.Scalar`` does."""
    return [str(argument.type) for argument in overload._schema.arguments]


def _call(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Any other operator: ``host.call`` by its ATen name."""
    results = func(*args, **kwargs)
    outputs = results if isinstance(results, tuple | list) else [results]
    if not any(isinstance(r, torch.Tensor) for r in outputs):
        return results
    if not all(isinstance(r, torch.Tensor) for r in outputs):
        unsupported(f"the operator {func} is not supported on the host", id="host-side")
    if (message := problem(str(func))) is not None:
        unsupported(message)
    operands: list[Any] = []
    values, keywords = _in_order(func, args, kwargs)
    arguments = [_argument(v, host, operands) for v in values]
    op = ir.CallOp(str(func), operands, arguments, [_dense(r) for r in outputs], keywords)
    host.emit(op)
    tracked = []
    for number, (value, tensor) in enumerate(zip(op.results, outputs, strict=True)):
        if not tensor.is_contiguous():
            tensor = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
        part = None if outputs[0] is results else number
        array = HostArray(value, Root(), _recipe(host, func, args, kwargs, part), snapshot=_snapshot(host, func, args))
        tracked.append(host.track(tensor, array))
    return tracked[0] if outputs[0] is results or not isinstance(results, tuple | list) else type(results)(tracked)


def _snapshot(host: Host, func: Any, args: tuple[Any, ...]) -> Snapshot | None:
    """Of what torch gives as a view, its state: the call makes a copy."""
    aliases = [result.alias_info for result in func._schema.returns]
    if not any(alias is not None and not alias.is_write for alias in aliases) or not isinstance(args[0], torch.Tensor):
        return None
    source = host.array(args[0])
    before = source.snapshot
    return before or Snapshot(func.overloadpacket.__name__, source.root, source.root.writes)


def _as_strided(host: Host, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A new array, where it shows elements between those of its source only: nobody sees those; else a call."""
    source, after = args[0], func(*args, **kwargs)
    whole = source._base is None and source.numel() < 1 << 24
    if whole and not np.isin(_places(after), _places(source)).any():
        return host.result(ir.AllocOp(_dense(after)), torch.empty_like(after, device="meta"), Root())
    return _call(host, func, args, kwargs)


def _places(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor's elements in its storage."""
    places = np.array([tensor.storage_offset()])
    for extent, stride in zip(tensor.shape, tensor.stride(), strict=True):
        places = np.add.outer(places, np.arange(extent) * stride).ravel()
    return places


_DROPPED = {"device", "layout", "pin_memory", "memory_format", "generator"}


def _in_order(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """The arguments in the schema's order, up to the last that is not its default; placement is dropped.

    And the names of those at the end that torch takes by name only.
    """
    schema = [a for a in func._schema.arguments if a.name not in _DROPPED]
    values = [
        args[n] if n < len(args) else kwargs.get(a.name, a.default_value if a.has_default_value() else None)
        for n, a in enumerate(schema)
    ]
    while values and len(values) > len(args) and schema[len(values) - 1].name not in kwargs:
        values.pop()
    return values, [a.name for a in schema[: len(values)] if a.kwarg_only]


def _argument(value: Any, host: Host, operands: list[Any]) -> Attribute:
    if isinstance(value, torch.Tensor):
        operands.append(host.ssa(value))
        return UnitAttr()
    if value is None:
        return NoneAttr()
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, int):
        return IntegerAttr(int(value), i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if isinstance(value, torch.dtype):
        return StringAttr(kopt_dtypes.BY_TORCH[str(value).removeprefix("torch.")].spec)
    if isinstance(value, list | tuple):
        return ArrayAttr([_argument(v, host, operands) for v in value])
    return StringAttr(str(value))


_HANDLERS: dict[str, Handler] = {
    "view": lambda host, func, *call: (_bits if _casts(func) else _view(_reshape))(host, func, *call),
    **{name: _view(_reshape) for name in ("_unsafe_view", "_reshape_alias", "unsqueeze", "squeeze")},
    "transpose": _view(_permute(_swap)),
    "permute": _view(_permute(lambda rank, order: list(order))),
    "t": _view(_permute(lambda rank: _swap(rank) if rank > 1 else list(range(rank)))),
    "slice": _view(_slice),
    "expand": _view(_expand),
    "select": _select,
    "split": _split,
    "split_with_sizes": _split,
    "unbind": _unbind,
    "as_strided": _as_strided,
    **dict.fromkeys(("alias", "detach", "lift_fresh", "lift", "positive"), _same),
    **{name: _allocate(None) for name in ("empty", "empty_like", "empty_strided", "new_empty", "empty_permuted")},
    "new_empty_strided": _allocate(None),
    **{name: _allocate(0) for name in ("zeros", "zeros_like", "new_zeros")},
    **{name: _allocate(1) for name in ("ones", "ones_like", "new_ones")},
    "full": _allocate(None, 1),
    "full_like": _allocate(None, 1),
    "new_full": _allocate(None, 2),
    "scalar_tensor": _allocate(None, 0),
    "clone": _copy_of,
    "_to_copy": _copy_of,
    "copy_": _copy_into,
    "fill_": _fill,
    "zero_": _fill,
}
