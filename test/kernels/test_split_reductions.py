"""Reductions that are dealt out to several programs of a GPU give what torch does, and so does what follows them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

import kopt
import kopt.language as hl
from examples import paged

COLUMNS = 70_003


def sums(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        out[i] = x[i, :].to(torch.float32).sum(-1)
    return out


def spread(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    low, high = (torch.empty([x.size(0)], dtype=x.dtype) for _ in range(2))
    for i in hl.tile(x.size(0)):
        low[i], high[i] = x[i, :].amin(-1), x[i, :].amax(-1)
    return low, high


def product(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty([x.size(0)], dtype=x.dtype)
    for i in hl.tile(x.size(0)):
        out[i] = torch.prod(x[i, :], -1)
    return out


def places(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    low, high = (torch.empty([x.size(0)], dtype=torch.int64) for _ in range(2))
    for i in hl.tile(x.size(0)):
        low[i], high[i] = x[i, :].argmin(-1), x[i, :].argmax(-1)
    return low, high


def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.softmax(x[i, :].to(torch.float32), -1).to(x.dtype)
    return out


def standardised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two reductions, one after the other, then rows; and a result beside the loop that writes them."""
    out, means = torch.empty_like(x), torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        row = x[i, :].to(torch.float32)
        mean = row.mean(-1)
        centred = row - mean[:, None]
        out[i, :] = (centred * torch.rsqrt((centred * centred).mean(-1) + 1e-5)[:, None]).to(x.dtype)
        means[i] = mean
    return out, means


def normalise_in_place(x: torch.Tensor) -> None:
    for i in hl.tile(x.size(0)):
        row = x[i, :]
        x[i, :] = row / row.abs().sum(-1)[:, None]


def torch_standardised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.nn.functional.layer_norm(x.float(), [x.size(1)]).to(x.dtype), x.float().mean(-1)


CASES: dict[str, tuple[Callable[..., object], Callable[..., object], int]] = {
    "sums": (sums, lambda x: x.float().sum(-1), 2),
    "spread": (spread, lambda x: (x.amin(-1), x.amax(-1)), 2),
    "product": (product, lambda x: torch.prod(x, -1), 2),
    "places": (places, lambda x: (x.argmin(-1), x.argmax(-1)), 2),
    "softmax": (softmax, lambda x: torch.softmax(x.float(), -1).to(x.dtype), 2),
    "standardised": (standardised, torch_standardised, 3),
}


def numbers(name: str, rows: int = 2) -> torch.Tensor:
    x = torch.randn(rows, COLUMNS, generator=torch.Generator().manual_seed(0))
    return 1 + x / 512 if name == "product" else x.round(decimals=2)


@pytest.mark.parametrize("split_k", [3, 64])
@pytest.mark.parametrize("name", CASES)
def test_parts_give_what_torch_does(name: str, split_k: int) -> None:
    """Of 70,003 columns, which no block and no number of parts divides, ties included."""
    function, reference, launches = CASES[name]
    x = numbers(name)
    config = {"split_k": split_k, "deterministic": True, "block_sizes": [1]}
    low = kopt.kernel(function, config=config).lower(x, target="triton:interpret")
    assert low.source.count("_kernel[") == launches
    torch.testing.assert_close(low.compile()(x), reference(x), rtol=2e-4, atol=2e-4)


def numbered(x: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What blocks are numbered by, and how many there are, in loops whose bounds are numbers or loaded."""
    whole, some = (torch.empty([x.size(0)], dtype=torch.float32) for _ in range(2))
    for i in hl.grid(x.size(0)):
        all = hl.zeros([1])
        for j in hl.tile(x.size(1), block_size=16):
            all = all + (x[i, j].sum(-1) * (j.id + 1) + j.count)
        whole[i] = all.sum()
        first = hl.zeros([1])
        for k in hl.tile(i, lengths[i], block_size=16):
            first = first + (x[i, k].sum(-1) * (k.id + 1) + k.count)
        some[i] = first.sum()
    return whole, some


def torch_numbered(x: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    def of(row: torch.Tensor) -> torch.Tensor:
        parts = row.split(16) if len(row) else ()
        return sum((part.sum() * (number + 1) + len(parts) for number, part in enumerate(parts)), torch.zeros(()))

    whole = torch.stack([of(row) for row in x])
    return whole, torch.stack([of(row[i:n]) for i, (row, n) in enumerate(zip(x, lengths.tolist(), strict=True))])


@pytest.mark.parametrize("target", ["triton:interpret", "pallas:interpret"])
@pytest.mark.parametrize("split_k", [2, 5])
def test_blocks_keep_their_numbers_in_parts(split_k: int, target: str) -> None:
    x = torch.randn(4, 131, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([0, 131, 1, 90], dtype=torch.int32)  # some parts, and the whole second loop, have no visit
    low = kopt.kernel(numbered, config={"split_k": split_k, "deterministic": True}).lower(x, lengths, target=target)
    torch.testing.assert_close(low.compile()(x, lengths), torch_numbered(x, lengths), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("target", ["triton:interpret", "pallas:interpret", "pallas:strict"])
def test_a_long_sequence_is_read_by_several_programs(target: str) -> None:
    """Attention over pages, of few sequences: loops whose bounds are loaded are dealt out (flash decoding)."""
    make = torch.Generator().manual_seed(0)
    q, keys, values = (torch.randn(*shape, generator=make) for shape in ((3, 8, 64), (2, 40, 16, 64), (2, 40, 16, 64)))
    lengths = torch.tensor([301, 5, 64], dtype=torch.int32)
    table = torch.stack([torch.randperm(40, generator=make)[:20] for _ in range(3)]).int()
    args = (q, keys, values, lengths, table)
    low = paged.paged_attention.lower(*args, target=target, config={"split_k": 4})
    torch.testing.assert_close(low.compile()(*args), paged.reference(*args), rtol=1e-4, atol=1e-5)


def test_few_sequences_are_split_unasked() -> None:
    def programs(sequences: int) -> list[int]:
        pages = f"bf16[8,{sequences * 64},128,128]"
        specs = (f"bf16[{sequences},32,128]", pages, pages, f"i32[{sequences}]", f"i32[{sequences},64]")
        source = paged.paged_attention.lower(*specs, target="triton:sm90").source
        return [int(number) for number in re.findall(r"_kernel\[\((\d+),", source)]

    assert programs(2) == [256, 16] and programs(16) == [128]


def total(x: torch.Tensor) -> torch.Tensor:
    """One number of one cell."""
    out = torch.empty([1], dtype=torch.float32)
    for _ in hl.grid(1):
        sum = hl.zeros([])
        largest = hl.full([], float("-inf"))
        for j in hl.tile(x.size(0), block_size=1024):
            sum = sum + x[j].sum()
            largest = torch.maximum(largest, x[j].amax())
        out[0] = sum + largest
    return out


@pytest.mark.parametrize("target", ["triton:interpret", "pallas:interpret"])
@pytest.mark.parametrize("deterministic", [True, False])
def test_one_number_of_one_cell(deterministic: bool, target: str) -> None:
    x = torch.randn(5000, generator=torch.Generator().manual_seed(0))
    config = {"split_k": 3, "deterministic": deterministic}
    found = kopt.kernel(total, config=config).lower(x, target=target).compile()(x)
    torch.testing.assert_close(found, (x.sum() + x.amax()).reshape(1), rtol=1e-5, atol=1e-3)


def online(first: float, start: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """Sums that are rescaled with a running maximum, which begin with ``start`` under the maximum ``first``."""

    def kernel(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty([x.size(0)], dtype=torch.float32)
        for i in hl.tile(x.size(0)):
            largest, sum = hl.full([i], first), hl.full([i], start)
            for j in hl.tile(x.size(1), block_size=64):
                block = x[i, j]
                new = torch.maximum(largest, block.amax(-1))
                sum = sum * torch.exp(largest - new) + torch.exp(block - new[:, None]).sum(-1)
                largest = new
            out[i] = largest + torch.log(sum)
        return out

    return kernel


@pytest.mark.parametrize(("first", "start"), [(float("-inf"), 1.0), (0.5, 0.0), (0.5, 3.0)])
def test_rescaled_sums_that_begin_somewhere(first: float, start: float) -> None:
    x = torch.randn(2, 300, generator=torch.Generator().manual_seed(0))
    config = {"split_k": 3, "deterministic": True, "block_sizes": [1]}
    low = kopt.kernel(online(first, start), config=config).lower(x, target="triton:interpret")
    assert low.source.count("_kernel[") == 2
    wanted = (x.exp().sum(-1) + start * torch.tensor(first).exp()).log()
    torch.testing.assert_close(low.compile()(x), wanted, rtol=1e-5, atol=1e-5)
