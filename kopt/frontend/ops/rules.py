"""How elementwise operations compute: torch's promotion, in f32 or wider, one rounding at the end.

A rule says what comes out, of a formula over `LaneValue`s in the compute type:

* ``same``: the promoted type; ``real``: the same, integers as floats; ``bits``: integers and booleans only;
* ``test``: gives booleans; ``rounded``: the promoted type. Both take operands in the promoted type, a number too: a
  bf16 value is compared with what the number is in bf16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.frontend.broadcasting import broadcast, cast, common_dims
from kopt.frontend.dtypes import ARRAY, NUMBER, SCALAR, compute_dtype, float_dtype, number_dtype, promote
from kopt.frontend.lanes import LaneValue
from kopt.frontend.state import unsupported
from kopt.frontend.values import DeviceTensor, Index, as_tensor, counted, full_tensor, is_number, scalar_tensor

Formula = Callable[..., LaneValue]


def result_dtype(operands: tuple[Any, ...]) -> torch.dtype:
    """torch's promoted dtype of device values and numbers."""
    keys = []
    for value in operands:
        if isinstance(value, DeviceTensor):
            keys.append((ARRAY if value.rank else SCALAR, value.dtype))
        elif isinstance(value, Index):
            keys.append((NUMBER, torch.int64))
        elif is_number(value):
            keys.append((NUMBER, number_dtype(value)))
        else:
            tensor = as_tensor(value)
            keys.append((ARRAY if tensor.rank else SCALAR, tensor.dtype))
    if all(isinstance(value, Index) for value in operands):
        return torch.int32
    return promote(tuple(keys))


def convert(value: Any, dtype: torch.dtype) -> DeviceTensor:
    """A value in a dtype; numbers become scalars of it at once."""
    if is_number(value):
        return full_tensor(value, (), dtype)
    if isinstance(value, Index) and not dtype.is_floating_point and dtype != torch.bool:
        return scalar_tensor(value, dtype)
    return cast(as_tensor(value), dtype)


def aligned(operands: tuple[Any, ...], dtype: torch.dtype) -> list[DeviceTensor]:
    """Operands in one dtype and over the same dimensions."""
    tensors = [value if is_number(value) else as_tensor(value) for value in operands]
    dims = common_dims([t for t in tensors if isinstance(t, DeviceTensor)] or [full_tensor(0, (), dtype)])
    return [
        full_tensor(v, dims, dtype) if not isinstance(v, DeviceTensor) else broadcast(cast(v, dtype), dims)
        for v in _early(operands, tensors, dtype)
    ]


def _early(operands: tuple[Any, ...], tensors: list[Any], dtype: torch.dtype) -> list[Any]:
    """Loop numbers straight in the wanted integer dtype."""
    return [convert(o, dtype) if isinstance(o, Index) else t for o, t in zip(operands, tensors, strict=True)]


def _rounded(rule: str, value: Any, promoted: torch.dtype) -> Any:
    """Blocks of integers as the floats that they are promoted to, before anything is computed; scalars by the rule."""
    if rule in ("test", "rounded") and promoted.is_floating_point and compute_dtype(promoted) != promoted:
        return convert(value, promoted)
    if not isinstance(value, DeviceTensor) or not value.rank or value.dtype.is_floating_point:
        return value
    return cast(value, promoted) if promoted.is_floating_point else value


def apply(rule: str, formula: Formula, operands: tuple[Any, ...], *extra: Any, **options: Any) -> DeviceTensor:
    """One elementwise operation on operands that broadcast."""
    operands = tuple(map(counted, operands))
    if not any(isinstance(value, DeviceTensor) for value in operands):
        operands = tuple(value if is_number(value) else as_tensor(value) for value in operands)
    promoted = result_dtype(operands)
    result = float_dtype(promoted) if rule == "real" else promoted
    compute = compute_dtype(result)
    if rule == "bits" and compute.is_floating_point:
        unsupported(f"bitwise operations need integers or booleans, found {promoted}", id="dtype")
    operands = tuple(_rounded(rule, value, promoted) for value in operands)
    lanes = [LaneValue(value.ssa) for value in aligned(operands, compute)]
    out = DeviceTensor(formula(*lanes, *extra, **options).ssa)
    return out if rule == "test" else cast(out, result)


def op(name: str) -> Formula:
    """The formula of one op."""
    return lambda x, *others: x.op(name, *others)


def row(rule: str, formula: Formula, arity: int) -> Callable[..., DeviceTensor]:
    """An entry of a table: an operation on as many operands, with torch's arguments."""

    def operation(*args: Any, **kwargs: Any) -> DeviceTensor:
        operands, extra, options = _arguments(arity, args, kwargs)
        return apply(rule, formula, operands, *extra, **options)

    return operation


_NAMES = ("input", "other", "end", "weight")


def _arguments(arity: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Tensor operands, further positional arguments, options."""
    kwargs.pop("inplace", None)
    if kwargs.pop("out", None) is not None:
        unsupported("'out=' is not supported on device values", "assign the result", id="torch-function")
    if len(args) < arity:
        args = (*args, *(kwargs.pop(name) for name in _NAMES if name in kwargs))
    if len(args) < arity:
        unsupported(f"expected {arity} operands, found {len(args)}", id="operand")
    return args[:arity], args[arity:], kwargs


def truth(value: Any) -> DeviceTensor:
    """A value as booleans."""
    tensor = as_tensor(value)
    return tensor if tensor.dtype == torch.bool else apply("test", op("ne"), (tensor, 0))


def are_booleans(values: tuple[Any, ...]) -> bool:
    """Whether all values are booleans."""
    return all(
        value.dtype == torch.bool if isinstance(value, DeviceTensor) else value is True or value is False
        for value in values
    )
