"""Persistent programs: the same values, whatever shares the cells."""

import pytest
import torch

import kopt
import kopt.language as hl


def sums(x, y):
    """Of columns, over a loop, with a third dimension around them."""
    out = torch.empty([2, x.size(0), y.size(0)], dtype=torch.float32)
    for b, i, j in hl.tile(out.size(), block_size=[1, 16, 16]):
        acc = hl.zeros([i, j])
        for k in hl.grid(2):
            acc += x[i, k][:, None] * y[j, k][None, :]
        out[b, i, j] = acc[None, :, :] + b.begin
    return out


def doubled(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0), block_size=16):
        out[i] = x[i] * 2
    return out


@pytest.mark.parametrize("persistent", ["interleaved", "blocked"])
@pytest.mark.parametrize(("chip", "programs"), [("sm86", 82), ("sm90", 132)])
def test_values(persistent, chip, programs):
    """More cells than programs, ragged ones too, in groups of rows that do not divide them."""
    config = {"persistent": persistent, "sm_programs": 1, "group": 3}
    x, y = torch.randn(150, 2), torch.randn(130, 2)
    kernel = kopt.kernel(sums, target=f"triton:interpret@{chip}", config=config)
    expected = x @ y.T
    torch.testing.assert_close(kernel(x, y), torch.stack((expected, expected + 1)), rtol=1e-5, atol=1e-5)
    (line,) = [line for line in kernel.lower(x, y).source.splitlines() if "for cell in" in line]
    assert (f"tl.range(tl.program_id(0), 180, {programs})" in line) == (persistent == "interleaved")


@pytest.mark.parametrize("config", [{"persistent": "interleaved"}, {"persistent": "blocked", "sm_programs": 1}])
def test_extents_that_are_open(config):
    """How many cells there are is known when it runs."""
    kernel = kopt.kernel(doubled, target="triton:interpret", config=config, dynamic={"x": [0]})
    for size in (5000, 40, 1):
        x = torch.randn(size, 3)
        torch.testing.assert_close(kernel(x), x * 2)


def test_chosen_by_cost():
    """Where starting programs takes longest, programs are few; else each cell has one."""
    many = kopt.kernel(doubled).lower("f32[8000000]", target="triton:sm90")
    assert "for cell in" in many.source
    few = kopt.kernel(doubled).lower("f32[8000,1024]", target="triton:sm90")
    assert "for cell in" not in few.source


def test_registers_are_nvidias():
    """Another compiler takes no such limit."""
    kernel = kopt.kernel(doubled, config={"max_registers": 64})
    assert "maxnreg=64" in kernel.lower("f32[64]", target="triton:sm90").source
    with pytest.raises(kopt.KoptError, match="'registers' is for NVIDIA's chips"):
        kernel.lower("f32[64]", target="triton:gfx942")
