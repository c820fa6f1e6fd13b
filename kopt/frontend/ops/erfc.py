"""``erfc``: ``1 - erf(x)`` has no digits left where the result is small.

Both polynomials are of ``log(erfc(x) * exp(x * x) / t)`` in ``t = 1 / (1 + x / 2)``, interpolated at Chebyshev's
points.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f64

from kopt.dialects.tile import TileType
from kopt.frontend.lanes import LaneValue

#: In ``t``, for x from 0 to 10.5: off by less than 1e-7.
_F32 = (
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
#: In ``u = (30 t - 13) / 11``, which is -1 to 1 for x from 28 to 0.5: off by less than 2e-17.
_F64 = (
    -0.7605305090234711,
    0.4822577912130475,
    0.03487470250824968,
    -0.015841843864836808,
    -0.004366761479666186,
    0.0013973696644398734,
    0.0005815061396394129,
    -0.0001998427491263183,
    -7.96688916841009e-05,
    3.6840614301539405e-05,
    9.671422829790338e-06,
    -7.261948618372495e-06,
    -6.554059625259283e-07,
    1.3378985887419745e-06,
    -1.2102786685967685e-07,
    -2.0274954537544339e-07,
    6.259964503574864e-08,
    1.9250574421486958e-08,
    -1.483489374614698e-08,
    6.550609981147612e-10,
    2.1608370600213862e-09,
    -5.946171755117057e-10,
    -1.5684487313094084e-10,
    7.704472047823249e-11,
)
#: From here on the result is 0 in f32, and in f64.
_LAST_F32, _LAST_F64 = 12.0, 28.0


def erfc(x: LaneValue) -> LaneValue:
    """``erfc`` with an error relative to the result."""
    type = x.ssa.type
    if not isinstance(type, TileType) or type.element_type != f64:
        return _from(x, _tail(x, _F32, _LAST_F32, 16.0))
    near = 1.0 - x.erf()
    return (x.abs() < 0.5).where(near, _from(x, _tail(x, _F64, _LAST_F64, 2.0**20)))


def _from(x: LaneValue, tail: LaneValue) -> LaneValue:
    return (x < 0.0).where(2.0 - tail, tail)


def _tail(x: LaneValue, coefficients: Sequence[float], last: float, steps: float) -> LaneValue:
    """``erfc`` of the absolute value; the square of its leading bits, down to one of ``steps`` of 1, is exact."""
    size = x.abs().minimum(last)
    t = 1.0 / (size * 0.5 + 1.0)
    at = (t * 30.0 - 13.0) / 11.0 if coefficients is _F64 else t
    exponent = t.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        exponent = exponent * at + coefficient
    # x * x would be rounded by more than the result may be off.
    head = (size * steps).floor() / steps
    return t * (exponent - (size - head) * (size + head)).exp() * (-(head * head)).exp()
