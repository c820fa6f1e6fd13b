"""Numbers of 4 bits, and groups of packed numbers, against a table of all of them."""

from __future__ import annotations

import pytest
import torch

import kopt.language as hl

from .support import imported, reference

SIZES = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
NUMBERS = torch.cat([SIZES, -SIZES])
BYTES = torch.arange(256, dtype=torch.uint8)


def pairs(x):
    out = torch.empty([2, x.size(0)], dtype=torch.float32, device=x.device)
    for tile in hl.tile(x.size(0), block_size=128):
        out[0, tile], out[1, tile] = hl.float4_e2m1fn_x2_to_float32(x[tile])
    return out


def groups(load, x, which, out):
    for tile in hl.tile(which.size(0), block_size=4):
        place = which[tile]
        numbers = load(x, place, place < 20)
        for n in hl.static_range(16):
            out[n, tile] = numbers[n]
    return out


def unpacked(bytes: torch.Tensor) -> torch.Tensor:
    return torch.stack([NUMBERS[bytes.long() & 15], NUMBERS[bytes.long() >> 4]])


def test_all_bytes() -> None:
    """By bits: -0 is a number."""
    assert torch.equal(reference(pairs, BYTES).view(torch.int32), unpacked(BYTES).view(torch.int32))


WHICH = torch.tensor([3, 0, 19, 7, 31, 2])


def test_groups_of_bytes() -> None:
    wanted = unpacked(BYTES).T.reshape(-1, 16)[WHICH].T.half()
    found = reference(groups, hl.load_float4_e2m1fn_x16_to_float16, BYTES, WHICH, torch.ones(16, 6).half())
    assert torch.equal(found, wanted * (WHICH < 20))


def test_groups_of_bf16() -> None:
    x = torch.randn(512).bfloat16()
    found = reference(groups, hl.load_bfloat16_x16_to_float16, x, WHICH, torch.ones(16, 6).half())
    assert torch.equal(found, x.half().view(-1, 16)[WHICH].T * (WHICH < 20))


@pytest.mark.parametrize("x", [BYTES.float(), BYTES.to(torch.int8)], ids=str)
def test_other_types_are_refused(x) -> None:
    with pytest.raises(Exception, match="two numbers of 4 bits are a byte of uint8"):
        imported(pairs, x)


@pytest.mark.parametrize("x", [BYTES.float(), BYTES[::2]], ids=["f32", "strided"])
def test_groups_of_others_are_refused(x) -> None:
    with pytest.raises(Exception, match="contiguous host tensor of torch.uint8"):
        imported(groups, hl.load_float4_e2m1fn_x16_to_float16, x, WHICH, torch.ones(16, 6).half())
