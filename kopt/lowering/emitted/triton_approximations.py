"""The text of functions for results of which 16 bits are kept. They use those of `triton_text`."""

TEXT = """
@triton.jit
def _fast_pow(a, b):
    # In f32: an error in the exponent is multiplied by its size, at most 128.
    p = tl.exp2(b * tl.log2(tl.abs(a)))
    whole = tl.floor(b) == b
    odd = whole & (tl.floor(b * 0.5) != b * 0.5)
    p = tl.where(_negative(a) & odd, -p, p)
    p = tl.where((a < 0) & (a > -float("inf")) & (whole == 0), float("nan"), p)
    one = (b == 0) | (a == 1) | ((a == -1) & (tl.abs(b) == float("inf")))
    return tl.where(one, 1.0, tl.where(b == 1, a, p))


@triton.jit
def _fast_log1p(x):
    u = 1.0 + x
    d = u - 1.0
    exact = (d == 0.0) | (u == float("inf"))
    ratio = tl.where(exact, 1.0, x / tl.where(exact, 1.0, d))
    return tl.where(d == 0.0, x, tl.log(u) * ratio)


@triton.jit
def _fast_tanh(x):
    # Near 0 the series, where the quotient loses what is small.
    z = x * x
    near = x * (TANH_F32)
    return tl.where(tl.abs(x) < 0.5, near, 1.0 - 2.0 / (tl.exp(2.0 * x) + 1.0))
"""
