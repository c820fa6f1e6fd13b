"""Calls of every elementwise function of the frontend, by the number of operands and the kind of element they take.

``x``, ``y`` and ``z`` are vectors of one dtype: all pairs of special values in ``x`` and ``y``.
"""

from __future__ import annotations

import re

_FLOAT_UNARY = """
torch.exp(x)
torch.exp2(x)
torch.expm1(x)
torch.log(x)
torch.log2(x)
torch.log10(x)
torch.log1p(x)
torch.sqrt(x)
torch.rsqrt(x)
torch.reciprocal(x)
torch.sin(x)
torch.cos(x)
torch.tan(x)
torch.asin(x)
torch.acos(x)
torch.atan(x)
torch.sinh(x)
torch.cosh(x)
torch.tanh(x)
torch.asinh(x)
torch.acosh(x)
torch.atanh(x)
torch.erf(x)
torch.erfc(x)
torch.sigmoid(x)
torch.sinc(x)
torch.logit(x)
torch.logit(x, 0.1)
torch.logit(x, 1e-6)
torch.deg2rad(x)
torch.rad2deg(x)
torch.frac(x)
torch.round(x)
torch.round(x, decimals=1)
torch.round(x, decimals=-1)
torch.floor(x)
torch.ceil(x)
torch.trunc(x)
torch.nan_to_num(x)
torch.nan_to_num(x, 1.0, 2.0, -2.0)
F.silu(x)
F.gelu(x)
F.gelu(x, approximate="tanh")
F.softplus(x)
F.softplus(x, beta=2, threshold=5)
F.logsigmoid(x)
F.elu(x)
F.elu(x, 0.5)
F.celu(x)
F.celu(x, 0.5)
F.selu(x)
F.leaky_relu(x)
F.leaky_relu(x, 0.2)
F.mish(x)
F.hardswish(x)
F.hardsigmoid(x)
F.hardtanh(x)
F.hardtanh(x, -0.5, 2.0)
F.relu(x)
F.relu6(x)
F.softsign(x)
F.tanhshrink(x)
torch.abs(x)
torch.neg(x)
torch.positive(x)
torch.sign(x)
torch.sgn(x)
torch.signbit(x)
torch.isnan(x)
torch.isinf(x)
torch.isfinite(x)
torch.square(x)
torch.clamp(x, -2, 3)
torch.clamp(x, min=1)
torch.clamp(x, max=-1)
torch.clamp(x, -0.0, 0.5)
torch.clamp_min(x, 0.0)
torch.clamp_max(x, 0.0)
torch.logical_not(x)
x ** 0.5
x ** -0.5
x ** -1
x ** -2
x ** 2
x ** 3
x ** 4
x ** 0
x ** 2.5
2.0 ** x
0.5 ** x
0.0 ** x
x + 0.0
x - 0.0
0.0 - x
x * 0.0
x * -1.0
x / 3
1 / x
-x
abs(x)
x // 2
7 // x
x % 3
-7 % x
x % -2.5
x > 0
0 >= x
x == 0.0
x != x
x.clone()
x.contiguous()
x.detach()
"""

_FLOAT_BINARY = """
torch.add(x, y)
torch.add(x, y, alpha=2)
torch.sub(x, y)
torch.sub(x, y, alpha=3)
torch.rsub(x, y)
torch.mul(x, y)
torch.div(x, y)
torch.div(x, y, rounding_mode="floor")
torch.div(x, y, rounding_mode="trunc")
torch.floor_divide(x, y)
torch.remainder(x, y)
torch.fmod(x, y)
torch.pow(x, y)
torch.maximum(x, y)
torch.minimum(x, y)
torch.fmax(x, y)
torch.fmin(x, y)
torch.atan2(x, y)
torch.copysign(x, y)
torch.hypot(x, y)
torch.logaddexp(x, y)
torch.xlogy(x, y)
torch.eq(x, y)
torch.ne(x, y)
torch.lt(x, y)
torch.le(x, y)
torch.gt(x, y)
torch.ge(x, y)
torch.logical_and(x, y)
torch.logical_or(x, y)
torch.logical_xor(x, y)
torch.where(x > y, x, y)
torch.where(x > 0, x, 1.0)
x.masked_fill(x > y, -0.0)
torch.lerp(x, y, 0.3)
torch.lerp(x, y, 0.7)
torch.clamp(x, y)
torch.clamp(x, max=y)
x.type_as(y)
torch.xlogy(x, 2.0)
torch.xlogy(0.0, x)
torch.float_power(x, 2).to(torch.float32)
torch.float_power(x, y).to(torch.float32)
"""

_FLOAT_TERNARY = """
torch.clamp(x, y, z)
torch.lerp(x, y, z)
torch.addcmul(x, y, z)
torch.addcmul(x, y, z, value=2)
torch.addcdiv(x, y, z)
torch.addcdiv(x, y, z, value=0.5)
"""

#: Functions of real numbers take integers too.
_INTEGER_UNARY = """
torch.exp(x)
torch.log(x)
torch.sqrt(x)
torch.rsqrt(x)
torch.reciprocal(x)
torch.sigmoid(x)
torch.atan(x)
torch.tanh(x)
torch.sinc(x)
F.softsign(x)
F.tanhshrink(x)
torch.abs(x)
torch.neg(x)
torch.positive(x)
torch.sign(x)
torch.sgn(x)
torch.signbit(x)
torch.square(x)
torch.isnan(x)
torch.isinf(x)
torch.isfinite(x)
torch.nan_to_num(x)
torch.floor(x)
torch.ceil(x)
torch.round(x)
torch.trunc(x)
F.relu(x)
torch.logical_not(x)
torch.bitwise_not(x)
torch.clamp(x, 0, 3)
torch.clamp(x, min=1)
torch.clamp(x, max=1)
x ** 2
x ** 3
x ** 5
x + 1
x * 3
x // 2
x // -3
x % 3
x % -3
x / 3
x > 0
x == 1
"""

#: Division by 0 is an error of torch: `nonzero` operands.
_INTEGER_BINARY = """
torch.add(x, y)
torch.add(x, y, alpha=2)
torch.sub(x, y)
torch.rsub(x, y)
torch.mul(x, y)
torch.div(x, y)
torch.maximum(x, y)
torch.minimum(x, y)
torch.fmax(x, y)
torch.fmin(x, y)
torch.atan2(x, y)
torch.copysign(x, y)
torch.xlogy(x, y)
torch.eq(x, y)
torch.ne(x, y)
torch.lt(x, y)
torch.le(x, y)
torch.gt(x, y)
torch.ge(x, y)
torch.logical_and(x, y)
torch.logical_or(x, y)
torch.logical_xor(x, y)
torch.bitwise_and(x, y)
torch.bitwise_or(x, y)
torch.bitwise_xor(x, y)
torch.bitwise_left_shift(x, y & 7)
torch.bitwise_right_shift(x, y & 7)
torch.pow(x, y & 7)
torch.pow(x, y)
torch.where(x > y, x, y)
torch.clamp(x, y)
torch.addcmul(x, y, y, value=2)
torch.div(x, torch.where((y == 0) | (y == -1), 2, y), rounding_mode="floor")
torch.div(x, torch.where((y == 0) | (y == -1), 2, y), rounding_mode="trunc")
torch.floor_divide(x.clamp(min=0), torch.where(y == 0, 1, y))
torch.remainder(x, torch.where((y == 0) | (y == -1), 2, y))
torch.fmod(x, torch.where((y == 0) | (y == -1), 2, y))
"""

_BOOLEAN = """
torch.logical_and(x, y)
torch.logical_or(x, y)
torch.logical_xor(x, y)
torch.logical_not(x)
x & y
x | y
x ^ y
~x
x + y
x * y
torch.maximum(x, y)
torch.minimum(x, y)
torch.eq(x, y)
torch.lt(x, y)
torch.le(x, y)
torch.sign(x)
torch.exp(x)
torch.where(x, 1.5, 0.0)
torch.signbit(x)
"""


def _lines(*texts: str) -> tuple[str, ...]:
    return tuple(line for text in texts for line in text.splitlines() if line)


FLOAT = _lines(_FLOAT_UNARY, _FLOAT_BINARY, _FLOAT_TERNARY)
INTEGER = _lines(_INTEGER_UNARY, _INTEGER_BINARY)
BOOLEAN = _lines(_BOOLEAN)

#: Casts have tests of their own; the others compute nothing.
WITHOUT_CALLS = (
    "float double half bfloat16 int long short char byte bool to type cpu cuda item is_floating_point element_size"
).split()


def names_of(call: str) -> set[str]:
    """The operations that a call names."""
    return set(re.findall(r"\.([a-z_]\w*)\(", call))
