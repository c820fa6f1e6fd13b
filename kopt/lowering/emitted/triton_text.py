"""The text of the helper functions, in Triton. See `triton`, which cuts it and fills in the series."""

TEXT = """
@triton.jit
def _sign(x):
    return tl.where(x > 0, 1, tl.where(x < 0, -1, 0)).to(x.dtype)


@triton.jit
def _unsigned_sign(x):
    return (x > 0).to(x.dtype)


@triton.jit
def _divide(a, b):
    # Triton's `/` of f32 is approximate on a GPU.
    if b.dtype == tl.float64:
        q = a / b
    else:
        q = tl.div_rn(a, b)
    return q


@triton.jit
def _reciprocal(x):
    return _divide(1.0, x)


@triton.jit
def _root(x):
    if x.dtype == tl.float64:
        r = tl.sqrt(x)
    else:
        r = tl.sqrt_rn(x)
    return r


@triton.jit
def _negative(x):
    # The sign bit, also of zero.
    if x.dtype == tl.float64:
        bits = x.to(tl.int64, bitcast=True) < 0
    else:
        bits = x.to(tl.int32, bitcast=True) < 0
    return bits


@triton.jit
def _copysign(a, b):
    return tl.where(_negative(b), -tl.abs(a), tl.abs(a))


@triton.jit
def _nan_above(x):
    # The bits of this NaN are above those of every number.
    return tl.where(x != x, float("nan"), x)


@triton.jit
def _nan_below(x):
    # The bits of this NaN are below those of every number, as integers with a sign.
    return tl.where(x != x, -float("nan"), x)


@triton.jit
def _isinf(x):
    return tl.abs(x) == float("inf")


@triton.jit
def _trunc(x):
    return tl.where(x < 0, tl.ceil(x), tl.floor(x))


@triton.jit
def _round(x):
    # To nearest, ties to even; from 2**52 on every number is whole.
    a = tl.abs(x)
    f = tl.floor(a)
    d = a - f
    up = (d > 0.5) | ((d == 0.5) & (tl.floor(f * 0.5) * 2.0 != f))
    return tl.where(a < 4503599627370496.0, _copysign(tl.where(up, f + 1.0, f), x), x)


@triton.jit
def _floordiv(a, b):
    q = a // b
    return tl.where((a % b != 0) & ((a < 0) != (b < 0)), q - 1, q)


@triton.jit
def _floor_quotient(a, b):
    return (a - (a % b + b) % b) // b


@triton.jit
def _ceil_quotient(a, b):
    return (a + (-a % b + b) % b) // b


@triton.jit
def _mod(a, b):
    r = a % b
    return tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)


@triton.jit
def _fmod(a, b):
    return tl.where(tl.abs(b) == float("inf"), tl.where(tl.abs(a) == float("inf"), float("nan"), a), a % b)


@triton.jit
def _float_mod(a, b):
    r = _fmod(a, b)
    return tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)


@triton.jit
def _float_floordiv(a, b):
    r = _fmod(a, b)
    q = _round(_divide(a - r, b))
    q = tl.where((r != 0) & ((r < 0) != (b < 0)), q - 1.0, q)
    quotient = _divide(a, b)
    return tl.where(b == 0, quotient, tl.where(q == 0, _copysign(q, quotient), q))


@triton.jit
def _float_truncdiv(a, b):
    return _trunc(_divide(a, b))


@triton.jit
def _int_pow(a, n):
    # To a negative power 0, but for 1 and -1.
    zero, one = a * 0, a * 0 + 1
    odd, below = (n & 1) != 0, n < 0
    inverse = tl.where((a == one) | ((a == zero - one) & odd), a, tl.where(a == zero - one, one, zero))
    p, square = one, a
    for _ in range(a.dtype.primitive_bitwidth):
        p = tl.where((n & 1) != 0, p * square, p)
        square = square * square
        n = n >> 1
    return tl.where(below, inverse, p)


@triton.jit
def _pow(a, b):
    if a.dtype == tl.float64:
        p = tl.exp2(b * tl.log2(tl.abs(a)))
    else:
        p = _power_of_positive(tl.abs(a).to(tl.float32), b.to(tl.float32)).to(a.dtype)
    whole = tl.floor(b) == b
    odd = whole & (tl.floor(b * 0.5) != b * 0.5)
    p = tl.where(_negative(a) & odd, -p, p)
    p = tl.where((a < 0) & (a > -float("inf")) & (whole == 0), float("nan"), p)
    one = (b == 0) | (a == 1) | ((a == -1) & (tl.abs(b) == float("inf")))
    return tl.where(one, 1.0, tl.where(b == 1, a, p))


@triton.jit
def _expm1(x):
    if x.dtype == tl.float64:
        near = x * (EXPM1_F64)
    else:
        near = x * (EXPM1_F32)
    return tl.where(tl.abs(x) < 0.5, near, tl.exp(x) - 1.0)


@triton.jit
def _log10(x):
    return tl.log(x) * 0.4342944819032518


@triton.jit
def _log1p(x):
    # log(u) * x / (u - 1) makes up for what 1 + x lost.
    u = 1.0 + x
    d = u - 1.0
    exact = (d == 0.0) | (u == float("inf"))
    ratio = tl.where(exact, 1.0, _divide(x, tl.where(exact, 1.0, d)))
    return tl.where(d == 0.0, x, tl.log(u) * ratio)


@triton.jit
def _sigmoid(x):
    return _reciprocal(1.0 + tl.exp(-x))


@triton.jit
def _sinh(x):
    a = tl.abs(x)
    e = _expm1(tl.minimum(a, 80.0))
    half = tl.exp(a * 0.5)
    return _copysign(tl.where(a < 80.0, (e + _divide(e, e + 1.0)) * 0.5, 0.5 * half * half), x)


@triton.jit
def _cosh(x):
    half = tl.exp(tl.abs(x) * 0.5)
    return 0.5 * half * half + _divide(_divide(0.5, half), half)


@triton.jit
def _tanh(x):
    e = _expm1(-2.0 * tl.minimum(tl.abs(x), 25.0))
    return tl.where(x != x, x, _copysign(_divide(-e, 2.0 + e), x))


@triton.jit
def _asinh(x):
    a = tl.abs(x)
    t = tl.minimum(a, 1e8)
    near = _log1p(t + _divide(t * t, 1.0 + _root(t * t + 1.0)))
    return _copysign(tl.where(a < 1e8, near, tl.log(a) + 0.6931471805599453), x)


@triton.jit
def _acosh(x):
    t = tl.minimum(tl.where(x < 1.0, float("nan"), x), 1e8, propagate_nan=tl.PropagateNan.ALL) - 1.0
    near = _log1p(t + _root(2.0 * t + t * t))
    return tl.where(x < 1e8, near, tl.log(x) + 0.6931471805599453)


@triton.jit
def _atanh(x):
    a = tl.abs(x)
    return _copysign(0.5 * _log1p(_divide(2.0 * a, 1.0 - a)), x)


@triton.jit
def _atan_unit(x):
    # The arc tangent for 0 <= x <= 1; above tan(pi / 8) that of the angle left to pi / 4.
    large = x > 0.41421356237309503
    x = tl.where(large, _divide(x - 1.0, x + 1.0), x)
    z = x * x
    if x.dtype == tl.float64:
        near = x * (ATAN_F64)
    else:
        near = x * (ATAN_F32)
    return tl.where(large, near + 0.7853981633974483, near)


@triton.jit
def _atan(x):
    a = tl.abs(x)
    large = a > 1.0
    angle = _atan_unit(tl.where(large, _divide(1.0, tl.where(large, a, 1.0)), a))
    return _copysign(tl.where(large, 1.5707963267948966 - angle, angle), x)


@triton.jit
def _atan2(y, x):
    ax = tl.abs(x)
    ay = tl.abs(y)
    low = tl.where(ay > ax, ax, ay)
    high = tl.where(ay > ax, ay, ax)
    equal = (low == high) & (low != 0.0)
    ratio = tl.where(equal, 1.0, _divide(low, tl.where((high == 0.0) | equal, 1.0, high)))
    angle = _atan_unit(ratio)
    angle = tl.where(ay > ax, 1.5707963267948966 - angle, angle)
    angle = _copysign(tl.where(_negative(x), 3.141592653589793 - angle, angle), y)
    return tl.where((x != x) | (y != y), x + y, angle)


@triton.jit
def _asin(x):
    return _atan2(x, _root((1.0 - x) * (1.0 + x)))


@triton.jit
def _acos(x):
    return 2.0 * _atan2(_root(1.0 - x), _root(1.0 + x))


@triton.jit
def _tan(x):
    return _divide(tl.sin(x), tl.cos(x))


@triton.jit
def _philox(offset, low, high):
    # The words for counters of 64 bits with a sign, whose high half is 0.
    counter = offset.to(tl.int64)
    c0 = counter.to(tl.uint32)
    c1 = (counter >> 32).to(tl.uint32)
    zero = c0 * 0
    a, b, c, d = tl.philox_impl(c0, c1, zero, zero, low.to(tl.uint32), high.to(tl.uint32))
    return (
        a.to(tl.int32, bitcast=True),
        b.to(tl.int32, bitcast=True),
        c.to(tl.int32, bitcast=True),
        d.to(tl.int32, bitcast=True),
    )


@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _nan_min(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _max(a, b):
    return tl.maximum(a, b)


@triton.jit
def _min(a, b):
    return tl.minimum(a, b)


@triton.jit
def _mul(a, b):
    return a * b


@triton.jit
def _and(a, b):
    return a & b


@triton.jit
def _or(a, b):
    return a | b


@triton.jit
def _xor(a, b):
    return a ^ b


@triton.jit
def _argmax_of(a, i, b, j):
    # The larger; NaN over numbers; the first of equals.
    wins = (a > b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(wins, a, b), tl.where(wins, i, j)


@triton.jit
def _argmin_of(a, i, b, j):
    wins = (a < b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(wins, a, b), tl.where(wins, i, j)


@triton.jit
def _precedes(a, m, b, n, descending: tl.constexpr):
    # NaN is above every number; equals keep their order.
    first = (a < b) | ((b != b) & (a == a))
    equal = (a == b) | ((a != a) & (b != b))
    if descending:
        first = ~(first | equal)
    return first | (equal & (m < n))


@triton.jit
def _sort(x, lane, axis: tl.constexpr, rounds: tl.constexpr, descending: tl.constexpr):
    # A bitonic network: pairs of lanes at a distance compare and exchange.
    numbers = lane
    for k in range(1, rounds + 1):
        for j in range(0, k):
            step = 1 << (k - 1 - j)
            other = tl.gather(x, lane ^ step, axis)
            number = tl.gather(numbers, lane ^ step, axis)
            stays = _precedes(x, numbers, other, number, descending)
            # The lower lane of a pair takes what comes first, but in every second run what comes last.
            keep = stays == (((lane & step) == 0) != ((lane & (1 << k)) != 0))
            x = tl.where(keep, x, other)
            numbers = tl.where(keep, numbers, number)
    return x, numbers
"""
