"""Picks of single lanes of wide rows: the kernel loads a register for each, and gives what torch gives."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

LANES = 16384


@kopt.kernel
def picked(x, names):
    """The lanes that names say, less the greatest of their rows."""
    rows, _ = x.size()
    out = torch.empty([rows], dtype=torch.float32)
    for i in hl.tile(rows):
        values = x[i, :].float()
        out[i] = torch.gather(values, 1, names[i][:, None]).squeeze(1) - values.amax(-1)
    return out


@kopt.kernel
def of_flat(x, names):
    """Elements of flat storage: those of other rows come by a branch."""
    rows, lanes = x.size()
    out, flat = torch.empty([rows], dtype=torch.float32), x.view(-1)
    for i in hl.tile(rows):
        found = hl.load(flat, [i.index * lanes + names[i]]).float()
        out[i] = found - x[i, :].float().amax(-1)
    return out


@pytest.mark.parametrize("target", ["pallas:interpret", "pallas:strict"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("kernel", [picked, of_flat], ids=["picked", "of_flat"])
def test_the_lane_of_each_row(kernel: kopt.Kernel, dtype: torch.dtype, target: str) -> None:
    """Of the first and last registers, too; the last block has fewer rows than the others."""
    numbers = torch.Generator().manual_seed(7)
    x = torch.randn(19, LANES, generator=numbers).to(dtype)
    names = torch.randint(0, LANES, (19,), generator=numbers, dtype=torch.int32)
    names[:4] = torch.tensor([0, 127, LANES - 1, LANES - 128])
    assert "x_picked_ref[pl.ds(r, 1), :] = x" in kernel.lower(x, names, target="pallas:v6e").source
    wanted = x.float().gather(1, names[:, None].long()).squeeze(1) - x.float().amax(-1)
    assert kernel.on(target)(x, names).equal(wanted)


def test_elements_of_other_rows() -> None:
    """Numbers beyond a row are clamped where its registers are loaded, and the branch has the right elements."""
    x = torch.randn(8, LANES, generator=torch.Generator().manual_seed(8))
    names = torch.tensor([5, LANES + 3, -2 * LANES, 9, -1, 2 * LANES - 1, 0, 100], dtype=torch.int32)
    at = (torch.arange(8) * LANES + names).clamp(0, 8 * LANES - 1)
    wanted = x.view(-1)[at] - x.amax(-1)
    for target in ("pallas:interpret", "pallas:strict"):
        assert of_flat.on(target)(x, names).equal(wanted)
