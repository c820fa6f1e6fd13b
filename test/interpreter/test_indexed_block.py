"""Which lanes an access touches, of those that its mask, its ranges and its array have."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.errors import AccessError
from kopt.interpreter.access import IndexedBlock
from kopt.interpreter.values import ValidLanes

YES, NO = True, False
MASK = np.array([YES, NO, YES, NO])
INSIDE = ValidLanes(np.array([YES, YES, YES, NO]), (0,))


def block(outside: list[bool] | None = None, ragged: bool = False) -> IndexedBlock:
    lanes = (slice(0, 4),)
    return IndexedBlock((4,), lanes, lanes, (INSIDE,) if ragged else (), None if outside is None else np.array(outside))


@pytest.mark.parametrize(
    ("ragged", "masked", "outside", "present"),
    [
        (False, False, None, None),
        (False, True, None, [YES, NO, YES, NO]),
        (True, False, None, [YES, YES, YES, NO]),
        (True, True, None, [YES, NO, YES, NO]),
        (False, False, [NO, NO, YES, YES], [YES, YES, NO, NO]),
        (False, True, [NO, NO, YES, YES], [YES, NO, NO, NO]),
        (True, False, [YES, NO, NO, NO], [NO, YES, YES, NO]),
        (True, True, [YES, NO, NO, NO], [NO, NO, YES, NO]),
    ],
)
def test_lanes_that_exist(ragged: bool, masked: bool, outside: list[bool] | None, present: list[bool] | None) -> None:
    found = block(outside, ragged).present(MASK if masked else None)
    assert (None if found is None else found.tolist()) == present


@pytest.mark.parametrize(
    ("ragged", "masked", "outside", "lane"),
    [
        (False, False, [NO, NO, YES, YES], 2),
        (False, True, [NO, YES, NO, YES], None),
        (False, True, [NO, YES, YES, YES], 2),
        (True, False, [NO, NO, NO, YES], None),
        (True, False, [NO, YES, NO, YES], 1),
    ],
)
def test_touching_what_does_not_exist_is_an_error(ragged: bool, masked: bool, outside: list[bool], lane) -> None:
    """But for lanes that the mask leaves out, or that no range has."""
    one, mask = block(outside, ragged), MASK if masked else None
    if lane is None:
        wanted = [inside and (not masked or bool(MASK[n])) for n, inside in enumerate((YES, YES, YES, not ragged))]
        found = one.active(mask)
        assert found is not None and found.tolist() == [a and not b for a, b in zip(wanted, outside, strict=True)]
        return
    with pytest.raises(AccessError, match=rf"lane \[{lane}\] of the block is outside the array"):
        one.active(mask)
