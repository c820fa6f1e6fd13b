"""Elementwise operations: torch's promotion, compute in f32 or wider, one rounding at the end.

A row is a name, a typing rule and a formula over `Lane` values in the compute type:

* ``same``: the promoted type; ``real``: the same, integers as floats; ``test``: gives booleans;
  ``bits``: integers and booleans only; ``exact``: the type of the first operand, no computation that rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from kopt.dialects import tile
from kopt.frontend.broadcasting import broadcast, cast, common_dims
from kopt.frontend.dtypes import ARRAY, NUMBER, SCALAR, compute_dtype, float_dtype, number_dtype, promote
from kopt.frontend.lanes import Lane
from kopt.frontend.ops.erfc import erfc
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, Index, as_tensor, counted, full_tensor, is_number, scalar_tensor

Formula = Callable[..., Lane]
_EMPTY = ()


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
    if all(rank == NUMBER and dtype == torch.int64 for rank, dtype in keys):
        return torch.int32
    return promote(tuple(keys))


def convert(value: Any, dtype: torch.dtype) -> DeviceTensor:
    """A value in a dtype; numbers become scalars of it at once."""
    if is_number(value):
        return full_tensor(value, _EMPTY, dtype)
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


def apply(rule: str, formula: Formula, operands: tuple[Any, ...], *extra: Any, **options: Any) -> DeviceTensor:
    """One elementwise operation on operands that broadcast."""
    operands = tuple(map(counted, operands))
    if not any(isinstance(value, DeviceTensor) for value in operands):
        operands = tuple(value if is_number(value) else as_tensor(value) for value in operands)
    promoted = result_dtype(operands)
    result = float_dtype(promoted) if rule == "real" else promoted
    compute = compute_dtype(result)
    if rule == "bits" and compute.is_floating_point:
        unsupported(f"bitwise operations need integers or booleans, found {promoted}")
    lanes = [Lane(value.ssa) for value in aligned(operands, compute)]
    out = DeviceTensor(formula(*lanes, *extra, **options).ssa)
    return out if rule == "test" else cast(out, result)


def _row(rule: str, formula: Formula, arity: int) -> Callable[..., DeviceTensor]:
    def operation(*args: Any, **kwargs: Any) -> DeviceTensor:
        operands, extra, options = _arguments(arity, args, kwargs)
        return apply(rule, formula, operands, *extra, **options)

    return operation


_NAMES = ("input", "other", "end", "weight")


def _arguments(arity: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Tensor operands, further positional arguments, options."""
    kwargs.pop("inplace", None)
    if kwargs.pop("out", None) is not None:
        unsupported("'out=' is not supported on device values", "assign the result")
    if len(args) < arity:
        args = (*args, *(kwargs.pop(name) for name in _NAMES if name in kwargs))
    if len(args) < arity:
        unsupported(f"expected {arity} operands, found {len(args)}")
    return args[:arity], args[arity:], kwargs


def _op(name: str) -> Formula:
    return lambda x, *others: x.op(name, *others)


def _gelu(x: Lane, approximate: str = "none") -> Lane:
    if approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return x * 0.5 * (inner.tanh() + 1.0)
    return x * 0.5 * ((x * math.sqrt(0.5)).erf() + 1.0)


def _softplus(x: Lane, beta: float = 1, threshold: float = 20) -> Lane:
    scaled = x * beta
    return (scaled > threshold).where(x, scaled.exp().log1p() / beta)


def _logsigmoid(x: Lane) -> Lane:
    return x.minimum(0.0) - (-x.abs()).exp().log1p()


def _hardtanh(x: Lane, min_val: float = -1.0, max_val: float = 1.0) -> Lane:
    return x.maximum(min_val).minimum(max_val)


def _scaled(name: str) -> Formula:
    """``x + alpha * y`` and the like."""

    def formula(x: Lane, y: Lane, alpha: float = 1) -> Lane:
        return x.op(name, y if alpha == 1 else y * alpha)

    return formula


def _logaddexp(x: Lane, y: Lane) -> Lane:
    apart = x.eq(y).where(0.0, x - y)  # equal infinities are not apart
    return x.maximum(y) + (-apart.abs()).exp().log1p()


def _elu(x: Lane, alpha: float = 1.0) -> Lane:
    return (x > 0.0).where(x, x.expm1() * alpha)


def _leaky_relu(x: Lane, negative_slope: float = 0.01) -> Lane:
    return (x > 0.0).where(x, x * negative_slope)


def _logit(x: Lane, eps: float | None = None) -> Lane:
    inside = x if eps is None else x.maximum(eps).minimum(1.0 - eps)
    return (inside / (1.0 - inside)).log()


def _mish(x: Lane) -> Lane:
    return x * _softplus(x).tanh()


_UNARY_REAL = {
    "exp": _op("exp"),
    "exp2": _op("exp2"),
    "expm1": _op("expm1"),
    "log": _op("log"),
    "log2": _op("log2"),
    "log10": _op("log10"),
    "log1p": _op("log1p"),
    "sqrt": _op("sqrt"),
    "rsqrt": _op("rsqrt"),
    "reciprocal": _op("reciprocal"),
    "sin": _op("sin"),
    "cos": _op("cos"),
    "tan": _op("tan"),
    "asin": _op("asin"),
    "acos": _op("acos"),
    "atan": _op("atan"),
    "sinh": _op("sinh"),
    "cosh": _op("cosh"),
    "tanh": _op("tanh"),
    "asinh": _op("asinh"),
    "acosh": _op("acosh"),
    "atanh": _op("atanh"),
    "erf": _op("erf"),
    "erfc": erfc,
    "sigmoid": _op("sigmoid"),
    "silu": lambda x: x * x.sigmoid(),
    "gelu": _gelu,
    "softplus": _softplus,
    "logsigmoid": _logsigmoid,
    "elu": _elu,
    "leaky_relu": _leaky_relu,
    "mish": _mish,
    "hardswish": lambda x: x * (x + 3.0).maximum(0.0).minimum(6.0) / 6.0,
    "hardsigmoid": lambda x: (x + 3.0).maximum(0.0).minimum(6.0) / 6.0,
    "softsign": lambda x: x / (x.abs() + 1.0),
    "tanhshrink": lambda x: x - x.tanh(),
    "deg2rad": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "logit": _logit,
    "sinc": lambda x: x.eq(0.0).where(1.0, (x * math.pi).sin() / (x * math.pi)),
}
_UNARY_SAME = {
    "neg": _op("neg"),
    "sign": _op("sign"),
    "sgn": _op("sign"),
    "relu": lambda x: x.maximum(0),
    "relu6": lambda x: x.maximum(0).minimum(6),
    "hardtanh": _hardtanh,
    "positive": lambda x: x,
}
_BINARY_SAME = {
    "add": _scaled("add"),
    "sub": _scaled("sub"),
    "rsub": lambda x, y, alpha=1: _scaled("sub")(y, x, alpha),
    "mul": _op("mul"),
    "floor_divide": _op("floordiv"),
    "remainder": _op("mod"),
    "fmod": _op("rem"),
    "maximum": _op("maximum"),
    "minimum": _op("minimum"),
    "hypot": lambda x, y: (x * x + y * y).sqrt(),
}
#: The same of booleans, where torch has them.
_OF_BOOLEANS = {"add": "or", "mul": "and", "maximum": "or", "minimum": "and"}
_BINARY_REAL = {
    "atan2": _op("atan2"),
    "copysign": _op("copysign"),
    "logaddexp": _logaddexp,
    "xlogy": lambda x, y: x.eq(0.0).where(0.0, x * y.log()),
}
_TESTS = {name: _op(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
_BITS = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
_SHIFTS = {"bitwise_left_shift": "shl", "bitwise_right_shift": "shr"}


def truth(value: Any) -> DeviceTensor:
    """A value as booleans."""
    tensor = as_tensor(value)
    return tensor if tensor.dtype == torch.bool else apply("test", _op("ne"), (tensor, 0))


def _logical(name: str) -> Callable[..., DeviceTensor]:
    return lambda *values: apply("bits", _op(name), tuple(truth(v) for v in values))


def _rounding(name: str) -> Callable[..., DeviceTensor]:
    """floor and its kin: integers stay as they are."""

    def operation(input: Any, *, decimals: int = 0) -> DeviceTensor:
        tensor = as_tensor(input)
        if not tensor.dtype.is_floating_point:
            return tensor
        if not decimals:
            return apply("same", _op(name), (tensor,))
        scale = 10.0**decimals
        return apply("same", lambda x: (x * scale).op(name) / scale, (tensor,))

    return operation


def _float_test(formula: Formula, otherwise: bool) -> Callable[..., DeviceTensor]:
    """Questions about floats; integers have one answer."""

    def operation(input: Any) -> DeviceTensor:
        tensor = as_tensor(input)
        if not tensor.dtype.is_floating_point:
            return full_tensor(otherwise, tensor.dims, torch.bool)
        return apply("test", formula, (tensor,))

    return operation


def _same(name: str) -> Callable[..., DeviceTensor]:
    """A binary operation in the promoted type, which booleans may do as logic."""
    general, of_booleans = _row("same", _BINARY_SAME[name], 2), _OF_BOOLEANS.get(name)

    def operation(*args: Any, **kwargs: Any) -> DeviceTensor:
        if not kwargs and len(args) == 2 and _are_booleans(args):
            if of_booleans is None:
                unsupported(f"torch has no '{name}' of booleans", "convert one to an integer, or use &, | and ^")
            return apply("bits", _op(of_booleans), args)
        return general(*args, **kwargs)

    return operation


def _same_unary(name: str) -> Callable[..., DeviceTensor]:
    """A function of one number in its own type; the signs of booleans are the booleans."""
    general = _row("same", _UNARY_SAME[name], 1)
    if name not in ("sign", "sgn"):
        return general
    return lambda input: as_tensor(input) if _are_booleans((input,)) else general(input)


def _are_booleans(values: tuple[Any, ...]) -> bool:
    return all(
        value.dtype == torch.bool if isinstance(value, DeviceTensor) else value is True or value is False
        for value in values
    )


def _float_extreme(name: str) -> Callable[..., DeviceTensor]:
    """fmax and fmin, which prefer numbers to NaN; integers have none."""
    floats, others = _row("same", _op(name), 2), _same({"fmax": "maximum", "fmin": "minimum"}[name])

    def operation(input: Any, other: Any) -> DeviceTensor:
        of_floats = result_dtype((input, other)).is_floating_point
        return (floats if of_floats else others)(input, other)

    return operation


def _double(value: Any) -> Any:
    return value if is_number(value) else cast(as_tensor(value), torch.float64)


def nan_to_num(input: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> DeviceTensor:
    """``nan_to_num``: infinities become the largest numbers of the dtype."""
    tensor = as_tensor(input)
    if not tensor.dtype.is_floating_point:
        return tensor
    big = torch.finfo(tensor.dtype).max
    given = zip((nan, posinf, neginf), (0.0, big, -big), strict=True)

    def formula(x: Lane, nan: Lane, positive: Lane, negative: Lane) -> Lane:
        x = x.isnan().where(nan, x)
        x = x.eq(math.inf).where(positive, x)
        return x.eq(-math.inf).where(negative, x)

    return apply("same", formula, (tensor, *(default if value is None else value for value, default in given)))


def absolute(input: Any) -> DeviceTensor:
    """``abs``; booleans are their own."""
    tensor = as_tensor(input)
    return tensor if tensor.dtype == torch.bool else apply("same", _op("abs"), (tensor,))


def power(input: Any, exponent: Any) -> DeviceTensor:
    """``pow``; small whole exponents are products."""
    if not is_number(exponent):
        return apply("same", _op("pow"), (input, exponent))
    if _are_booleans((input,)):
        input = convert(input, result_dtype((input, exponent)))
    if exponent in (1, 2, 3):
        chain = {1: lambda x: x, 2: lambda x: x * x, 3: lambda x: x * x * x}[int(exponent)]
        rule = "real" if isinstance(exponent, float) else "same"
        return apply(rule, chain, (input,))
    if exponent in (0.5, -0.5, -1):
        return apply("real", _op({0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}[exponent]), (input,))
    return apply("same", _op("pow"), (input, exponent))


def divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> DeviceTensor:
    """``div`` and its rounding modes."""
    if rounding_mode is None:
        return apply("real", _op("div"), (input, other))
    return apply("same", _op({"floor": "floordiv", "trunc": "truncdiv"}[rounding_mode]), (input, other))


def where(condition: Any, input: Any, other: Any) -> DeviceTensor:
    """``where``: promotes the values; no computation."""
    input, other = counted(input), counted(other)
    dtype = result_dtype((input, other))
    test = truth(condition)
    tensors = [convert(input, dtype), convert(other, dtype)]
    dims = common_dims([test, *tensors])
    values = [v if v.dims == dims else _spread(v, raw, dims) for v, raw in zip(tensors, (input, other), strict=True)]
    return DeviceTensor(current().emit(tile.SelectOp(broadcast(test, dims).ssa, values[0].ssa, values[1].ssa)))


def _spread(value: DeviceTensor, raw: Any, dims: Any) -> DeviceTensor:
    return full_tensor(raw, dims, value.dtype) if is_number(raw) else broadcast(value, dims)


def clamp(input: Any, min: Any = None, max: Any = None) -> DeviceTensor:
    """``clamp`` by numbers or tensors."""
    out = input if min is None else _same("maximum")(input, min)
    return out if max is None else _same("minimum")(out, max)


def lerp(input: Any, end: Any, weight: Any) -> DeviceTensor:
    """``input + weight * (end - input)``, from the nearer end as torch does."""
    if is_number(weight):
        if abs(weight) < 0.5:
            return apply("same", lambda a, b: a + (b - a) * weight, (input, end))
        return apply("same", lambda a, b: b - (b - a) * (1 - weight), (input, end))
    near = lambda a, b, w: (w.abs() < 0.5).where(a + w * (b - a), b - (b - a) * (1.0 - w))  # noqa: E731
    return apply("same", near, (input, end, weight))


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> DeviceTensor:
    """``input + value * tensor1 * tensor2``."""
    return apply("same", lambda a, b, c: a + (b * c if value == 1 else b * value * c), (input, tensor1, tensor2))


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> DeviceTensor:
    """``input + value * tensor1 / tensor2``."""
    return apply("real", lambda a, b, c: a + (b / c if value == 1 else b * value / c), (input, tensor1, tensor2))


def to(input: Any, *args: Any, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
    """``to`` and ``type``: the dtype among the arguments, or a number's; devices do not matter here."""
    if args and isinstance(args[0], float | bool):
        dtype = torch.bool if isinstance(args[0], bool) else torch.float64
    for value in (*args, dtype):
        if isinstance(value, torch.dtype):
            return cast(as_tensor(input), value)
        if isinstance(value, DeviceTensor | torch.Tensor):
            return cast(as_tensor(input), value.dtype)
    return as_tensor(input)


def _cast_to(dtype: torch.dtype) -> Callable[..., DeviceTensor]:
    return lambda input, *_, **__: cast(as_tensor(input), dtype)


def view_as(input: DeviceTensor, dtype: torch.dtype) -> DeviceTensor:
    """The bits as another dtype of the same width."""
    from kopt.frontend.dtypes import element_type

    if dtype.itemsize != input.dtype.itemsize:
        unsupported(f"view from {input.dtype} to {dtype} changes the width", "use .to for a conversion")
    return DeviceTensor(current().emit(tile.BitcastOp(input.ssa, element_type(dtype))))


def _identity(input: Any, *_: Any, **__: Any) -> Any:
    return input


_CASTS = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "int": torch.int32,
    "long": torch.int64,
    "short": torch.int16,
    "char": torch.int8,
    "byte": torch.uint8,
    "bool": torch.bool,
}

TABLE: dict[str, Callable[..., Any]] = {
    **{name: _row("real", formula, 1) for name, formula in _UNARY_REAL.items()},
    **{name: _same_unary(name) for name in _UNARY_SAME},
    **{name: _same(name) for name in _BINARY_SAME},
    **{name: _row("real", formula, 2) for name, formula in _BINARY_REAL.items()},
    **{name: _row("test", formula, 2) for name, formula in _TESTS.items()},
    **{name: _row("bits", _op(op), 2) for name, op in _BITS.items()},
    **{name: _row("bits", _op(op), 2) for name, op in _SHIFTS.items()},
    **{name: _rounding(name) for name in ("floor", "ceil", "round", "trunc")},
    **{name: _cast_to(dtype) for name, dtype in _CASTS.items()},
    "bitwise_not": _row("bits", _op("not"), 1),
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "logical_not": _logical("not"),
    "frac": _row("same", lambda x: x - x.trunc(), 1),
    "isnan": _float_test(_op("isnan"), False),
    "isinf": _float_test(_op("isinf"), False),
    "isfinite": _float_test(lambda x: ~(x.isnan() | x.isinf()), True),
    "signbit": _row("test", lambda x: x < 0, 1),
    "abs": absolute,
    "nan_to_num": nan_to_num,
    "fmax": _float_extreme("fmax"),
    "fmin": _float_extreme("fmin"),
    "pow": power,
    "square": lambda input: power(input, 2),
    "float_power": lambda input, exponent: power(_double(input), _double(exponent)),
    "div": divide,
    "where": where,
    "clamp": clamp,
    "clamp_min": lambda input, min: clamp(input, min=min),
    "clamp_max": lambda input, max: clamp(input, max=max),
    "lerp": lerp,
    "addcmul": addcmul,
    "addcdiv": addcdiv,
    "to": to,
    "type": to,
    "type_as": to,
    "masked_fill": lambda input, mask, value: cast(where(mask, value, input), input.dtype),
    "contiguous": _identity,
    "clone": _identity,
    "detach": _identity,
    "cpu": _identity,
    "cuda": _identity,
    "item": _identity,
    "is_floating_point": lambda input: input.dtype.is_floating_point,
    "element_size": lambda input: input.dtype.itemsize,
}
