"""Arithmetic, comparisons, logic and choices: operations on two or three operands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from kopt.dialects import tile
from kopt.frontend.accumulating import without_effect
from kopt.frontend.broadcasting import broadcast, cast, common_dims
from kopt.frontend.lanes import LaneValue
from kopt.frontend.ops.rules import Formula, apply, are_booleans, convert, op, result_dtype, row, truth
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, counted, full_tensor, is_number


def _hypot(x: LaneValue, y: LaneValue) -> LaneValue:
    """``sqrt(x * x + y * y)``, without squares that leave the range."""
    x, y = x.abs(), y.abs()
    large = x.maximum(y)
    ratio = large.eq(0.0).where(0.0, x.minimum(y) / large)
    return (x.eq(math.inf) | y.eq(math.inf)).where(math.inf, large * (ratio * ratio + 1.0).sqrt())


def _xlogy(x: LaneValue, y: LaneValue) -> LaneValue:
    return (x.eq(0.0) & ~y.isnan()).where(0.0, x * y.log())


def _scaled(name: str) -> Formula:
    """``x + alpha * y`` and the like."""

    def formula(x: LaneValue, y: LaneValue, alpha: float = 1) -> LaneValue:
        return x.op(name, y if alpha == 1 else y * alpha)

    return formula


def _logaddexp(x: LaneValue, y: LaneValue) -> LaneValue:
    apart = x.eq(y).where(0.0, x - y)  # equal infinities are not apart
    return x.maximum(y) + (-apart.abs()).exp().log1p()


_BINARY_SAME = {
    "add": _scaled("add"),
    "sub": _scaled("sub"),
    "rsub": lambda x, y, alpha=1: _scaled("sub")(y, x, alpha),
    "mul": op("mul"),
    "floor_divide": op("floordiv"),
    "remainder": op("mod"),
    "fmod": op("rem"),
    "maximum": op("maximum"),
    "minimum": op("minimum"),
}
#: The same of booleans, where torch has them.
_OF_BOOLEANS = {"add": "or", "mul": "and", "maximum": "or", "minimum": "and"}
_BINARY_REAL = {
    "atan2": op("atan2"),
    "copysign": op("copysign"),
    "logaddexp": _logaddexp,
    "hypot": _hypot,
    "xlogy": _xlogy,
}
_TESTS = {name: op(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
_BITS = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
_SHIFTS = {"bitwise_left_shift": "shl", "bitwise_right_shift": "shr"}


def _logical(name: str) -> Callable[..., DeviceTensor]:
    return lambda *values: apply("bits", op(name), tuple(truth(v) for v in values))


def same(name: str) -> Callable[..., DeviceTensor]:
    """A binary operation in the promoted type, which booleans may do as logic."""
    rule = "rounded" if name in ("remainder", "fmod") else "same"
    general, of_booleans = row(rule, _BINARY_SAME[name], 2), _OF_BOOLEANS.get(name)

    def operation(*args: Any, **kwargs: Any) -> DeviceTensor:
        if kwargs.keys() <= {"alpha"} and len(args) == 2 and are_booleans(args):
            if of_booleans is None:
                unsupported(
                    f"torch has no '{name}' of booleans",
                    "convert one to an integer, or use &, | and ^",
                    id="torch-function",
                )
            kept = bool(kwargs.get("alpha", True))
            return apply("bits", lambda x, y: x.op(of_booleans, y if kept else y & False), args)
        if len(args) >= 2 and all(isinstance(value, DeviceTensor) for value in args[:2]):
            args = (*without_effect(name, args[0], args[1]), *args[2:])
        return general(*args, **kwargs)

    return operation


def _float_extreme(name: str) -> Callable[..., DeviceTensor]:
    """fmax and fmin, which prefer numbers to NaN; integers have none."""
    floats, others = row("same", op(name), 2), same({"fmax": "maximum", "fmin": "minimum"}[name])

    def operation(input: Any, other: Any) -> DeviceTensor:
        of_floats = result_dtype((input, other)).is_floating_point
        return (floats if of_floats else others)(input, other)

    return operation


def _double(value: Any) -> Any:
    return value if is_number(value) else cast(as_tensor(value), torch.float64)


def power(input: Any, exponent: Any) -> DeviceTensor:
    """``pow``; small whole exponents are products."""
    if not is_number(exponent):
        return apply("same", op("pow"), (input, exponent))
    if exponent < 0 and not result_dtype((input, exponent)).is_floating_point:
        unsupported(f"torch has no power {exponent} of integers", f"write {float(exponent)}", id="dtype")
    if are_booleans((input,)):
        input = convert(input, result_dtype((input, exponent)))
    if exponent in (1, 2, 3):
        chain = {1: lambda x: x, 2: lambda x: x * x, 3: lambda x: x * x * x}[int(exponent)]
        rule = "real" if isinstance(exponent, float) else "same"
        return apply(rule, chain, (input,))
    if exponent in (0.5, -0.5, -1):
        return apply("real", op({0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}[exponent]), (input,))
    return apply("same", op("pow"), (input, exponent))


def divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> DeviceTensor:
    """``div`` and its rounding modes."""
    if rounding_mode is None:
        return apply("real", op("div"), (input, other))
    return apply("same", op({"floor": "floordiv", "trunc": "truncdiv"}[rounding_mode]), (input, other))


def where(condition: Any, input: Any, other: Any) -> DeviceTensor:
    """``where``: promotes the values; no computation."""
    input, other = counted(input), counted(other)
    return _chosen(condition, input, other, result_dtype((input, other)))


def masked_fill(input: Any, mask: Any, value: Any) -> DeviceTensor:
    """``masked_fill``: the value in the tensor's dtype, in which no element of the tensor is another number."""
    input = as_tensor(input)
    return _chosen(mask, counted(value), input, input.dtype)


def _chosen(condition: Any, input: Any, other: Any, dtype: torch.dtype) -> DeviceTensor:
    """One value or another, both in a dtype."""
    test = truth(condition)
    tensors = [convert(input, dtype), convert(other, dtype)]
    dims = common_dims([test, *tensors])
    values = [v if v.dims == dims else _spread(v, raw, dims) for v, raw in zip(tensors, (input, other), strict=True)]
    return DeviceTensor(current().emit(tile.SelectOp(broadcast(test, dims).ssa, values[0].ssa, values[1].ssa)))


def _spread(value: DeviceTensor, raw: Any, dims: Any) -> DeviceTensor:
    return full_tensor(raw, dims, value.dtype) if is_number(raw) else broadcast(value, dims)


def lerp(input: Any, end: Any, weight: Any) -> DeviceTensor:
    """``input + weight * (end - input)``, from the nearer end as torch does."""
    if is_number(weight):
        if abs(weight) < 0.5:
            return apply("same", lambda a, b: a + (b - a) * weight, (input, end))
        return apply("same", lambda a, b: b + (b - a) * (weight - 1), (input, end))
    near = lambda a, b, w: (w.abs() < 0.5).where(a + w * (b - a), b + (b - a) * (w - 1.0))  # noqa: E731
    return apply("same", near, (input, end, weight))


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> DeviceTensor:
    """``input + value * tensor1 * tensor2``."""
    return apply("same", lambda a, b, c: a + (b * c if value == 1 else b * value * c), (input, tensor1, tensor2))


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> DeviceTensor:
    """``input + value * tensor1 / tensor2``."""
    return apply("real", lambda a, b, c: a + (b / c if value == 1 else b * value / c), (input, tensor1, tensor2))


TABLE: dict[str, Callable[..., Any]] = {
    **{name: same(name) for name in _BINARY_SAME},
    **{name: row("real", formula, 2) for name, formula in _BINARY_REAL.items()},
    **{name: row("test", formula, 2) for name, formula in _TESTS.items()},
    **{name: row("bits", op(kind), 2) for name, kind in {**_BITS, **_SHIFTS}.items()},
    **{f"logical_{name}": _logical(name) for name in ("and", "or", "xor", "not")},
    "fmax": _float_extreme("fmax"),
    "fmin": _float_extreme("fmin"),
    "pow": power,
    "square": lambda input: power(input, 2),
    "float_power": lambda input, exponent: power(_double(input), _double(exponent)),
    "div": divide,
    "where": where,
    "masked_fill": masked_fill,
    "lerp": lerp,
    "addcmul": addcmul,
    "addcdiv": addcdiv,
}
