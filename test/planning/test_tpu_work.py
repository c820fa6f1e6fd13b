"""Cycles of work, counted by hand: full tiles of the matrix unit, vector registers of 8 by 128 words."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest

from kopt.ir.launch_model import Work
from kopt.ir.polynomial import parameter
from kopt.planning.tpu_work import Cycles, cycles, product
from kopt.targets.costs import RUNNING_BLOCK_CYCLES, RUNNING_BLOCK_WAIT, TPU_COSTS, VECTOR_CYCLES, TpuCosts

COSTS = TpuCosts(flops_per_cycle=1000, mxu_size=256, clock_hz=1e9, bytes_per_second=1e12)


def work(unit, dims, dtype="bf16", count=1) -> Work:
    return Work(unit, tuple(("", size) for size in dims), dtype, (), count)


@pytest.mark.parametrize(
    ("shape", "tiles"),
    [
        ((8, 256, 256), (128, 256, 256)),  # no fewer rows than it takes to load a tile of the other operand
        ((1, 1, 1), (128, 256, 256)),
        ((129, 257, 512), (136, 512, 512)),
        ((1024, 100, 1000), (1024, 256, 1024)),
    ],
)
@pytest.mark.parametrize(("dtype", "passes"), [("bf16", 1), ("f32", 6), ("of another name", 1)])
def test_products_take_whole_tiles(shape, tiles, dtype, passes) -> None:
    m, k, n = tiles
    assert product(*shape, dtype, COSTS) == passes * 2 * m * k * n / 1000


def test_narrow_types_take_half_a_pass_where_the_chip_has_it() -> None:
    v5e = TPU_COSTS["v5e"]
    assert product(128, 128, 128, "i8", v5e) * 2 == product(128, 128, 128, "bf16", v5e) == 2 * 128**3 / 131072


@pytest.mark.parametrize(
    ("dims", "registers"),
    [
        ((), 1),
        ((1,), 1),
        ((1024,), 1),
        ((1025,), 2),
        ((8, 128), 1),
        ((9, 129), 4),
        ((1, 1), 1),
        ((3, 5, 8, 128), 15),
        ((2, 16, 1), 4),
    ],
)
@pytest.mark.parametrize("unit", ["elementwise", "transcendental", "sort"])
def test_values_take_whole_registers(dims, registers, unit) -> None:
    found = cycles([work(unit, dims, "f32", 3)], {}, COSTS)
    taken = found.eup if unit == "transcendental" else found.vpu
    assert taken == found.vectors(1.0) == 3 * registers * VECTOR_CYCLES[unit] and found.mxu == 0


def test_lanes_are_crossed_beside_the_vector_unit() -> None:
    """Whatever share of the lanes' peak is had: rows count, and not how many lanes they have."""
    found = cycles([work("crossing", (64, 1), "f32"), work("elementwise", (64, 256), "f32")], {}, COSTS)
    assert found.xlu == 8 * VECTOR_CYCLES["crossing"] > found.vpu
    assert found.vectors(0.5) == found.vectors(2.0) == found.xlu


@pytest.mark.parametrize("chip", ["v5e", "v6e"])
def test_lanes_become_rows_eight_at_once(chip: str) -> None:
    """In the unit that crosses lanes, which v6e has an instruction for."""
    found = cycles([work("spread", (4, 128, 1), "f32")], {}, TPU_COSTS[chip])
    assert found == Cycles(xlu=4 * 128 // 8 * TPU_COSTS[chip].spread_cycles)
    assert TPU_COSTS["v6e"].spread_cycles < TPU_COSTS["v5e"].spread_cycles


def test_batches_are_products_of_their_own() -> None:
    one, many = (cycles([work("product", (*batch, 8, 256, 256))], {}, COSTS) for batch in ((), (3, 5)))
    assert many == one * 15 and many.vpu == 0


def test_units_add_up_side_by_side() -> None:
    parts = [work("product", (8, 256, 256), count=2), work("elementwise", (8, 128)), work("reduction", (16, 128))]
    found = cycles(parts, {}, COSTS)
    assert found == sum((cycles([part], {}, COSTS) for part in parts), Cycles())
    assert found.mxu == 2 * 2 * 128 * 256 * 256 / 1000
    assert found.vpu == VECTOR_CYCLES["elementwise"] + 2 * VECTOR_CYCLES["reduction"]
    assert cycles([], {}, COSTS) == Cycles(0, 0)


def test_candidates_at_once_are_each_by_itself() -> None:
    b = parameter("b")
    parts = [work("product", (b, 100, b)), work("elementwise", (b, b))]
    sizes = np.array([1, 8, 100, 256, 300])
    found = cycles(parts, {"b": sizes}, COSTS)
    for n, size in enumerate(map(int, sizes)):
        rows = ceil(size / 8)
        assert found.mxu[n] == 2 * max(128, rows * 8) * 256 * ceil(size / 256) * 256 / 1000
        assert found.vpu[n] == rows * ceil(size / 128) * VECTOR_CYCLES["elementwise"]


@pytest.mark.parametrize(("dtype", "products"), [("bf16", 2), ("f32", 4)])
def test_running_sums_are_products_with_a_triangle(dtype, products) -> None:
    """Of as many lanes as the matrix unit has columns; its ones are made once, and each block waits for the last."""
    for lanes, blocks in ((200, 1), (500, 2)):
        found = cycles([work("running_sum", (32, lanes), dtype, 2)], {}, COSTS)
        vectors = 4 * -(-lanes // 128) + 256 * 256 / 1024
        one = product(32, 256, lanes, "bf16", COSTS)
        vpu = vectors * VECTOR_CYCLES["running_sum"] + RUNNING_BLOCK_CYCLES * 4 * blocks
        assert found == Cycles(2 * products * one, 2 * vpu, chain=2 * RUNNING_BLOCK_WAIT * blocks)
