"""The text of conversions to and from floats of 8 bits, and of bytes that stand for them."""

TEXT = """
@triton.jit
def _to_e4m3(x):
    # What is beyond the range becomes the largest number.
    x = _nan_min(_nan_max(x.to(tl.float32), -448.0), 448.0)
    return x.to(tl.float8e4nv)


@triton.jit
def _from_e4m3_bytes(x):
    # f16 has one bit of the exponent more, and a bias that is greater by 8.
    code = x.to(tl.int16)
    half = (((code & 0x7F) << 7) | ((code & 0x80) << 8)).to(tl.float16, bitcast=True)
    return tl.where((code & 0x7F) == 0x7F, float("nan"), half * 256.0).to(tl.float16)


@triton.jit
def _to_e4m3_bytes(x):
    # What is beyond the range becomes the largest number. Below 2**-6 steps are those of f32 at 2**14.
    x = x.to(tl.float32)
    size = tl.minimum(tl.abs(x), 448.0)
    bits = size.to(tl.int32, bitcast=True)
    small = (size + 16384.0).to(tl.int32, bitcast=True) - 0x46800000
    code = tl.where(size < 0.015625, small, ((bits + 0x7FFFF + ((bits >> 20) & 1)) >> 20) - 960)
    sign = (x.to(tl.int32, bitcast=True) >> 24) & 0x80
    return (tl.where(x != x, 0x7F, code) | sign).to(tl.uint8)


@triton.jit
def _to_e5m2(x):
    # What is beyond the range becomes infinite, where conversions of a GPU stop at the largest number.
    x = x.to(tl.float32)
    near = _nan_min(_nan_max(x, -57344.0), 57344.0)
    code = near.to(tl.float8e5).to(tl.int8, bitcast=True)
    code = tl.where(x >= 61440.0, 0x7C, tl.where(x <= -61440.0, -4, code.to(tl.int32)))
    return code.to(tl.int8).to(tl.float8e5, bitcast=True)
"""
