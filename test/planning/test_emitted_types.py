"""Products of float8_e4m3fn as chips multiply them: as such, or as f16 that is made of bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt.ir.launch_model import Work
from kopt.planning.candidates import gpu_candidate
from kopt.planning.emitted_types import emitted_types
from kopt.planning.gpu_cost import GpuLaunch
from kopt.targets.chips import GPU_CHIPS

from .launches import matmul

HALF = matmul(4096, 1024, 4096)
QUARTER = replace(
    HALF,
    work=tuple(replace(work, dtype="f8E4M3FN") for work in HALF.work),
    operands=tuple(replace(one, dtype="f8E4M3FN", bits=8) if one.read else one for one in HALF.operands),
    factors=tuple(replace(one, bits=8) for one in HALF.factors),
)
SIZES = {"b0": 64, "b1": 64, "b2": 64}


@pytest.mark.parametrize("chip", ["sm89", "sm90", "gfx942"])
def test_chips_that_have_it(chip: str) -> None:
    assert emitted_types(QUARTER, GPU_CHIPS[chip]) is QUARTER


@pytest.mark.parametrize("chip", ["sm75", "sm80", "sm86"])
def test_bytes_become_f16(chip: str) -> None:
    """The products take what those of f16 take, registers hold what is converted, and bytes are what is loaded."""
    assert emitted_types(HALF, GPU_CHIPS[chip]) is HALF
    model = emitted_types(QUARTER, GPU_CHIPS[chip])
    assert [work.dtype for work in model.work if work.unit == "product"] == ["f16"]
    assert [(one.load, one.of, one.bits) for one in model.factors] == [("", ("x",), 16), ("", ("y",), 16)]
    half, bytes = (GpuLaunch(one, SIZES, gpu_candidate(one), GPU_CHIPS[chip], {}) for one in (HALF, QUARTER))
    # A visit has as much to multiply, and beside fewer programs more to wait for.
    assert half.cost().mxu_seconds <= bytes.cost().mxu_seconds < 1.5 * half.cost().mxu_seconds
    assert bytes.cost().vpu_seconds > 2 * half.cost().vpu_seconds
    assert {one.bits for one in model.operands if one.read} == {8}
    assert bytes.program.registers > half.program.registers


def test_what_stays_is_converted_once() -> None:
    """The left operand is none of the loop's: its conversions are around it."""
    left, right = QUARTER.factors
    staying = replace(QUARTER, factors=(replace(left, load="", stays=True), right))
    model = emitted_types(staying, GPU_CHIPS["sm80"])
    path = QUARTER.work[0].path
    assert [work.path for work in model.work if work.unit == "elementwise"] == [path[:-1], path]
    assert [(one.bits, one.stays) for one in model.factors] == [(16, True), (16, False)]


def test_conversions_are_operations_where_a_chip_has_none() -> None:
    (product,) = QUARTER.work
    m, k, n = product.dims
    to, of = (Work("conversion", (m, n), dtype, product.path) for dtype in ("f8E4M3FN", "f16"))
    model = replace(HALF, work=(*HALF.work, to, of))
    assert emitted_types(model, GPU_CHIPS["sm90"]) is model
    found = emitted_types(model, GPU_CHIPS["sm80"]).work[-2:]
    assert [(one.unit, one.count) for one in found] == [("elementwise", 16), ("elementwise", 8)]
