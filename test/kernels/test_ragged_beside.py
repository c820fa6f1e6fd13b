"""Reshapes that split and merge dimensions beside that of a ragged block, wherever it stands."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
#: Plain dimensions before a block's, behind it, and what both become.
CASES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    ((10,), (), (5, 2), ()),
    ((5, 2), (), (10,), ()),
    ((5, 3), (6,), (15,), (3, 2)),
    ((3,), (6,), (3,), (2, 3)),
    ((6,), (5,), (2, 3), (5,)),
    ((6, 1, 2), (1, 10), (4, 3), (2, 1, 5)),
    ((), (3, 5), (), (5, 3)),
    ((4,), (3, 2), (1, 2, 2), (6, 1)),
]


def regrouped(x, out, at, lead, rest):
    """Blocks of one dimension, whose others are regrouped."""
    for i in hl.tile(x.size(at), block_size=4):
        v = x[(*[slice(None)] * at, i, *[slice(None)] * (x.ndim - 1 - at))]
        w = v.view((*lead, v.size(at), *rest))
        out[(*[slice(None)] * len(lead), i, *[slice(None)] * len(rest))] = w
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_dimensions_beside_a_ragged_block(case, target: str) -> None:
    """Each side is regrouped by itself, and the block's lanes stay what they are."""
    before, behind, lead, rest = case
    x = torch.arange(7.0 * torch.Size([*before, *behind]).numel()).reshape(*before, 7, *behind)
    out = kopt.kernel(regrouped).on(target)(x, torch.zeros(*lead, 7, *rest), len(before), lead, rest)
    assert torch.equal(out, x.reshape(*lead, 7, *rest))
