"""The tiles of a GPU's program, against sums done by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kopt.ir.launch_model import Live
from kopt.ir.polynomial import parameter
from kopt.planning.gpu_tiles import GpuTiles, may_walk, operand_bits
from kopt.targets.budget import Budget
from kopt.targets.chips import GPU_CHIPS

from .launches import elementwise, matmul

SM90, PRODUCT = GPU_CHIPS["sm90"], matmul(4096, 1024, 8192)


def test_the_largest_tile_has_sides_of_powers_of_two() -> None:
    live = (Live(("i", "j"), (((100, parameter("b1")), 32), ((16, 16), 32))),)
    found = GpuTiles(replace(PRODUCT, live=live), {"b1": np.array([1, 8, 100])}, SM90)
    assert found.largest_tile.tolist() == [256, 1024, 128 * 128]


def test_loads_come_ahead_where_a_loop_feeds_products() -> None:
    (path,) = {work.path for work in PRODUCT.work}
    found = GpuTiles(PRODUCT, {}, SM90)
    assert found.is_pipelined(path) and not found.is_pipelined(path[:-1])
    straight = replace(PRODUCT, axes=tuple(replace(axis, form="unrolled") for axis in PRODUCT.axes))
    assert not GpuTiles(straight, {}, SM90).is_pipelined(path)
    model, _ = elementwise(1 << 20, False)
    assert not GpuTiles(model, {}, SM90).is_pipelined(())


@pytest.mark.parametrize(("lanes", "wanted"), [(1000, 1024), (40000, 40000), (100000, 100000)])
def test_lanes_that_are_computed_are_rounded_up_unless_they_are_walked(lanes: int, wanted: int) -> None:
    assert GpuTiles(PRODUCT, {}, SM90).computed((1, lanes)) == wanted


def test_dimensions_that_may_be_walked_are_whole_and_long() -> None:
    assert may_walk((1, Budget.LEAST_WALKED + 1))
    assert not may_walk((1, Budget.LEAST_WALKED)) and not may_walk((parameter("b0"),))


@pytest.mark.parametrize(("dtype", "bits", "wanted"), [("bf16", 16, 16), ("i8", 8, 8)])
def test_bits_of_operands(dtype: str, bits: int, wanted: int) -> None:
    model = replace(PRODUCT, operands=tuple(replace(one, dtype=dtype, bits=bits) for one in PRODUCT.operands))
    assert operand_bits(model, replace(PRODUCT.work[0], dtype=dtype)) == wanted
    assert operand_bits(model, replace(PRODUCT.work[0], dtype="f16")) == 16
