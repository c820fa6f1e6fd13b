"""How warps share products whose operands they read from registers, beside what Triton's compiler does (sm80)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.ir.launch_model import LaunchModel
from kopt.planning.shared_products import are_together, converted, operands, spread

from .launches import matmul

PRODUCT = matmul(4096, 1024, 4096)
X, Y = PRODUCT.factors


def of_bytes(model: LaunchModel = PRODUCT) -> LaunchModel:
    return replace(model, operands=tuple(replace(one, bits=8, dtype="i8") for one in model.operands))


@pytest.mark.parametrize(
    ("rows", "columns", "warps", "together", "wanted"),
    [
        # `warpsPerCTA` of fp8_matmul, int4_matmul and int8_matmul.
        (128, 128, 8, False, (2, 4)),
        (64, 128, 4, False, (1, 4)),
        # Of fp8_attention in blocks of 64 and 128 rows, int4_matmul_halves, and delta_states.
        (64, 128, 4, True, (1, 4)),
        (64, 128, 8, True, (1, 8)),
        (128, 128, 8, True, (8, 1)),
        (64, 64, 4, True, (4, 1)),
        (128, 32, 4, True, (4, 1)),
        # More warps than tiles stand along the rows.
        (16, 8, 4, False, (4, 1)),
    ],
)
def test_warps_along_rows_and_columns(rows: int, columns: int, warps: int, together: bool, wanted) -> None:
    down, across = spread(rows, columns, warps, together)
    assert (int(down), int(across)) == wanted


def test_candidates_are_each_by_itself() -> None:
    rows, warps = np.array([128, 64, 128]), np.array([8, 4, 2])
    down, across = spread(rows, 128, warps, False)
    assert (down.tolist(), across.tolist()) == ([2, 1, 1], [4, 4, 2])


def test_products_that_take_what_others_make() -> None:
    (work,) = PRODUCT.work
    assert not are_together(PRODUCT, work.path)
    assert are_together(replace(PRODUCT, chained=frozenset([work.path])), work.path)
    assert are_together(replace(PRODUCT, factors=(replace(X, adds=True), Y)), work.path)


def test_operands_that_are_converted_where_they_are_read() -> None:
    """Numbers of 8 bits become as many of 16; not what is loaded as it is, or made of fewer numbers."""
    made = replace(Y, load="", of=("y",))
    load = converted(of_bytes(), made)
    assert load is not None and load.id == "y"
    assert converted(PRODUCT, made) is None
    assert converted(of_bytes(), Y) is None
    assert converted(of_bytes(), replace(made, shape=(128, 256))) is None


def test_operands_of_a_product() -> None:
    assert operands(PRODUCT, PRODUCT.work[0]) == [X, Y]
