"""Dropout where nothing is drawn: as torch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import kopt.language as hl
from kopt.errors import KoptError

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


ROWS = torch.tensor([3, 5])
#: The shape that numbers are drawn for, by the tile of 4 of 8 rows and a block that a loop inside walks.
SHAPES = {
    "known": (lambda i, j: [i, j], lambda lengths: hl.tile(16, block_size=8), True),
    "unknown outermost": (lambda i, j: [j, i], lambda lengths: hl.tile(lengths[0], block_size=8), True),
    "unknown": (lambda i, j: [i, j], lambda lengths: hl.tile(lengths[0], block_size=8), False),
    "jagged": (lambda i, j: [i, j], lambda lengths: hl.jagged_tile(lengths, block_size=8), False),
    "jagged outermost": (lambda i, j: [j, i], lambda lengths: hl.jagged_tile(lengths, block_size=8), True),
    "numbers": (lambda i, j: [4, 16], lambda lengths: hl.tile(16, block_size=8), True),
}


@pytest.mark.parametrize("name", SHAPES)
def test_elements_are_numbered_by_the_extents_of_inner_dimensions(name: str) -> None:
    shape, walk, taken = SHAPES[name]

    def drawn(x, lengths):
        for i in hl.tile(8, block_size=4):
            found = lengths[i]
            for j in walk(found if name.startswith("jagged") else lengths):
                x[0, 0] = hl.rand(shape(i, j), 7).sum()

    args = X, torch.arange(8)
    if taken:
        imported(drawn, *args)
    else:
        with pytest.raises(KoptError, match="elements are numbered by the extents of all dimensions but the first"):
            imported(drawn, *args)
