"""Tensors whose extents stand for others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from kopt.frontend import open_shapes
from kopt.frontend.open_shapes import OpenTensor, plain_tensor, seen_tensor, tracked
from kopt.open_extents import LEAST


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
