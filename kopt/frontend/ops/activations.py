"""Activation functions, and the inverse of one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kopt.frontend.lanes import LaneValue
from kopt.frontend.ops.binary import divide
from kopt.frontend.ops.bounds import at_least, at_most
from kopt.frontend.ops.rules import Formula, apply, op, row
from kopt.frontend.ops.unary import absolute
from kopt.frontend.values import DeviceTensor, full_tensor


def _gelu(x: LaneValue, approximate: str = "none") -> LaneValue:
    if approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return x * 0.5 * (inner.tanh() + 1.0)
    return x * 0.5 * ((x * math.sqrt(0.5)).erf() + 1.0)


def _softplus(x: LaneValue, beta: float = 1, threshold: float = 20) -> LaneValue:
    scaled = x * beta
    return (scaled > threshold).where(x, scaled.exp().log1p() / beta)


def _logsigmoid(x: LaneValue) -> LaneValue:
    return x.minimum(0.0) - (-x.abs()).exp().log1p()


def _elu(x: LaneValue, alpha: float = 1.0) -> LaneValue:
    return (x > 0.0).where(x, x.expm1() * alpha)


def _celu(x: LaneValue, alpha: float = 1.0) -> LaneValue:
    return (x > 0.0).where(x, (x * (1.0 / alpha)).expm1() * alpha)


def _selu(x: LaneValue) -> LaneValue:
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return (x > 0.0).where(x * scale, x.expm1() * (scale * alpha))


def _leaky_relu(x: LaneValue, negative_slope: float = 0.01) -> LaneValue:
    return (x > 0.0).where(x, x * negative_slope)


def _mish(x: LaneValue) -> LaneValue:
    return x * _softplus(x).tanh()


def _softsign(input: Any) -> DeviceTensor:
    """``x / (abs(x) + 1)``, each step rounded to the dtype, in which integers wrap, as torch does it."""
    return divide(input, apply("same", lambda x: x + 1, (absolute(input),)))


def _tanhshrink(input: Any) -> DeviceTensor:
    """``x - tanh(x)``, each step rounded to the dtype, as torch does it."""
    return apply("same", op("sub"), (input, apply("real", op("tanh"), (input,))))


def logit(input: Any, eps: float | None = None) -> DeviceTensor:
    """``log(x / (1 - x))``, each step rounded to the dtype, as torch does it."""
    x = apply("real", lambda x: x, (input,))
    if eps is not None:
        low = full_tensor(eps, (), x.dtype)
        x = apply("same", lambda x, a, b: at_most(at_least(x, a), b), (x, low, _from_one(low)))
    return apply("real", op("log"), (divide(x, _from_one(x)),))


def _from_one(x: DeviceTensor) -> DeviceTensor:
    return apply("same", lambda x: 1.0 - x, (x,))


_FORMULAS: dict[str, Formula] = {
    "sigmoid": op("sigmoid"),
    "silu": lambda x: x / ((-x).exp() + 1.0),
    "gelu": _gelu,
    "softplus": _softplus,
    "logsigmoid": _logsigmoid,
    "elu": _elu,
    "celu": _celu,
    "selu": _selu,
    "leaky_relu": _leaky_relu,
    "mish": _mish,
    "hardswish": lambda x: x * (x + 3.0).maximum(0.0).minimum(6.0) / 6.0,
    "hardsigmoid": lambda x: (x + 3.0).maximum(0.0).minimum(6.0) / 6.0,
}

TABLE: dict[str, Callable[..., Any]] = {
    **{name: row("real", formula, 1) for name, formula in _FORMULAS.items()},
    "logit": logit,
    "softsign": _softsign,
    "tanhshrink": _tanhshrink,
}
