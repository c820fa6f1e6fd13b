"""What torch leaves undefined, by the function: where a result may be anything, or a zero of either sign.

The same is said of kopt in docs/targets.md, "Special values".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

_SHIFTS = frozenset(("bitwise_left_shift", "bitwise_right_shift", "lshift", "rshift", "ilshift", "irshift"))
_DIVISIONS = frozenset("floordiv floor_divide mod remainder fmod".split())
#: Which divide integers if they are to round.
_ROUNDED_DIVISIONS = frozenset(("div", "divide"))
#: Binary digits by which a product may miss the limit beyond which it is infinite, or counts as 0.
_EDGE = 0.1
_DIVISIONS_OF_THE_OTHER = frozenset(("rfloordiv", "rmod"))
_CASTS = frozenset("to type type_as int long short char byte".split())
#: Which of two zeros they give; and sums, of which order and first term differ.
_ZEROS_OF_EITHER_SIGN = frozenset(
    """
    maximum minimum fmax fmin max min amax amin aminmax clip clamp clamp_min clamp_max cummax cummin topk kthvalue
    sum mean cumsum matmul mm bmm mv dot inner addmm baddbmm linear einsum
    """.split()
)


def divisible(name: str, args: Any, kwargs: Any) -> Any:
    """Arguments of a division of integers that ends no process: those that end one are divided by 1."""
    operands = _division(name, args, kwargs)
    if operands is None or not (bad := _indivisible(*operands)).any():
        return args
    whole = torch.where(bad, 1, operands[1])
    divisor = whole.to(operands[1].dtype if isinstance(operands[1], torch.Tensor) else operands[0].dtype)
    return (divisor, *args[1:]) if name in _DIVISIONS_OF_THE_OTHER else (args[0], divisor, *args[2:])


def undefined(name: str, args: Any, kwargs: Any, result: Any) -> torch.Tensor | None:
    """Where a result is not defined, if anywhere. ``args`` are those that were given, before `divisible`."""
    if not isinstance(result, torch.Tensor) or not args:
        return None
    division = _division(name, args, kwargs)
    if division is not None:
        return _indivisible(*division).expand(result.shape)
    if _is_product(name, args):
        return _may_vanish(name, args, kwargs)
    known = next((where for names, where in _WHERE if name in names), None)
    return known(args, result) if known is not None and isinstance(args[0], torch.Tensor) else None


def free_zeros(name: str) -> bool:
    """Whether the zeros of a function's results may have either sign."""
    return name in _ZEROS_OF_EITHER_SIGN


def unnumbered(name: str, args: Any, kwargs: Any) -> torch.Tensor | None:
    """Where a result may be NaN though torch's is none: angles of two subnormal numbers, by XLA:CPU.

    And products of some of whose terms alone are too large.
    """
    if _is_product(name, args):
        return _may_overflow(name, args, kwargs)
    if name not in ("atan2", "arctan2") or len(args) < 2:
        return None
    one, other = (torch.as_tensor(side).double() for side in args[:2])
    return _is_subnormal(one) & _is_subnormal(other)


def _is_subnormal(numbers: torch.Tensor) -> torch.Tensor:
    return (numbers != 0) & (numbers.abs() < torch.finfo(torch.float32).smallest_normal)


def _is_product(name: str, args: Any) -> bool:
    """Whether floats are multiplied, some or all of a dimension."""
    return name in ("prod", "cumprod") and isinstance(args[0], torch.Tensor) and args[0].dtype.is_floating_point


def _may_vanish(name: str, args: Any, kwargs: Any) -> torch.Tensor:
    """Where a product of neighbouring terms is subnormal, though that of all may not be: it may count as 0."""
    limit = torch.finfo(torch.float64 if args[0].dtype == torch.float64 else torch.float32).smallest_normal
    return _products(name, *args, **kwargs)[0] < math.log2(limit) + _EDGE


def _may_overflow(name: str, args: Any, kwargs: Any) -> torch.Tensor:
    """Where a product of neighbouring terms is beyond the largest number, though that of all may not be."""
    return _products(name, *args, **kwargs)[1] > math.log2(torch.finfo(args[0].dtype).max) - _EDGE


def _products(
    name: str, x: torch.Tensor, dim: int | None = None, keepdim: bool = False, **kwargs: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of each result the binary logarithms of the least and the greatest product of neighbouring terms.

    The terms may be multiplied in any order. Products are differences of running sums of logarithms.
    """
    terms, axis = (x.reshape(-1) if dim is None else x).double().abs(), dim or 0
    logs = torch.where((terms > 0) & terms.isfinite(), terms, 1.0).log2()
    starts = torch.cat([torch.zeros_like(logs.sum(axis, keepdim=True)), logs.cumsum(axis)], axis)
    ends, starts = starts.narrow(axis, 1, terms.shape[axis]), starts.narrow(axis, 0, terms.shape[axis])
    least, greatest = ends - starts.cummax(axis).values, ends - starts.cummin(axis).values
    if name == "cumprod":
        return least.cummin(axis).values, greatest.cummax(axis).values
    return _least(least, axis, keepdim), -_least(-greatest, axis, keepdim)


def _least(logs: torch.Tensor, axis: int, keepdim: bool) -> torch.Tensor:
    """The least of a dimension; 0 of none."""
    return logs.amin(axis, keepdim) if logs.shape[axis] else logs.sum(axis, keepdim)


def unheld(source: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The floats that no integer of a dtype is."""
    limits, whole = torch.iinfo(dtype), source.double().trunc()
    return ~((whole >= limits.min) & (whole < float(limits.max) + 1))


def casts(source: Any, dtype: Any) -> bool:
    """Whether floats become integers."""
    if not isinstance(source, torch.Tensor) or not isinstance(dtype, torch.dtype):
        return False
    return source.dtype.is_floating_point and _is_integer(dtype)


def _division(name: str, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
    """What is divided and by what, of integers."""
    swapped = name in _DIVISIONS_OF_THE_OTHER
    rounds = swapped or name in _DIVISIONS or (name in _ROUNDED_DIVISIONS and kwargs.get("rounding_mode"))
    if not rounds or len(args) < 2:
        return None
    operands = args[1::-1] if swapped else args[:2]
    tensors = [each for each in operands if isinstance(each, torch.Tensor)]
    whole = all(_is_integer(each.dtype) if isinstance(each, torch.Tensor) else type(each) is int for each in operands)
    return operands if tensors and whole else None


def _indivisible(first: Any, second: Any) -> torch.Tensor:
    """Where the divisor is -1 and the other the lowest number of a dtype; torch itself refuses to divide by 0."""
    lowest = torch.iinfo(torch.result_type(first, second)).min
    return (torch.as_tensor(first) == lowest) & (torch.as_tensor(second) == -1)


def _shifted_out(args: Any, result: torch.Tensor) -> torch.Tensor | None:
    if result.dtype == torch.bool:
        return None
    amount = torch.as_tensor(args[1])
    return ((amount < 0) | (amount >= result.dtype.itemsize * 8)).expand(result.shape)


def _cast(args: Any, result: torch.Tensor) -> torch.Tensor | None:
    return unheld(args[0], result.dtype) if casts(args[0], result.dtype) else None


def _sign_of_nan(args: Any, result: torch.Tensor) -> torch.Tensor:
    return torch.as_tensor(args[-1]).isnan().expand(result.shape)


#: By functions: where their results are not defined.
_WHERE: tuple[tuple[frozenset[str], Callable[[Any, torch.Tensor], torch.Tensor | None]], ...] = (
    (_SHIFTS, _shifted_out),
    (_CASTS, _cast),
    (frozenset(("signbit", "copysign")), _sign_of_nan),
)


def _is_integer(dtype: torch.dtype) -> bool:
    return not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool
