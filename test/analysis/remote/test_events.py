"""Blocks of refs: which have elements in common."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import pytest
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp

from kopt.analysis.remote.events import RefBlock

REF = TestOp(result_types=[i32]).results[0]
INTERVALS = [pair for pair in combinations_with_replacement(range(4), 2) if pair[0] < pair[1]]


@pytest.mark.parametrize("rank", [1, 2])
def test_blocks_overlap_where_they_have_an_element_in_common(rank: int) -> None:
    boxes = list(product(INTERVALS, repeat=rank))
    elements = {box: set(product(*(range(*pair) for pair in box))) for box in boxes}
    for one, other in product(boxes, repeat=2):
        assert RefBlock(REF, one).overlaps(RefBlock(REF, other)) is bool(elements[one] & elements[other])


def test_names_in_messages() -> None:
    assert RefBlock(REF, ()).name == "an array"
    named = TestOp(result_types=[i32]).results[0]
    named.name_hint = "inbox"
    assert RefBlock(named, ()).name == "'inbox'"
