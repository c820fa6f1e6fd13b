"""The least times of a launch beside what is predicted of it."""

from __future__ import annotations

import pytest

from kopt.planning.summary import floors


@pytest.mark.parametrize(
    ("hbm", "products", "predicted", "wanted"),
    [
        (1e-3, 2e-3, 4e-3, (2.0, 1.0, 2.0, 0.5)),
        (3e-3, 2e-3, 4e-3, (3.0, 3.0, 2.0, 0.75)),
        (3e-3, None, 2e-3, (3.0, 3.0, None, 1.0)),
        (None, 1e-3, 3e-3, (1.0, None, 1.0, 0.3333)),
        (1e-3, None, None, (1.0, 1.0, None, None)),
        (1e-3, None, 0.0, (1.0, 1.0, None, None)),
        (None, None, 2e-3, (None, None, None, None)),
        (None, None, None, (None, None, None, None)),
    ],
)
def test_the_higher_floor_is_compared_with_what_is_predicted(hbm, products, predicted, wanted) -> None:
    assert tuple(floors(hbm, products, predicted).values()) == wanted
