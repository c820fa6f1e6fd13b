"""Numbers that follow from the size of a ragged block: as torch has them in the last block, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import kopt
import kopt.language as hl

#: Of a block whose rows may be fewer: what is right in the last one too.
RIGHT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "one dimension": lambda v: v.reshape(v.size(0) * v.size(1)).exp().sum(),
    "rest is open": lambda v: v.reshape(v.size(0), -1).exp().amax(0).sum(),
    "back from one": lambda v: v.flatten().reshape(v.size(0), -1).exp().amax(0).sum(),
    "both sizes": lambda v: v.flatten().reshape(v.size(0), v.size(1)).exp().amax(0).sum(),
    "behind": lambda v: v.mT.flatten().reshape(-1, v.size(0)).exp().amax(0).sum(),
    "in the middle": lambda v: torch.stack([v, v]).flatten(0, 1).reshape(-1, v.size(0), v.size(1)).exp().sum(),
    "twice": lambda v: torch.stack([v, v]).flatten(0, 1).reshape(v.size(0) * 2, v.size(1)).exp().amax(0).sum(),
    "unflattened": lambda v: v.flatten().unflatten(0, (v.size(0), -1)).exp().amax(0).sum(),
    "up to the end": lambda v: v[: v.size(0)].exp().sum(),
    "the last row": lambda v: v[v.size(0) - 1].exp().sum(),
    "a column": lambda v: v[:, v.size(0) - 2].sum() if v.size(0) > 1 else v[:, -1].sum(),
    "all of the largest": lambda v: v.topk(v.size(0), 0).values[0].sum(),
    "products of rows": lambda v: (v @ v.mT).repeat_interleave(2, -1).exp().sum(),
    "products, merged": lambda v: (v @ v.mT).flatten().exp().sum(),
    "products, by rows": lambda v: (v @ v.mT)[:, :, None].flatten(1).exp().amin(),
    "padded beside first rows": lambda v: F.pad(v[:2].exp(), (1, 1)).amax(1).amin(),
    "padded beside merged rows": lambda v: F.pad(v.reshape(-1, 3), (1, 1), value=5.0).mean(),
    "twice as many": lambda v: v.reshape(v.size(0) * 2, 3).amax(-1).sum(),
    "halves": lambda v: v.reshape(-1, 3).reshape(v.numel() // 3 // 2, 2, 3).exp().amax(1).sum(),
    "smallest and largest": lambda v: v.aminmax(dim=0).max.sum() + torch.aminmax(v).min,
}
#: The same of lanes that stand behind absent ones.
BEHIND: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "first of joined rows": lambda v: torch.cat([v, v * 2])[:3].exp().sum(),
    "first of merged rows": lambda v: torch.stack([v, v * 2], 1).flatten(0, 1)[:3].exp().sum(),
    "joined rows, numbered": lambda v: (torch.cat([v, v + 1]).argmax(0).int() + v.argmin(0).int()).float().sum(),
    "joined rows, sorted": lambda v: torch.cat([v, v * 2]).sort(0).values.cumsum(0).amax(),
    "joined rows, their order": lambda v: torch.cat([v, v * 2]).argsort(0).int().float().amax(1).sum(),
    "joined rows, turned": lambda v: torch.cat([v, v * 2]).flip(0).cumsum(0).amax(),
    "joined rows, counted": lambda v: torch.cat([v, v * 2]).var() + torch.stack([v, v]).mean((0, 1)).amax(),
    "joined with full ones": lambda v: torch.cat([v, torch.ones_like(v[:1]), v * 2])[:4].exp().mean(),
    "places of merged lanes": lambda v: (
        v.flatten().argmax().int().float() + torch.cat([v, v * 2]).flatten().argmin().int()
    ),
}
#: What would be other numbers there.
REFUSED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "lanes of another dimension": lambda v: v.reshape(-1, v.size(0)).mean(-1).amax(),
    "dimensions exchanged": lambda v: v.reshape(v.size(1), v.size(0)).amax(-1).sum(),
    "after a number": lambda v: v.reshape(3, v.size(0), -1).amax(-1).sum(),
    "a number and the rest": lambda v: v.reshape(4, -1).amax(-1).sum(),
    "numbers alone": lambda v: v.reshape(4, 2, 3).amax(-1).sum(),
    "numbers, merged": lambda v: v.flatten().view(2, 12).amax(-1).sum(),
    "numbers of one dimension": lambda v: v[:, 0].view(2, 2).amax(-1).sum(),
    "numbers, unflattened": lambda v: v.unflatten(0, (2, 2)).amax(0).sum(),
    "others than follow": lambda v: v.repeat(2, 1).view(2, 6, -1).exp().amax(-1).sum(),
    "an odd rest": lambda v: v[:, 0].reshape(-1, 2).amax(-1).sum(),
    "copies": lambda v: v.repeat(v.size(0), 1).sum(),
    "tiles": lambda v: v.tile(v.size(0)).sum(),
    "each copied": lambda v: v.repeat_interleave(v.size(0), 1).sum(),
    "padding": lambda v: F.pad(v, (0, v.size(0)), value=1.0).sum(),
    "a place": lambda v: v.kthvalue(v.size(0), 1).values.sum(),
    "the largest": lambda v: v.topk(v.size(0), 1).values.sum(),
    "a slice": lambda v: v[:, : v.size(0)].sum(),
    "parts": lambda v: v.split(v.size(0), 1)[0].sum(),
    "a number of parts": lambda v: v.chunk(v.size(0), 1)[0].sum(),
    "lanes": lambda v: torch.ones(v.size(0) * 2).sum() + v.sum(),
    "numbers": lambda v: torch.arange(1, v.size(0)).sum() + v.sum(),
    "expanded": lambda v: v[None].expand(2, 4, 6).sum(),
    "a loop": lambda v: torch.stack([v * k for k in range(v.size(0))]).sum(),
}
#: What is refused of these is the number itself.
SAID: dict[str, str] = {
    **dict.fromkeys(("copies", "tiles", "each copied"), "a number of copies"),
    "padding": "a width of padding",
    "a place": "the number of a place",
    "the largest": "a number of lanes",
    "a slice": "a bound of a slice",
    "parts": "a size of a part",
    "a number of parts": "a number of parts",
    "numbers": "a bound of arange",
    "a loop": "a bound of range",
}


def by_blocks(x, out, of):
    """One number of each block."""
    for i in hl.tile(x.size(0), block_size=4):
        out[i.id] = of(x[i, :])


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
@pytest.mark.parametrize("rows", [6, 7])
@pytest.mark.parametrize("case", RIGHT)
def test_sizes_of_the_last_block(case: str, rows: int, target: str) -> None:
    """What has a meaning for every block has torch's."""
    x = torch.rand(rows, 6, generator=torch.Generator().manual_seed(rows)) * -1
    expected = torch.stack([RIGHT[case](part) for part in x.split(4)])
    out = torch.zeros(len(expected))
    kopt.kernel(by_blocks).on(target)(x, out, RIGHT[case])
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", BEHIND)
def test_lanes_behind_those_that_the_last_block_lacks(case: str) -> None:
    """They are counted, numbered and taken as torch has them."""
    x = torch.rand(6, 6, generator=torch.Generator().manual_seed(1)) * -1
    expected = torch.stack([BEHIND[case](part) for part in x.split(4)])
    for target in ("reference", "eager"):
        out = torch.zeros(2)
        kopt.kernel(by_blocks).on(target)(x, out, BEHIND[case])
        torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", REFUSED)
def test_numbers_that_differ_in_the_last_block(case: str) -> None:
    """What the last block would have others of is refused, with the place; blocks that are all full take it."""
    x = torch.rand(8, 6)
    with pytest.raises(kopt.KoptError, match=f"{SAID.get(case, '')}.*last"):
        kopt.kernel(by_blocks).on("reference")(x[:7], torch.zeros(2), REFUSED[case])
    if case != "after a number":
        out = torch.zeros(2)
        kopt.kernel(by_blocks).on("reference")(x, out, REFUSED[case])
        torch.testing.assert_close(out, torch.stack([REFUSED[case](part) for part in x.split(4)]))


Of = Callable[[torch.Tensor, Any], torch.Tensor]
#: Multiples of a tile's size are as long as the block is, where they are sizes of dimensions.
MULTIPLES: dict[str, Of] = {
    "rows": lambda v, i: v.reshape(i.block_size * 2, 3).exp().amax(-1).sum(),
    "rows, from the left": lambda v, i: v.reshape(2 * i.block_size, -1).exp().amax(-1).sum(),
    "behind": lambda v, i: torch.stack([v, v]).reshape(2, 6 * i.block_size).exp().amax(0).sum(),
    "joined": lambda v, i: torch.cat([v, v + 1]).view(i.block_size * 2, 6).exp().sum(),
}
MULTIPLES_REFUSED: dict[str, Of] = {
    "repeated": lambda v, i: v[:, 0].repeat(4).view(2, i.block_size * 2).sum(0).amax(),
    "repeated, one free": lambda v, i: v[:, 0].repeat(4).view(-1, i.block_size * 2).sum(0).amax(),
    "ones": lambda v, i: torch.ones(i.block_size * 2).sum() + v.sum(),
    "other numbers": lambda v, i: v.reshape(i.block_size + 4, 3).amax(-1).sum(),
}


def by_tiles(x, out, of):
    """One number of each block and its tile."""
    for i in hl.tile(x.size(0), block_size=4):
        out[i.id] = of(x[i, :], i)


@pytest.mark.parametrize("case", MULTIPLES)
def test_multiples_of_a_tiles_size(case: str) -> None:
    """As `eager` has it."""
    x, out, expected = torch.rand(7, 6), torch.zeros(2), torch.zeros(2)
    kopt.kernel(by_tiles).on("reference")(x, out, MULTIPLES[case])
    kopt.kernel(by_tiles).on("eager")(x, expected, MULTIPLES[case])
    torch.testing.assert_close(out, expected)


@pytest.mark.parametrize("case", MULTIPLES_REFUSED)
def test_multiples_that_would_mix(case: str) -> None:
    """What the last block has other lanes of is refused; blocks that are all full take it."""
    x, out, expected = torch.rand(8, 6), torch.zeros(2), torch.zeros(2)
    with pytest.raises(kopt.UnsupportedError, match="last block"):
        kopt.kernel(by_tiles).on("reference")(x[:7], out, MULTIPLES_REFUSED[case])
    kopt.kernel(by_tiles).on("reference")(x, out, MULTIPLES_REFUSED[case])
    kopt.kernel(by_tiles).on("eager")(x, expected, MULTIPLES_REFUSED[case])
    torch.testing.assert_close(out, expected)
