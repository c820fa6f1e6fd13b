"""``erfc``: ``1 - erf(x)`` has no digits left where the result is small."""

from __future__ import annotations

from xdsl.dialects.builtin import f64

from kopt.dialects.tile import TileType
from kopt.frontend.lanes import Lane

#: Of ``log(erfc(x) * exp(x * x) / t)`` in ``t = 1 / (1 + x / 2)`` for x from 0 to 10.5: interpolated at Chebyshev's
#: points, off by less than 1e-7.
_COEFFICIENTS = (
    -1.26546645,
    0.99902034,
    0.38320255,
    0.05150815,
    -0.04968027,
    0.01766405,
    -0.81681913,
    1.24870896,
    -0.72041774,
    0.15227948,
)
#: From here on the result is 0 in f32.
_LAST = 12.0


def erfc(x: Lane) -> Lane:
    """``erfc`` with an error relative to the result; in f64, which the polynomial does not reach, ``1 - erf(x)``."""
    type = x.ssa.type
    if isinstance(type, TileType) and type.element_type == f64:
        return 1.0 - x.erf()
    size = x.abs().minimum(_LAST)
    t = 1.0 / (size * 0.5 + 1.0)
    exponent = t.constant(_COEFFICIENTS[-1])
    for coefficient in reversed(_COEFFICIENTS[:-1]):
        exponent = exponent * t + coefficient
    # x * x would be rounded by more than the result may be off: the square of its leading bits is exact.
    head = (size * 16.0).floor() / 16.0
    tail = t * (exponent - (size - head) * (size + head)).exp() * (-(head * head)).exp()
    return (x < 0.0).where(2.0 - tail, tail)
