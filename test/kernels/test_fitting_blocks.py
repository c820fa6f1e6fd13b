"""The largest block sizes that fit: halved until they do, and none of them can be doubled."""

from __future__ import annotations

from math import prod

import pytest

import kopt
from examples.registry import BY_NAME
from kopt.fitting_blocks import largest_fitting


@pytest.mark.parametrize(
    ("sizes", "most", "wanted"),
    [
        ((8192, 8192), 1 << 23, (2048, 4096)),
        ((64,), 64, (64,)),
        ((1024, 8), 1 << 10, (128, 8)),
        ((1024, 8), 16, (4, 4)),
        ((3, 5), 0, None),
    ],
)
def test_sizes_that_hold_so_many_elements(sizes, most, wanted) -> None:
    assert largest_fitting(sizes, lambda tried: tried if prod(tried) <= most else None) == wanted


def test_what_is_lowered_is_what_is_said() -> None:
    """Sizes are rounded up to tiles."""
    found = largest_fitting((500,), lambda tried: tuple(-(-size // 8) * 8 for size in tried) if tried[0] < 99 else None)
    assert found == (64,)


def test_few_sizes_are_tried() -> None:
    tried = []
    assert largest_fitting((1 << 30, 1 << 30), tried.append) is None
    assert len(tried) == 24


def test_values_that_wait_are_counted() -> None:
    """The buffers of 2048 x 2048 x 2048 would fit, but not what a product of 32-bit floats keeps: 178 MiB in all."""
    with pytest.raises(kopt.LoweringError, match="the buffers of 'matmul' take 448.0 MiB of VMEM") as at:
        BY_NAME["matmul"].kernel.lower(
            "f32[8192,8192]", "f32[8192,8192]", target="pallas:v6e", config={"block_sizes": [4096, 4096, 4096]}
        )
    assert at.value.notes[-1] == "block_sizes [1024, 2048, 2048] fit"
