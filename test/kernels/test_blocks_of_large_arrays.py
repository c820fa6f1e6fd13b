"""Blocks of rows at loaded numbers, of arrays beyond the chip's memory, which the last of them would leave."""

import pytest
import torch

import kopt
import kopt.language as hl


@kopt.kernel
def chosen(x, weights, choice):
    """A product with the matrix that each row has chosen, as rows of all matrices together."""
    rows, width = x.size()
    count, size, _ = weights.size()
    width, size = hl.specialize(width), hl.specialize(size)
    flat = weights.view(count * size, width)
    out = torch.empty([rows, size])
    for row, place in hl.tile([rows, size], block_size=[1, 128]):
        first = choice[row.begin] * size + place.index
        total = hl.zeros([place])
        for lane in hl.tile(width, block_size=128):
            total += (flat[first, lane].to(torch.float32) * x[row.begin, lane].to(torch.float32)).sum(1)
        out[row.begin, place] = total
    return out


@kopt.kernel
def copied(weights, choice):
    """The chosen matrices: no loop around the blocks."""
    count, size, width = weights.size()
    size, width = hl.specialize(size), hl.specialize(width)
    flat = weights.view(count * size, width)
    out = torch.empty([choice.size(0), size, width], dtype=weights.dtype)
    for row, place, lane in hl.tile([choice.size(0), size, width], block_size=[1, 128, 128]):
        out[row.begin, place, lane] = flat[choice[row.begin] * size + place.index, lane]
    return out


def _agrees(target):
    weights, x, choice = torch.randn(168, 200, 256), torch.randn(3, 256), torch.tensor([167, 0, 7], dtype=torch.int32)
    wanted = torch.einsum("rnk,rk->rn", weights[choice.long()], x)
    torch.testing.assert_close(chosen.on(target)(x, weights, choice), wanted, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(copied.on(target)(weights, choice), weights[choice.long()])


def test_last_blocks_end_with_the_array():
    _agrees("pallas:interpret")


@pytest.mark.slow
def test_last_blocks_end_with_the_array_as_a_chip_fetches_them():
    _agrees("pallas:strict")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_blocks_of_large_arrays_compile(dtype):
    calls = [
        (chosen, (f"{dtype}[8,2816]", f"{dtype}[128,704,2816]", "i32[8]")),
        (copied, (f"{dtype}[128,704,2816]", "i32[8]")),
    ]
    for kernel, arguments in calls:
        lowered = kernel.lower(*arguments, target="pallas:tpu7x")
        report = lowered.report(estimates=False)
        assert report["legal"], report["reason"]
        assert "jnp.pad" not in lowered.source
