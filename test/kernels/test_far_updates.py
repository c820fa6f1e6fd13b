"""Blocks that loops update somewhere in an array that no VMEM holds."""

import pytest
import torch

import kopt
import kopt.language as hl


@kopt.kernel
def spread_sums(x, out):
    """What two blocks of ``x`` sum up to is added to the same 32 rows of ``out``: which those are is computed."""
    for tile in hl.tile(x.size(0), block_size=16):
        first = tile.begin // 32 * 2048
        total = x[tile, :].sum(0)
        for row in hl.tile(first, first + 32, block_size=16):
            hl.atomic_add(out, [row, slice(None)], total[None, :] + row.index[:, None].to(torch.float32) % 4)
    return out


def wanted(x, out):
    for number in range(x.size(0) // 16):
        rows = torch.arange(32) + number // 2 * 2048
        out[rows] += x[16 * number : 16 * number + 16].sum(0) + (rows % 4)[:, None]
    return out


ROWS = 64 * 1024


@pytest.mark.parametrize("target", ["pallas:interpret", pytest.param("pallas:strict", marks=pytest.mark.slow)])
def test_blocks_that_meet_in_an_array_beyond_vmem(target):
    x = torch.randint(-5, 5, (64, 128)).float()
    lowered = spread_sums.lower(x, torch.zeros(ROWS, 128), target=target)
    assert "pltpu.HBM" in lowered.source
    assert any("'out' stays in HBM: the blocks that loops update" in str(remark) for remark in lowered.remarks)
    got = spread_sums.on(target)(x, torch.ones(ROWS, 128))
    torch.testing.assert_close(got, wanted(x, torch.ones(ROWS, 128)))


def test_an_array_that_fits_stays_on_chip():
    low = spread_sums.lower("f32[64,128]", "f32[4096,128]", target="pallas:tpu7x")
    assert "pltpu.HBM" not in low.source


@pytest.mark.slow
def test_blocks_in_an_array_beyond_vmem_compile():
    report = spread_sums.lower("f32[64,128]", f"f32[{ROWS},128]", target="pallas:tpu7x").report(estimates=False)
    assert report["legal"], report["reason"]
