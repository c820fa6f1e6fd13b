"""Roundings to f16 inside a kernel give torch's bits."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

#: What is added and taken away again, in steps of the number that is rounded.
ROUNDS = "12288.0"


def through_f16(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0), block_size=8):
        out[i, :] = x[i, :].half().float()
    return out


def _numbers(shape: tuple[int, int] = (16, 256)) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    words = torch.randint(-(2**31), 2**31, shape, generator=generator).to(torch.int32)
    halves = torch.randint(0, 0x7BFF, shape, generator=generator).to(torch.int16).view(torch.float16)
    above = torch.nextafter(halves, torch.tensor(float("inf"), dtype=torch.float16))
    ties = (halves.double() + above.double()).div(2).float()
    ends = [65504, 65519, 65520, 65536, float("inf"), float("nan"), 0, 1e-8, 2**-25, 2**-24, 3 * 2**-25, 2**-14]
    both = torch.tensor([*ends, *(-n for n in ends)], dtype=torch.float32)
    return {"any bits": words.view(torch.float32), "ties": ties, "negative ties": -ties, "ends": both.repeat(8, 1)}


@pytest.mark.parametrize("numbers", _numbers().values(), ids=_numbers())
def test_roundings(numbers: torch.Tensor) -> None:
    """To nearest even, with infinities, subnormal numbers, signed zeros and NaN."""
    kernel = kopt.kernel(through_f16).on("pallas:interpret")
    assert ROUNDS in kernel.lower(numbers).source
    got = kernel(numbers)
    wanted = numbers.half().float()
    same = (got.view(torch.int32) == wanted.view(torch.int32)) | (got.isnan() & wanted.isnan())
    assert same.all(), numbers[~same][:8]


def moved(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty([x.size(1), x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0), block_size=8):
        rows = torch.where(x[i, :] > 0, x[i, :], 0.0)
        out[:, i] = rows.T.reshape(x.size(1), 8).float()
    return out


def test_what_only_moves_is_not_rounded() -> None:
    """Numbers that are loaded, chosen and rearranged are f16's already."""
    x = torch.randn(16, 128, generator=torch.Generator().manual_seed(0)).half()
    kernel = kopt.kernel(moved).on("pallas:interpret")
    assert ROUNDS not in kernel.lower(x).source
    assert torch.equal(kernel(x), x.relu().T.float())


def unpacked(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=torch.float32)
    for i in hl.tile(x.size(0), block_size=8):
        size = (x[i, :] & 7).float()
        out[i, :] = torch.where(x[i, :] > 7, -0.5 * size, size * 0.5).half().float()
    return out


def test_what_cannot_be_lost_is_not_rounded() -> None:
    """Small multiples of a half are f16's."""
    x = torch.arange(2048, dtype=torch.int32).view(8, 256) % 16
    kernel = kopt.kernel(unpacked).on("pallas:interpret")
    assert ROUNDS not in kernel.lower(x).source
    assert torch.equal(kernel(x), torch.where(x > 7, -0.5, 0.5) * (x % 8))


@pytest.mark.parametrize(
    ("most", "factor", "rounds"),
    [
        (2047, 1.0, False),
        (2047, 2.0**-24, False),
        (511, 64.0, False),
        (4095, 1.0, True),  # 12 digits
        (7, 2.0**-25, True),  # below the smallest
        (2047, 64.0, True),  # beyond the largest
    ],
)
def test_numbers_that_are_known_are_rounded_where_something_is_lost(most: int, factor: float, rounds: bool) -> None:
    """Digits, smallest steps and the largest number, each at its limit and beyond."""

    def scaled(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(x.shape, dtype=torch.float32)
        for i in hl.tile(x.size(0), block_size=8):
            out[i, :] = ((x[i, :] & most).float() * factor).half().float()
        return out

    x = torch.arange(4096, dtype=torch.int32).view(16, 256)
    kernel = kopt.kernel(scaled).on("pallas:interpret")
    assert (ROUNDS in kernel.lower(x).source) is rounds
    assert torch.equal(kernel(x), ((x & most) * factor).half().float())
