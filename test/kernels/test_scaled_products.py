"""Products with a scale for each group of elements, on every CPU target."""

import pytest
import torch

import kopt
import kopt.language as hl

DTYPES = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "bf16": torch.bfloat16, "fp16": torch.float16}
CONFIG = {"dot_precision": "ieee", "block_sizes": [16, 32]}
#: Multiplied out, and by the products of chips that have scaled ones.
TARGETS = ["reference", "eager", "pallas:interpret", "triton:interpret", "triton:interpret@sm100"]


def product(x, x_scale, y, y_scale, left: str, right: str):
    """Rows and columns in blocks, the summed dimension whole."""
    out = torch.empty([x.size(0), y.size(1)], dtype=torch.float32)
    for i, j in hl.tile(out.size()):
        acc = hl.full([i, j], 1.0)
        out[i, j] = hl.dot_scaled(x[i, :], x_scale[i, :], left, y[:, j], y_scale[j, :], right, acc=acc)
    return out


def arguments(left, right):
    x = (torch.randn(20, 64) * 0.5).to(DTYPES[left])
    y = (torch.randn(64, 40) * 0.5).to(DTYPES[right])
    return (
        x,
        torch.randint(120, 130, (20, 2), dtype=torch.uint8),
        y,
        torch.randint(120, 130, (40, 2), dtype=torch.uint8),
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("left", "right"), [("e4m3", "e5m2"), ("bf16", "bf16"), ("fp16", "e4m3")])
def test_scales(target, left, right):
    """Each by its own group."""
    x, x_scale, y, y_scale = arguments(left, right)
    rows = torch.exp2(x_scale.float() - 127).repeat_interleave(32, 1)
    columns = torch.exp2(y_scale.float() - 127).repeat_interleave(32, 1)
    expected = (x.float() * rows) @ (y.float() * columns.T) + 1
    got = kopt.kernel(product, target=target, config=CONFIG)(x, x_scale, y, y_scale, left, right)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


FP4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


def fp4(bytes):
    """The numbers in the halves of bytes, along the last dimension."""
    return torch.stack((FP4[(bytes & 15).long()], FP4[(bytes >> 4).long()]), -1).flatten(-2)


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_of_4_bits(target):
    """Two in a byte, along the summed dimension of both matrices."""
    _, x_scale, _, y_scale = arguments("e4m3", "e4m3")
    x, y = torch.randint(256, (20, 32), dtype=torch.uint8), torch.randint(256, (32, 40), dtype=torch.uint8)
    rows = torch.exp2(x_scale.float() - 127).repeat_interleave(32, 1)
    columns = torch.exp2(y_scale.float() - 127).repeat_interleave(32, 1)
    expected = (fp4(x) * rows) @ (fp4(y.T) * columns).T + 1
    got = kopt.kernel(product, target=target, config=CONFIG)(x, x_scale, y, y_scale, "e2m1", "e2m1")
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("target", TARGETS)
def test_scales_that_are_numbers(target):
    """Of 8 bits, one for 16 numbers of 4."""
    x, y = torch.randint(256, (20, 32), dtype=torch.uint8), torch.randint(256, (32, 40), dtype=torch.uint8)
    x_scale, y_scale = (torch.rand(size, 4).to(torch.float8_e4m3fn) for size in (20, 40))
    rows, columns = (scale.float().repeat_interleave(16, 1) for scale in (x_scale, y_scale))
    expected = (fp4(x) * rows) @ (fp4(y.T) * columns).T + 1
    got = kopt.kernel(product, target=target, config=CONFIG)(x, x_scale, y, y_scale, "e2m1", "e2m1")
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("target", TARGETS)
def test_loops_over_what_is_summed(target):
    """A part of the scales each visit."""

    def walked(x, x_scale, y, y_scale):
        out = torch.empty([x.size(0), y.size(1)], dtype=torch.float32)
        for i, j in hl.tile(out.size()):
            acc = hl.zeros([i, j])
            for k in hl.tile(x.size(1), block_size=32):
                group = k.begin // 32 + hl.arange(1)
                acc = hl.dot_scaled(x[i, k], x_scale[i, group], "e4m3", y[k, j], y_scale[j, group], "e4m3", acc=acc)
            out[i, j] = acc
        return out

    x, x_scale, y, y_scale = arguments("e4m3", "e4m3")
    rows, columns = (torch.exp2(scale.float() - 127).repeat_interleave(32, 1) for scale in (x_scale, y_scale))
    got = kopt.kernel(walked, target=target, config=CONFIG)(x, x_scale, y, y_scale)
    torch.testing.assert_close(got, (x.float() * rows) @ (y.float() * columns.T), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("chip", "scale", "multiplies"),
    [
        ("sm100", "u8", "UTCOMMA"),
        ("sm100", "f8e4m3fn", "UTCOMMA"),
        ("sm120", "u8", "OMMA"),
        ("gfx950", "u8", "v_mfma_scale"),
        ("gfx942", "u8", None),
    ],
)
def test_chips_that_multiply_scaled_operands(chip, scale, multiplies):
    """Do so with the numbers of 4 bits as they are; others with numbers that were multiplied out."""
    groups = 4 if scale == "u8" else 8
    specs = ["u8[128,64]", f"{scale}[128,{groups}]", "u8[64,128]", f"{scale}[128,{groups}]", "e2m1", "e2m1"]
    low = kopt.kernel(product, config={"block_sizes": [128, 128]}).lower(*specs, target=f"triton:{chip}")
    assert ("tl.dot_scaled(" in low.source) == (multiplies is not None)
    if multiplies is not None:
        assert multiplies in str(low.machine_code)


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
def test_arguments_of_4_bits(target):
    """Pairs of numbers that have torch's dtype for them are the bytes that they are stored in."""

    def unpacked(packed):
        out = torch.empty([2, *packed.shape], dtype=torch.float32)
        for i, j in hl.tile(packed.size()):
            out[0, i, j], out[1, i, j] = hl.float4_e2m1fn_x2_to_float32(packed[i, j])
        return out

    def viewed(packed):
        pairs = packed.view(torch.float4_e2m1fn_x2).view(2, 60)
        out = torch.empty([2, *pairs.shape], dtype=torch.float32)
        for i, j in hl.tile(pairs.size()):
            out[0, i, j], out[1, i, j] = hl.float4_e2m1fn_x2_to_float32(pairs[i, j])
        return out.view(2, *packed.shape)

    bytes = torch.randint(256, (6, 20), dtype=torch.uint8)
    wanted = fp4(bytes).unflatten(1, (20, 2)).movedim(2, 0)
    torch.testing.assert_close(kopt.kernel(unpacked, target=target)(bytes.view(torch.float4_e2m1fn_x2)), wanted)
    torch.testing.assert_close(kopt.kernel(viewed, target=target)(bytes), wanted)


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
def test_groups_of_16(target):
    """Loaded from the start of an array, and converted."""

    def sums(packed, plain, groups):
        out = torch.empty([groups.size(0), 2], dtype=torch.float32)
        for i in hl.tile(groups.size(0)):
            which = groups[i]
            small = hl.load_float4_e2m1fn_x16_to_float16(packed, which, which < 5)
            large = hl.load_bfloat16_x16_to_float16(plain, which)
            out[i, 0] = sum(number.to(torch.float32) * (n + 1) for n, number in enumerate(small))
            out[i, 1] = sum(number.to(torch.float32) * (n + 1) for n, number in enumerate(large))
        return out

    packed, plain = torch.randint(256, (6, 8), dtype=torch.uint8), torch.randn(6, 16).bfloat16()
    groups = torch.tensor([3, 0, 5, 1], dtype=torch.int32)
    weights = torch.arange(1.0, 17)
    expected = torch.stack((fp4(packed)[groups] @ weights * (groups < 5), plain.half().float()[groups] @ weights), 1)
    torch.testing.assert_close(kopt.kernel(sums, target=target)(packed, plain, groups), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("left", "message"), [("e3m2", "has the formats"), ("e5m2", "'e5m2' in hl.dot_scaled is")])
def test_formats_that_do_not_fit(left, message):
    """Are refused."""
    x, x_scale, y, y_scale = arguments("e4m3", "e4m3")
    with pytest.raises(kopt.UnsupportedError, match=message):
        kopt.kernel(product, target="reference")(x, x_scale, y, y_scale, left, "e4m3")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["triton:sm90", "pallas:tpu7x"])
def test_large_blocks_compile(target):
    """Within the limit: products of bf16 are for tensor cores, those of f32 took a GPU's compiler minutes."""
    specs = ("f8e4m3fn[512,256]", "u8[512,8]", "f8e4m3fn[256,512]", "u8[512,8]", "e4m3", "e4m3")
    report = (
        kopt.kernel(product, config={"block_sizes": [128, 256]}).lower(*specs, target=target).report(estimates=False)
    )
    assert report["legal"], report["reason"]
