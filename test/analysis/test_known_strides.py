"""The strides of arrays that descriptors are made of."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import MemRefType, NoneAttr, StridedLayoutAttr, f32

from kopt.analysis.tensor_descriptors import _strides


@pytest.mark.parametrize(
    ("layout", "wanted"),
    [
        (NoneAttr(), (70, 7, 1)),
        (StridedLayoutAttr([1, 20, 4]), (1, 20, 4)),
        (StridedLayoutAttr([140, 14, 2], 3), (140, 14, 2)),
        (StridedLayoutAttr([None, 7, 1]), None),
    ],
    ids=str,
)
def test_strides(layout, wanted: tuple[int, ...] | None) -> None:
    assert _strides(MemRefType(f32, [4, 10, 7], layout)) == wanted
