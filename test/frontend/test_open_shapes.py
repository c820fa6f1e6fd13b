"""Tensors whose extents stand for others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from kopt.frontend import open_shapes
from kopt.frontend.hooks import binary
from kopt.frontend.open_shapes import OpenTensor, plain_tensor, seen_tensor, tracked
from kopt.open_extents import LEAST, NeedsConstant, OpenExtent


@pytest.mark.parametrize(
    ("shape", "known", "is_open"),
    [((LEAST, 4), True, True), ((4, LEAST + 9), True, True), ((4, 4), True, False), ((LEAST, 4), False, False)],
)
def test_large_tensors_are_open_beside_open_extents_only(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], known: bool, is_open: bool
) -> None:
    """An array of 600,000 rows is one of 600,000 rows in kernels that have no open extents."""
    monkeypatch.setattr(open_shapes, "current", lambda: SimpleNamespace(open_extents={1: None} if known else {}))
    plain = torch.empty(shape, device="meta")
    seen = tracked(plain)
    assert isinstance(seen, OpenTensor) is is_open and tracked(seen) is seen
    assert plain_tensor(seen) is plain and seen_tensor(plain) is seen


N, M = OpenExtent("x.0"), OpenExtent("y.0", 1)


@pytest.mark.parametrize(
    ("kind", "left", "right", "wanted"),
    [
        ("eq", N, N, True),
        ("ne", N, N, False),
        ("eq", (N, 4), (N, 4), True),
        ("eq", N, M, None),  # they may be as long as each other
        ("ne", N, M, None),
        ("eq", N, 128, None),
        ("ne", 128, N, None),
        ("eq", (N, 4), (M, 4), None),
        ("eq", 3, 4, False),
        ("lt", N, 128, None),
        ("lt", (3, N), (4, N), True),  # told by the first elements
    ],
)
def test_comparisons_of_open_extents(kind: str, left: object, right: object, wanted: bool | None) -> None:
    """Those of which nothing is known need the number."""
    if wanted is None:
        with pytest.raises(NeedsConstant):
            binary(kind, left, right)
    else:
        assert binary(kind, left, right) is wanted
