"""What Mosaic lacks, written with what it has. The text of these functions goes into emitted modules.

Each takes and gives arrays of one shape unless said otherwise; f32 results are within a few units in the last place
and NaN, infinities and zeros come out as NumPy's do. Nothing here may use names other than ``jax``, ``jnp``,
``pltpu`` and its own functions.
"""

import jax  # noqa: TID253
import jax.numpy as jnp  # noqa: TID253
from jax.experimental.pallas import tpu as pltpu  # noqa: TID253


def _sign(x):
    """-1, 0 or 1; 0 for NaN."""
    return jnp.where(x > 0.0, 1.0, jnp.where(x < 0.0, -1.0, 0.0)).astype(x.dtype)


def _expm1(x):
    """exp(x) - 1: a series near 0, where the difference would cancel."""
    series = jnp.ones_like(x)
    for n in range(10, 1, -1):
        series = 1.0 + x / n * series
    return jnp.where(jnp.abs(x) < 0.5, x * series, jnp.exp(x) - 1.0)


def _asin(x):
    """The arc sine, by the angle of the point (cosine, sine)."""
    return jnp.arctan2(x, jnp.sqrt((1.0 - x) * (1.0 + x)))


def _acos(x):
    """The arc cosine, by the angle of the point (cosine, sine)."""
    return jnp.arctan2(jnp.sqrt((1.0 - x) * (1.0 + x)), x)


def _sinh(x):
    """The hyperbolic sine: from expm1 near 0, and with the half inside the power where exp would overflow."""
    a = jnp.abs(x)
    t = _expm1(jnp.minimum(a, 1.0))
    small = 0.5 * (t + t / (t + 1.0))
    half = jnp.exp(0.5 * a)
    large = 0.5 * half * half - 0.5 / half / half
    return jnp.where(a < 1.0, jnp.sign(x) * small, jnp.sign(x) * large)


def _cosh(x):
    """The hyperbolic cosine, with the half between the factors so that exp does not overflow early."""
    half = jnp.exp(0.5 * jnp.abs(x))
    return 0.5 * half * half + 0.5 / half / half


def _asinh(x):
    """The inverse hyperbolic sine; for large x the logarithm of 2 x."""
    a = jnp.abs(x)
    b = jnp.minimum(a, 1e9)
    value = jnp.log1p(b + b * b / (1.0 + jnp.sqrt(b * b + 1.0)))
    return jnp.sign(x) * jnp.where(a < 1e9, value, jnp.log(a) + 0.6931471805599453)


def _acosh(x):
    """The inverse hyperbolic cosine; NaN below 1."""
    t = jnp.minimum(x, 1e9) - 1.0
    value = jnp.log1p(t + jnp.sqrt(t * (t + 2.0)))
    return jnp.where(x < 1.0, jnp.nan, jnp.where(x < 1e9, value, jnp.log(x) + 0.6931471805599453))


def _atanh(x):
    """The inverse hyperbolic tangent; NaN outside -1 to 1."""
    a = jnp.abs(x)
    return jnp.sign(x) * 0.5 * jnp.log1p(2.0 * a / (1.0 - a))


def _floordiv(a, b):
    """The quotient rounded towards minus infinity, exact where the quotient is a whole number."""
    left = jax.lax.rem(a, b)
    down = jnp.where((left != 0.0) & ((left < 0.0) != (b < 0.0)), 1.0, 0.0)
    exact = jnp.round((a - left) / b) - down
    value = jnp.where(jnp.isinf(b), a * 0.0 - down, exact)
    quotient = a / b
    return jnp.where(b == 0.0, quotient, jnp.where(value == 0.0, jnp.copysign(value, quotient), value))


def _divided(divide, a, b):
    """What a division of integers gives, and 0 by 0; XLA on a CPU dies where it folds one by 0."""
    return jnp.where(b == 0, 0, divide(a, jnp.where(b == 0, 1, b)))


def _truncated(a, b):
    """The quotient of integers rounded towards 0, and 0 by 0."""
    quotient = _divided(jnp.floor_divide, a, b)
    return quotient + ((quotient < 0) & (quotient * b != a))


def _power(a, b):
    """a to the power b, with C's special cases whatever the target's own are; some chips lack it for scalars."""
    if a.ndim == 0:
        return _power(jnp.full((1, 1), a), jnp.full((1, 1), b))[0, 0]
    whole = jnp.floor(b) == b
    odd = whole & (jnp.floor(0.5 * b) != 0.5 * b)
    size = jnp.power(jnp.abs(a), b)
    minus = jax.lax.bitcast_convert_type(a, jnp.int32) < 0
    signed = jnp.where(minus & odd, -size, size)
    value = jnp.where((a < 0.0) & ~whole & ~jnp.isinf(a), jnp.nan, signed)
    return jnp.where((a == 1.0) | (b == 0.0), 1.0, value)


def _int_power(a, b):
    """Integer powers by squaring; to a negative power 0, but for 1 and -1."""
    result = jnp.ones_like(a)
    square, left = a, jnp.maximum(b, 0)
    for _ in range(jnp.iinfo(a.dtype).bits):
        result = jnp.where((left & 1) != 0, result * square, result)
        square, left = square * square, left >> 1
    odd = (b & 1) != 0
    inverse = jnp.where(a == 1, 1, jnp.where(a == -1, jnp.where(odd, -1, 1), 0)).astype(a.dtype)
    return jnp.where(b < 0, inverse, result)


def _mulhi(a, b):
    """The high word of an unsigned product; ``a`` is a Python number, ``b`` an array of 32-bit words held as int32."""
    half, low = 0xFFFF, a & 0xFFFF
    high = a >> 16
    b_low, b_high = b & half, jax.lax.shift_right_logical(b, 16)
    s = high * b_low + jax.lax.shift_right_logical(low * b_low, 16)
    t = low * b_high + (s & half)
    return high * b_high + jax.lax.shift_right_logical(s, 16) + jax.lax.shift_right_logical(t, 16)


def _philox(offset, k0, k1):
    """The four words of Philox 4x32-10 for counters in int32, under a key of two words; products wrap.

    A loop, since Mosaic writes out what is done to each register of a block.
    """
    a, b = 0xD2511F53, 0xCD9E8D57

    def turn(_, state):
        c0, c1, c2, c3, k0, k1 = state
        high0, high2 = _mulhi(b, c2) ^ c1 ^ k0, _mulhi(a, c0) ^ c3 ^ k1
        return high0, c2 * (b - 2**32), high2, c0 * (a - 2**32), k0 + (0x9E3779B9 - 2**32), k1 + (0xBB67AE85 - 2**32)

    zero = jnp.zeros_like(offset)
    return jax.lax.fori_loop(0, 10, turn, (offset, offset >> 31, zero, zero, k0, k1))[:4]


def _fold(combine, x, axis):
    """Combines all lanes of one dimension, which disappears, halving it again and again."""
    if x.ndim == 1:
        return _fold(combine, x[None, :], 1)[0]
    while x.shape[axis] > 1:
        half = x.shape[axis] // 2
        low = jax.lax.slice_in_dim(x, 0, half, axis=axis)
        high = jax.lax.slice_in_dim(x, half, 2 * half, axis=axis)
        rest = jax.lax.slice_in_dim(x, 2 * half, x.shape[axis], axis=axis)
        folded = combine(low, high)
        x = jnp.concatenate([folded, rest], axis=axis) if rest.shape[axis] else folded
    return jax.lax.squeeze(x, [axis])


def _shift(x, step, axis, reverse=False):
    """Each lane takes the one ``step`` lanes before it (with ``reverse`` after it); the first ones take any."""
    size = x.shape[axis]
    if reverse:
        parts = [jax.lax.slice_in_dim(x, step, size, axis=axis), jax.lax.slice_in_dim(x, 0, step, axis=axis)]
    else:
        parts = [jax.lax.slice_in_dim(x, size - step, size, axis=axis)]
        parts += [jax.lax.slice_in_dim(x, 0, size - step, axis=axis)]
    return jnp.concatenate(parts, axis=axis)


def _has_row_groups(x):
    """Whether a matrix is whole vector registers of 8 rows, whose rows can be rotated."""
    return x.ndim == 2 and x.shape[0] % 8 == 0 and x.shape[1] % 128 == 0


def _scan_rows(combine, arrays, reverse):
    """The running combination down the rows, 8 at a time: by rotations, then the last row of the 8 before comes in."""
    size, width = arrays[0].shape
    row = jax.lax.broadcasted_iota(jnp.int32, (8, width), 0)
    before, found = None, []
    for first in range(size - 8, -1, -8) if reverse else range(0, size, 8):
        group = [x[first : first + 8] for x in arrays]
        for step in (1, 2, 4):
            some = row < 8 - step if reverse else row >= step
            combined = combine(*(pltpu.roll(x, 8 - step if reverse else step, 0) for x in group), *group)
            group = [jnp.where(some, new, old) for new, old in zip(combined, group, strict=True)]
        if before is not None:
            combined = combine(*(jnp.broadcast_to(x, row.shape) for x in before), *group)
            group = [jnp.broadcast_to(x, row.shape) for x in combined]
        before = [x[:1] if reverse else x[7:] for x in group]
        found.append(group)
    return tuple(jnp.concatenate(parts[::-1] if reverse else parts, axis=0) for parts in zip(*found, strict=True))


def _scan(combine, x, axis, neutral, reverse=False):
    """The running combination along one dimension, in steps that double."""
    if x.ndim == 1:
        return _scan(combine, x[None, :], 1, neutral, reverse)[0]
    if axis == 0 and _has_row_groups(x):
        return _scan_rows(lambda before, after: [combine(before, after)], [x], reverse)[0]
    size, step = x.shape[axis], 1
    while step < size:
        start = 0 if reverse else size - step
        beyond = jnp.full_like(jax.lax.slice_in_dim(x, start, start + step, axis=axis), neutral)
        if reverse:
            shifted = jnp.concatenate([jax.lax.slice_in_dim(x, step, size, axis=axis), beyond], axis=axis)
        else:
            shifted = jnp.concatenate([beyond, jax.lax.slice_in_dim(x, 0, size - step, axis=axis)], axis=axis)
        x = combine(shifted, x)
        step *= 2
    return x


def _associative_scan(combine, arrays, axis, reverse=False):
    """The running combination of tuples by a function, in steps that double; lanes with nothing before them stay."""
    if arrays[0].ndim == 1:
        rows = _associative_scan(combine, [x[None, :] for x in arrays], 1, reverse)
        return tuple(row[0] for row in rows)
    if axis == 0 and _has_row_groups(arrays[0]):
        return _scan_rows(combine, arrays, reverse)
    size, step = arrays[0].shape[axis], 1
    lane = jax.lax.broadcasted_iota(jnp.int32, arrays[0].shape, axis)
    while step < size:
        some = lane < size - step if reverse else lane >= step
        combined = combine(*(_shift(x, step, axis, reverse) for x in arrays), *arrays)
        arrays = [jnp.where(some, new, old) for new, old in zip(combined, arrays, strict=True)]
        step *= 2
    return tuple(arrays)


def _associative_reduce(combine, arrays, axis):
    """The combination of all lanes of one dimension, which disappears, by a function of tuples: halves by halves."""
    if arrays[0].ndim == 1:
        return tuple(row[0] for row in _associative_reduce(combine, [x[None, :] for x in arrays], 1))
    while (size := arrays[0].shape[axis]) > 1:
        half = size // 2
        low = [jax.lax.slice_in_dim(x, 0, half, axis=axis) for x in arrays]
        high = [jax.lax.slice_in_dim(x, half, 2 * half, axis=axis) for x in arrays]
        folded = [jnp.broadcast_to(x, low[0].shape) for x in combine(*low, *high)]
        if size % 2:
            rest = [jax.lax.slice_in_dim(x, size - 1, size, axis=axis) for x in arrays]
            folded = [jnp.concatenate([x, last], axis=axis) for x, last in zip(folded, rest, strict=True)]
        arrays = folded
    return tuple(jax.lax.squeeze(x, [axis]) for x in arrays)


def _precedes(a, m, b, n, descending):
    """Whether lane ``m`` with value ``a`` comes before lane ``n`` with ``b``: NaN is above all, equals keep order."""
    below, equal = a < b, a == b
    if jnp.issubdtype(a.dtype, jnp.floating):
        below, equal = below | ((b != b) & (a == a)), equal | ((a != a) & (b != b))
    first = ~(below | equal) if descending else below
    return first | (equal & (m < n))


def _sort(x, axis, descending, last):
    """The lanes of one dimension in order, and the number that each had: a bitonic network of compare and exchange.

    ``last`` is a value that comes after every other.
    """
    if x.ndim == 1:
        values, lanes = _sort(x[None, :], 1, descending, last)
        return values[0], lanes[0]
    size = x.shape[axis]
    width = 1 << (size - 1).bit_length()
    if width > size:
        shape = [*x.shape[:axis], width - size, *x.shape[axis + 1 :]]
        x = jnp.concatenate([x, jnp.full(shape, last, x.dtype)], axis=axis)
    lane = jax.lax.broadcasted_iota(jnp.int32, x.shape, axis)

    def exchange(step, run, x, numbers):
        low = (lane & step) == 0
        other, number = (
            jnp.where(low, _shift(v, step, axis, reverse=True), _shift(v, step, axis)) for v in (x, numbers)
        )
        stays = _precedes(x, numbers, other, number, descending)
        # The lower lane of a pair takes what comes first, but in every second run what comes last.
        keep = ~(stays ^ (low ^ ((lane & run) != 0)))
        return jnp.where(keep, x, other), jnp.where(keep, numbers, number)

    def merge(n, state):
        # One branch a step: else XLA's CPU compiler writes every step out again wherever a later one uses it.
        run = jnp.left_shift(jnp.int32(2), n)
        for step in (1 << n for n in reversed(range(width.bit_length() - 1))):
            state = jax.lax.cond(step < run, lambda *s, at=step: exchange(at, run, *s), lambda *s: s, *state)
        return state

    x, numbers = jax.lax.fori_loop(0, width.bit_length() - 1, merge, (x, lane))
    return tuple(jax.lax.slice_in_dim(v, 0, size, axis=axis) for v in (x, numbers))


def _argreduce(best, x, axis):
    """The number of the first lane that holds ``best(x, axis)``, a maximum or minimum; NaN wins."""
    if x.ndim == 1:
        return _argreduce(best, x[None, :], 1)[0]
    hit = (x == best(x, axis=axis, keepdims=True)) | (x != x)
    lane = jax.lax.broadcasted_iota(jnp.int32, x.shape, axis)
    return jnp.min(jnp.where(hit, lane, x.shape[axis]), axis=axis)
