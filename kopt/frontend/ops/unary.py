"""Functions of one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from kopt.frontend.lanes import LaneValue
from kopt.frontend.ops.erfc import erfc
from kopt.frontend.ops.rules import Formula, apply, are_booleans, op, row
from kopt.frontend.values import DeviceTensor, as_tensor, full_tensor


def absolute(input: Any) -> DeviceTensor:
    """``abs``; booleans are their own."""
    tensor = as_tensor(input)
    return tensor if tensor.dtype == torch.bool else apply("same", op("abs"), (tensor,))


def _rounding(name: str) -> Callable[..., DeviceTensor]:
    """floor and its kin: integers stay as they are."""

    def operation(input: Any, *, decimals: int = 0) -> DeviceTensor:
        tensor = as_tensor(input)
        if not tensor.dtype.is_floating_point:
            return tensor
        if not decimals:
            return apply("same", op(name), (tensor,))
        scale = 10.0**decimals
        return apply("same", lambda x: (x * scale).op(name) / scale, (tensor,))

    return operation


def _signbit(x: LaneValue) -> LaneValue:
    """The sign of zeros, too."""
    return (x.constant(1.0).copysign(x) if x.is_float else x) < 0


def _float_test(formula: Formula, otherwise: bool) -> Callable[..., DeviceTensor]:
    """Questions about floats; integers have one answer."""

    def operation(input: Any) -> DeviceTensor:
        tensor = as_tensor(input)
        if not tensor.dtype.is_floating_point:
            return full_tensor(otherwise, tensor.dims, torch.bool)
        return apply("test", formula, (tensor,))

    return operation


def nan_to_num(input: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> DeviceTensor:
    """``nan_to_num``: infinities become the largest numbers of the dtype."""
    tensor = as_tensor(input)
    if not tensor.dtype.is_floating_point:
        return tensor
    big = torch.finfo(tensor.dtype).max
    given = zip((nan, posinf, neginf), (0.0, big, -big), strict=True)

    def formula(x: LaneValue, nan: LaneValue, positive: LaneValue, negative: LaneValue) -> LaneValue:
        x = x.isnan().where(nan, x)
        x = x.eq(math.inf).where(positive, x)
        return x.eq(-math.inf).where(negative, x)

    return apply("same", formula, (tensor, *(default if value is None else value for value, default in given)))


def _sign(input: Any) -> DeviceTensor:
    """The sign of a number; the signs of booleans are the booleans."""
    return as_tensor(input) if are_booleans((input,)) else apply("same", op("sign"), (input,))


_REAL: dict[str, Formula] = {
    **{
        name: op(name)
        for name in """
        exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh
        atanh erf
        """.split()
    },
    "erfc": erfc,
    "deg2rad": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "sinc": lambda x: x.eq(0.0).where(1.0, (x * math.pi).sin() / (x * math.pi)),
}

TABLE: dict[str, Callable[..., Any]] = {
    **{name: row("real", formula, 1) for name, formula in _REAL.items()},
    **{name: _rounding(name) for name in ("floor", "ceil", "round", "trunc")},
    "neg": row("same", op("neg"), 1),
    "positive": row("same", lambda x: x, 1),
    "sign": _sign,
    "sgn": _sign,
    "abs": absolute,
    "frac": row("same", lambda x: x - x.trunc(), 1),
    "bitwise_not": row("bits", op("not"), 1),
    "signbit": row("test", _signbit, 1),
    "isnan": _float_test(op("isnan"), False),
    "isinf": _float_test(op("isinf"), False),
    "isfinite": _float_test(lambda x: ~(x.isnan() | x.isinf()), True),
    "nan_to_num": nan_to_num,
}
