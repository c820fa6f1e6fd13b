"""Products over whole dimensions of arrays, more of them than a GPU's program holds."""

import pytest
import torch

import kopt
import kopt.language as hl


@kopt.kernel
def scored(x, scale, w):
    """Scaled rows times columns, then their largest product."""
    out = torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        best = hl.full([i], float("-inf"))
        for j in hl.tile(w.size(1), block_size=32):
            rows = (x[i, :].float() * scale[None, :]).to(x.dtype)
            products = hl.dot(rows, w[:, j], out_dtype=torch.float32)
            best = torch.maximum(best, products.amax(-1))
        out[i] = best
    return out


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_parts_of_a_whole_product(target, dtype):
    generator = torch.Generator().manual_seed(0)
    x, w = torch.randn(9, 5000, generator=generator).to(dtype), torch.randn(5000, 40, generator=generator).to(dtype)
    scale = torch.rand(5000, generator=generator)
    wanted = ((x.float() * scale).to(dtype).float() @ w.float()).amax(-1)
    torch.testing.assert_close(scored.on(target)(x, scale, w), wanted, rtol=1e-4, atol=1e-2)


def test_parts_of_a_whole_product_are_loaded_one_by_one():
    source = scored.lower("bf16[9,5000]", "f32[5000]", "bf16[5000,40]", target="triton:sm90").source
    assert "tl.arange(0, 8192)" not in source


@pytest.mark.slow
def test_a_whole_product_on_a_chip():
    low = scored.lower("bf16[9,5000]", "f32[5000]", "bf16[5000,40]", target="triton:sm90")
    report = low.report()
    assert report["legal"], report["reason"]
