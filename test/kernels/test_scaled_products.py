"""Products with a scale for each group of elements, on every CPU target."""

import pytest
import torch

import kopt
import kopt.language as hl

DTYPES = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "bf16": torch.bfloat16, "fp16": torch.float16}
CONFIG = {"dot_precision": "ieee", "block_sizes": [16, 32]}


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


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
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


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
def test_numbers_of_4_bits(target):
    """Two in a byte, along the summed dimension of both matrices."""
    _, x_scale, _, y_scale = arguments("e4m3", "e4m3")
    x, y = torch.randint(256, (20, 32), dtype=torch.uint8), torch.randint(256, (32, 40), dtype=torch.uint8)
    rows = torch.exp2(x_scale.float() - 127).repeat_interleave(32, 1)
    columns = torch.exp2(y_scale.float() - 127).repeat_interleave(32, 1)
    expected = (fp4(x) * rows) @ (fp4(y.T) * columns).T + 1
    got = kopt.kernel(product, target=target, config=CONFIG)(x, x_scale, y, y_scale, "e2m1", "e2m1")
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-2)


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
