"""Dropout where nothing is drawn: as torch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import kopt.language as hl

from .support import imported, reference

X = torch.randn(8, 16)


@pytest.mark.parametrize(
    ("p", "training", "draws"), [(0.5, False, False), (0.0, True, False), (1.0, True, False), (0.5, True, True)]
)
def test_dropout(p: float, training: bool, draws: bool) -> None:
    """Outside of training, of nothing and of everything no number is drawn."""

    def dropped(x):
        out = torch.empty_like(x)
        for i in hl.tile(8, block_size=4):
            out[i, :] = F.dropout(x[i, :], p, training)
        return out

    names = {op.name for op in imported(dropped, X).module.walk()}
    assert ("tile.philox" in names) is draws
    if not draws:
        torch.testing.assert_close(reference(dropped, X), F.dropout(X, p, training))
