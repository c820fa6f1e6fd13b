"""``hl.reduce`` and ``hl.associative_scan``: by one operation of the table, or by a function of the kernel's own.

The function is recorded once, on scalars; narrow floats are combined in f32, as by torch's own reductions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Block, Region

from kopt.dialects import tile
from kopt.dialects.tile import COMBINING_OPS
from kopt.frontend import calls
from kopt.frontend.broadcasting import broadcast, cast, common_dims
from kopt.frontend.dtypes import compute_dtype
from kopt.frontend.ops.reductions import combine, dims_of
from kopt.frontend.ops.scans import recorded, scan, scan_by
from kopt.frontend.ops.shapes import keep_dims, positive_dim
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor

#: The combination of the tables that an operation on two scalars is.
KINDS = {op: kind for kind, op in COMBINING_OPS.items()}


def reduce_call(
    combine_fn: Any, input_tensor: Any, dim: int | None = None, other: Any = 0, keep_dims: bool = False
) -> Any:
    """``hl.reduce``: lanes outside their ranges take no part, so ``other`` is not needed."""
    values, unpack = _operands(input_tensor)
    function = _recorded(combine_fn, values, not unpack)
    kind = _kind(function)
    dims = dims_of(values[0], dim)
    if kind is not None:
        results = [combine(kind, values[0], dims)]
    else:
        results = _reduced(function, values, dims)
    return _given(results, input_tensor, unpack, dims if keep_dims else ())


def associative_scan(combine_fn: Any, input_tensor: Any, dim: int, reverse: bool = False, **_: Any) -> Any:
    """``hl.associative_scan``, and the one of torch."""
    values, unpack = _operands(input_tensor)
    at = positive_dim(values[0], dim)
    function = _recorded(combine_fn, values, not unpack)
    kind = _kind(function)
    if kind is not None:
        return scan(kind, input_tensor, at, as_tensor(input_tensor).dtype, reverse)
    return _given(scan_by(function, values, at, reverse), input_tensor, unpack, ())


def _operands(given: Any) -> tuple[list[DeviceTensor], bool]:
    """The tensors over their common dimensions, in the dtypes they are combined in; whether it was one tensor."""
    unpack = not isinstance(given, tuple | list)
    values = [as_tensor(value) for value in ([given] if unpack else given)]
    if not values or not values[0].rank:
        unsupported(
            "lanes of a tensor are combined along one of its dimensions, found a scalar or nothing", id="shapes"
        )
    dims = common_dims(values)
    return [broadcast(cast(value, compute_dtype(value.dtype)), dims) for value in values], unpack


def _recorded(combine_fn: Any, values: Sequence[DeviceTensor], tuples: bool) -> Block:
    """The kernel's function, which takes two tensors, two tuples, or the tensors of both tuples one by one."""
    count = len(values)
    parameters = _parameters(combine_fn)
    if tuples and len(parameters) != 2 * count and (count > 1 or len(parameters) == 2):
        names = [f"{side}{number}" for side in (*parameters, "left", "right")[:2] for number in range(count)]
        call = lambda *args: calls.call(combine_fn, tuple(args[:count]), tuple(args[count:]))  # noqa: E731
    else:
        names = parameters
        call = lambda *args: calls.call(combine_fn, *args)  # noqa: E731

    def listed(*args: DeviceTensor) -> Sequence[Any]:
        result = call(*args)
        return result if isinstance(result, tuple | list) else (result,)

    return recorded(listed, values, names)


def _parameters(function: Any) -> list[str]:
    """The names of a function's positional parameters; none where Python cannot tell."""
    inner = getattr(function, "fn", function)
    try:
        found = inspect.signature(inner).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in found if parameter.kind in kinds]


def _kind(function: Block) -> str | None:
    """The combination of the tables that a function is, or None."""
    op, *rest = function.ops
    whole = len(function.args) == 2 and len(rest) == 1 and set(op.operands) == set(function.args)
    return KINDS.get(op.name.removeprefix("tile.")) if whole else None


def _reduced(function: Block, values: Sequence[DeviceTensor], dims: Sequence[int]) -> list[DeviceTensor]:
    """One reduction after another, from the last dimension."""
    region = Region(function)
    for dim in reversed(dims):
        values = _emitted(tile.AssociativeReduceOp([value.ssa for value in values], dim, region.clone()))
    return list(values)


def _emitted(op: tile.AssociativeOp) -> list[DeviceTensor]:
    current().append(op)
    return [DeviceTensor(result) for result in op.results]


def _given(results: Sequence[DeviceTensor], inputs: Any, unpack: bool, kept: Sequence[int]) -> Any:
    """Results in the inputs' dtypes, one or a tuple as the inputs were; with ``kept`` dimensions as ones."""
    sources = [as_tensor(value) for value in ([inputs] if unpack else inputs)]
    narrow = [cast(result, source.dtype) for result, source in zip(results, sources, strict=True)]
    if kept:
        whole = broadcast(sources[0], common_dims(sources))
        narrow = [keep_dims(result, whole, kept) for result in narrow]
    return narrow[0] if unpack else tuple(narrow)


def torch_functions() -> dict[Any, Callable[..., Any]]:
    """torch's own names of these."""
    from torch._higher_order_ops import associative_scan as theirs

    return {theirs: lambda combine_fn, xs, dim, reverse=False, **_: associative_scan(combine_fn, xs, dim, reverse)}
