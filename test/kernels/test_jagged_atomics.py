"""Atomic updates inside jagged loops: the items are one more dimension that a target stays put along."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.dtypes import BY_SPEC
from kopt.runtime.tolerance import mismatch

OFFSETS = torch.tensor([2, 2, 10, 41, 42, 60], dtype=torch.int32)
TARGETS = ["reference", "triton:interpret", "pallas:interpret", pytest.param("pallas:strict", marks=pytest.mark.slow)]


def column_sums(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """All items update all columns."""
    out = torch.zeros([x.size(1)], dtype=torch.float32)
    for b in hl.tile(offsets.size(0) - 1):
        starts = offsets[b]
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            for m in hl.tile(x.size(1)):
                rows = hl.load(x, [starts[:, None] + k.index[None, :], m])
                hl.atomic_add(out, [m], rows.to(torch.float32).sum(1).sum(0))
    return out


def item_maxima(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Every block of rows updates its items' own row."""
    out = torch.full([offsets.size(0) - 1, x.size(1)], -100.0, dtype=torch.float32)
    for b in hl.tile(offsets.size(0) - 1):
        starts = offsets[b]
        for m in hl.tile(x.size(1)):
            for k in hl.jagged_tile(offsets[b.index + 1] - starts):
                rows = hl.load(x, [starts[:, None] + k.index[None, :], m])
                hl.atomic_max(out, [b, m], rows.to(torch.float32).amax(1))
    return out


def pieces(x: torch.Tensor) -> list[torch.Tensor]:
    bounds = OFFSETS.tolist()
    return [x[a:b].double() for a, b in zip(bounds[:-1], bounds[1:], strict=True)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_all_items_share_a_target(target: str, dtype: torch.dtype) -> None:
    x = torch.randn(64, 140, generator=torch.Generator().manual_seed(0)).to(dtype)
    found = kopt.kernel(column_sums, target=target, config={"block_sizes": [2, 16, 128]})(x, OFFSETS)
    assert mismatch(found, torch.cat(pieces(x)).sum(0).float(), BY_SPEC["f32"], 58) is None


@pytest.mark.parametrize("target", TARGETS)
def test_items_have_targets_of_their_own(target: str) -> None:
    x = torch.randn(64, 140, generator=torch.Generator().manual_seed(0))
    found = kopt.kernel(item_maxima, target=target, config={"block_sizes": [2, 128, 16]})(x, OFFSETS)
    wanted = torch.stack([piece.amax(0).float() if len(piece) else torch.full([140], -100.0) for piece in pieces(x)])
    torch.testing.assert_close(found, wanted)
