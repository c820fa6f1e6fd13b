"""The text of powers in f32, without f64: logarithms and their products are sums of two numbers. See `triton`."""

#: ``log(m)`` is ``2 * atanh(t / (t + 2))`` of ``t = m - 1``: ``u + u * u**2 * (LOG_F32)`` with ``v = u**2``.
LOG = [1 / (4**k * (2 * k + 1)) for k in range(1, 6)]

TEXT = """
@triton.jit
def _first_bits(x):
    # The first 12 bits of a number: products of two such are exact, also where they are fused with sums.
    return (x.to(tl.int32, bitcast=True) & -4096).to(tl.float32, bitcast=True)


@triton.jit
def _power_of_positive(a, b):
    # 2 ** (b * log2(a)), where an error in the exponent is multiplied by its size: what a first number lacks of the
    # exponent's 36 bits is in a second one.
    tiny = a < 1.1754944e-38
    bits = tl.where(tiny, a * 16777216.0, a).to(tl.int32, bitcast=True)
    m = ((bits & 0x7FFFFF) | 0x3F800000).to(tl.float32, bitcast=True)
    large = m > 1.4142135
    e = ((bits >> 23) - tl.where(tiny, 151, 127) + large.to(tl.int32)).to(tl.float32)
    t = tl.where(large, m * 0.5, m) - 1.0
    # log(m) = u + r.
    share = 1.0 / (t + 2.0)
    u = _first_bits(2.0 * t * share)
    first = _first_bits(t)
    r = ((2.0 * (t - u) - u * first) - u * (t - first)) * share
    w = u + r
    v = w * w
    r = r + w * v * (LOG_F32)
    # log2(a) = e + log(m) / log(2) = h + r.
    s = e + u * 1.4423828125
    r = ((e - s) + u * 1.4423828125) + (u * 0.00031222839 + r * 1.442695)
    h = _first_bits(s + r)
    r = (s - h) + r
    # b * log2(a) = n + r, where exp2(n) is finite.
    b = tl.where(tl.abs(b) > 1e34, tl.where(b > 0, 1e34, -1e34), b)
    first = _first_bits(b)
    s = h * (b - first) + r * b
    n = h * first + s
    r = (h * first - n) + s
    limited = tl.where(n > 127.99999, 127.99999, tl.where(n < -200.0, -200.0, n))
    r = tl.where(n < -200.0, 0.0, (n - limited) + r)
    # Subnormal powers are rounded once, at the end.
    small = limited < -100.0
    p = tl.exp2(tl.where(small, limited + 64.0, limited))
    p = p + p * (r * 0.6931472)
    p = tl.where(small, p * 5.4210109e-20, p)
    p = tl.where(a == 0, tl.where(b > 0, 0.0, float("inf")), p)
    p = tl.where(a == float("inf"), tl.where(b > 0, float("inf"), 0.0), p)
    return tl.where((a != a) | (b != b), float("nan"), p)
"""
