"""Cells that store other values into the same elements: on a TPU the last one's stay, as in a loop of torch."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["pallas:interpret", pytest.param("pallas:strict", marks=pytest.mark.slow)]


@kopt.kernel
def whole(buffer, values):
    for i in hl.grid(values.size(0)):
        buffer[:] = values[i]
    return buffer


@kopt.kernel
def scalars(x):
    count, rows = torch.zeros([1], dtype=torch.int32), torch.empty([x.size(1)])
    for tile in hl.tile(x.size(0), block_size=8):
        count[0] = tile.id
        rows[:] = x[tile, :].sum(0)
    return count, rows


@kopt.kernel
def columns(x):
    out = torch.empty([x.size(1)])
    for i, j in hl.tile(x.size(), block_size=[8, 128]):
        out[j] = x[i, j].sum(0)
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_the_last_value_stays(target: str) -> None:
    x = torch.randn(20, 300)
    last = x[16:].sum(0)
    torch.testing.assert_close(whole.on(target)(torch.ones(8), torch.arange(5.0)), torch.full([8], 4.0))
    count, rows = scalars.on(target)(x)
    assert count.tolist() == [2]
    torch.testing.assert_close(rows, last)
    torch.testing.assert_close(columns.on(target)(x), last)


def test_it_is_a_remark_and_other_targets_say_what_conflicts() -> None:
    low = columns.lower("f32[20,300]", target="pallas:v6e")
    assert any("the last one's stay" in remark.message for remark in low.remarks)
    with pytest.raises(kopt.KoptError, match="cells run in no order"):
        columns.on("reference")(torch.randn(20, 300))
