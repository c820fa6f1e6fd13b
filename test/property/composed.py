"""Functions that torch makes of others, whose rounding a difference or a sine magnifies: `noise.py` moves each step.

The result of such a function is off by more than an ulp of its own. In ``gelu(-4)`` the sum ``1 + erf(x / sqrt(2))`` is
6e-5 and its second term -1: an ulp of that is a thousandth of the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

#: Moves a result by an ulp or so.
Moved = Callable[[torch.Tensor], torch.Tensor]


def _wide(value: Any) -> Any:
    """Narrow floats as f32, in which torch computes what it rounds once."""
    narrow = isinstance(value, torch.Tensor) and value.dtype in (torch.bfloat16, torch.float16)
    return value.float() if narrow else value


def _rounded_once(formula: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    return lambda moved, *args, **kwargs: formula(moved, *map(_wide, args), **kwargs)


def _gelu(moved: Moved, x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    if approximate == "tanh":
        part = moved(moved((x + 0.044715 * x * x * x) * math.sqrt(2 / math.pi)).tanh())
    else:
        part = moved(moved(x * math.sqrt(0.5)).erf())
    return x * 0.5 * (1.0 + part.clamp(-1.0, 1.0))


def _lerp(moved: Moved, start: torch.Tensor, end: torch.Tensor, weight: Any) -> torch.Tensor:
    away, weight = moved(end - start), torch.as_tensor(weight)
    return torch.where(weight.abs() < 0.5, start + moved(weight * away), end - moved(away * moved(1 - weight)))


def _logaddexp(moved: Moved, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    larger, less = torch.maximum(x, y), moved(moved(-(x - y).abs()).exp().log1p())
    return torch.where(larger.isfinite(), larger + less, torch.logaddexp(x, y))


def _logit(moved: Moved, x: torch.Tensor, eps: float | None = None) -> torch.Tensor:
    x = x if eps is None else x.clamp(eps, 1 - eps)
    return moved(x / moved(1 - x)).log()


#: By function: what torch computes, with each step but the last one moved. Some round each step to the dtype.
COMPOSED: dict[str, Callable[..., torch.Tensor]] = {
    "tanhshrink": lambda moved, x: x - moved(x.tanh()),
    "logit": _logit,
    "sinc": lambda moved, x: torch.where(x == 0, torch.sinc(x), torch.sin(moved(x * math.pi)) / (x * math.pi)),
    "gelu": _rounded_once(_gelu),
    "lerp": _rounded_once(_lerp),
    "logaddexp": _rounded_once(_logaddexp),
    "addcmul": _rounded_once(lambda moved, x, y, z, value=1: x + moved(moved(y * z) * value)),
    "addcdiv": _rounded_once(lambda moved, x, y, z, value=1: x + moved(moved(y / z) * value)),
}
