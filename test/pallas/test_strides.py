"""Every n-th lane or row, and lanes where a condition holds: interpreted as torch has it, and compiled."""

from __future__ import annotations

import importlib.util

import pytest
import torch

import kopt
import kopt.language as hl


def lanes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    for _ in hl.grid(1):
        y[::2] = x[1::2]
        y[4::3] = 2.0
    return y


def rows_and_lanes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    for _ in hl.grid(1):
        y[::2, :] = x[1::2, :] + 1
        y[:, 1:9:3] = x[:, :18:6]
    return y


def rows_of_blocks(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    for tile in hl.tile(y.size(1), block_size=128):
        y[::3, tile] = x[::3, tile] * 2
    return y


def even_lanes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    for tile in hl.tile(x.size(0), block_size=256):
        hl.store(y, [tile], x[tile], extra_mask=tile.index % 2 == 0)
    return y


def scaled_parts(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    for row, block in hl.tile(x.size(), block_size=[None, 64]):
        for part in hl.tile(block.begin, block.end, block_size=32):
            y[row, part.begin // 32] = x[row, part].abs().amax(1)
    return y


def _of_lanes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    y[::2], y[4::3] = x[1::2], 2.0
    return y


def _of_rows_and_lanes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    y[::2], y[:, 1:9:3] = x[1::2] + 1, x[:, :18:6]
    return y


def _of_rows(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    y[::3] = x[::3] * 2
    return y


def _of_even_lanes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    y[::2] = x[::2]
    return y


def _of_parts(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.abs().unflatten(1, (-1, 32)).amax(2)


def _numbers(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    numbers = torch.randint(-20, 20, shape, generator=torch.Generator().manual_seed(len(shape)))
    return numbers > 0 if dtype == torch.bool else numbers.to(dtype)


_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "i8": torch.int8, "i64": torch.int64, "bool": torch.bool}
CASES = {
    **{f"lanes {name}": (lanes, _of_lanes, (32,), (32,), dtype) for name, dtype in _TYPES.items()},
    "both f32": (rows_and_lanes, _of_rows_and_lanes, (16, 20), (16, 20), torch.float32),
    "both bf16": (rows_and_lanes, _of_rows_and_lanes, (16, 20), (16, 20), torch.bfloat16),
    "rows of blocks": (rows_of_blocks, _of_rows, (10, 300), (10, 300), torch.bfloat16),
    "even lanes": (even_lanes, _of_even_lanes, (300,), (300,), torch.bfloat16),
    "parts": (scaled_parts, _of_parts, (3, 128), (3, 4), torch.float32),
}


@pytest.mark.parametrize("case", CASES)
def test_as_torch(case: str) -> None:
    """Lanes between those that are written keep what they held."""
    kernel, reference, read, written, dtype = CASES[case]
    x, y = _numbers(read, dtype), _numbers(written, dtype)
    wanted = reference(x, y.clone())
    assert torch.equal(kopt.kernel(kernel).on("pallas:interpret")(x, y.clone()), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_compiles(case: str) -> None:
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    kernel, _, read, written, dtype = CASES[case]
    report = (
        kopt.kernel(kernel)
        .lower(_numbers(read, dtype), _numbers(written, dtype), target="pallas:tpu7x")
        .report(estimates=False)
    )
    assert report["legal"], report["reason"]
