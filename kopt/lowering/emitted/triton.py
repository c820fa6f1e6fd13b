"""Functions that emitted modules define for themselves where Triton has no portable spelling.

They use arithmetic that the interpreter, CUDA and AMD share (no libdevice), and give the accuracy of the element type.
Series are Taylor's, cut where f32 or f64 no longer sees the next term.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import factorial

from kopt.lowering.emitted import triton_approximations, triton_conversions, triton_powers, triton_text


def _series(variable: str, coefficients: Sequence[float]) -> str:
    """Horner's form of a polynomial, lowest coefficient first."""
    text = repr(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"{coefficient!r} + {variable} * ({text})"
    return text


def _exp_series(terms: int) -> str:
    """``expm1(x) / x``, for ``|x| < 0.5``."""
    return _series("x", [1 / factorial(k) for k in range(1, terms + 1)])


def _atan_series(terms: int) -> str:
    """``atan(x) / x`` in ``z = x * x``, for ``|x| < tan(pi / 8)``."""
    return _series("z", [(-1) ** k / (2 * k + 1) for k in range(terms)])


#: ``tanh(x) / x`` in ``z = x * x``, for ``|x| < 0.5``.
_TANH = (1.0, -1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155925)

_SERIES = {
    "EXPM1_F32": _exp_series(8),
    "EXPM1_F64": _exp_series(15),
    "ATAN_F32": _atan_series(10),
    "ATAN_F64": _atan_series(22),
    "TANH_F32": _series("z", _TANH),
    "LOG_F32": _series("v", triton_powers.LOG),
}


@cache
def functions() -> dict[str, str]:
    """The text of each helper function, by name, in an order in which each is defined before its users."""
    text = triton_powers.TEXT + triton_text.TEXT + triton_conversions.TEXT + triton_approximations.TEXT
    for name, series in _SERIES.items():
        text = text.replace(name, series)
    bodies = [part.strip() for part in text.split("@triton.jit\n")[1:]]
    return {body[len("def ") : body.index("(")]: body for body in bodies}
