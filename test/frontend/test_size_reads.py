"""What Python makes of the size of a ragged block: the same for the last block, or refused with the place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl

Of = Callable[[torch.Tensor], Any]

#: Of blocks of 4 rows, of which the last one has 1 or 3: what another number of rows decides.
REFUSED: dict[str, Of] = {
    "a choice": lambda v: v.sum() if v.size(0) == 4 else v.sum() * 100,
    "its opposite": lambda v: v.sum() if v.size(0) != 4 else v.sum() * 100,
    "a bound": lambda v: v.sum() * (2 if len(v) > 3 else 3),
    "a bound, from the left": lambda v: v.sum() * (2 if v.shape[0] <= 3.5 else 3),
    "a float's bound": lambda v: v.sum() * (2 if 3.5 < v.shape[0] else 3),
    "a chain": lambda v: v.sum() * (2 if 0 < v.shape[0] < 4 else 3),
    "no rest": lambda v: v.sum() if v.size(0) % 2 == 0 else v.sum() * 3,
    "a rest": lambda v: v.sum() if v.size(0) % 4 else v.sum() * 3,
    "and": lambda v: v.sum() if len(v) > 3 and v.dim() == 2 else v.sum() * 3,
    "not": lambda v: v.sum() if not v.size(0) - 4 else v.sum() * 3,
    "truth": lambda v: v.sum() * (2 if bool(v.size(0) - 4) else 3),
    "equal shapes": lambda v: v.sum() * (2 if v.shape == (4, 6) else 3),
    "one of some": lambda v: v.sum() * (2 if v.size(0) in (2, 4) else 3),
    "elements": lambda v: v.sum() * (2 if v.numel() == 24 else 3),
    "merged": lambda v: v.sum() * (2 if v.flatten().size(0) == 24 else 3),
    "element of a list": lambda v: v.sum() * [1, 2, 3, 4, 5][v.size(0)],
    "element of a tuple": lambda v: v.sum() * (1, 2, 3, 4)[len(v) - 1],
    "part of a list": lambda v: v.sum() * sum([1, 2, 3, 4, 5][: v.size(0)]),
    "key of a dict": lambda v: v.sum() * {1: 2, 3: 5, 4: 3}[v.size(0)],
    "get": lambda v: v.sum() * {1: 2, 4: 3}.get(v.size(0), 7),
    "text": lambda v: v.sum() * len(f"{'x' * 5}{v.size(0) * 5}"),
    "text by %": lambda v: v.sum() * float("%d" % v.size(0)),  # noqa: UP031
    "text by str": lambda v: v.sum() * float(str(v.size(0))),
    "copies in a list": lambda v: v.sum() * sum([1] * v.size(0)),
    "a range": lambda v: sum((v * k).sum() for k in range(v.size(0))),
    "bits": lambda v: v.sum() * (v.size(0).bit_length()),
    "divmod": lambda v: v.sum() * divmod(v.size(0), 3)[1],
    "a library": lambda v: v.sum() * math.comb(v.size(0), 1),
    "sorted": lambda v: v.sum() * sorted([v.size(0), 2])[0],
    "least of others": lambda v: v.sum() if min(v.size(0), 3.5) == 3.5 else v.sum() * 2,
}
#: What is the same for every number of rows, or follows the last block's.
RIGHT: dict[str, Of] = {
    "never empty": lambda v: v.sum() if len(v) > 0 else v.sum() * 100,
    "not more than": lambda v: v.sum() * (2 if v.size(0) <= 4 and v.size(0) else 3),
    "a full dimension": lambda v: v.sum() * (2 if v.size(1) == 6 else 3),
    "the same block's": lambda v: v.sum() * (2 if v.size(0) == (v + 1).size(0) and v.shape == v.exp().shape else 3),
    "products of it": lambda v: v.sum() * (2 if v.numel() == v.size(0) * 6 else 3),
    "all elements": lambda v: v.sum() * (2 if v.flatten().size(0) == v.numel() else 3),
    "the rest by 1": lambda v: v.sum() * (v.size(0) % 1 + [5, 6][v.size(0) // 5]),
    "an integer": lambda v: v.sum() / int(v.size(0)),
    "least of two": lambda v: v.sum() * min(v.size(0), 3),
    "greatest of some": lambda v: v.sum() / max([v.size(0), 2, 3]),
    "least of a shape": lambda v: v.sum() * min(v.shape),
    "a rest": lambda v: v.sum() * (v.size(0) % 2),
    "a bit": lambda v: v.sum() * (v.size(0) & 1) + (v.size(0) << 1),
    "negative": lambda v: v.sum() * -v.size(0),
    "number of a shape": lambda v: v.sum() / v.shape.numel(),
    "number of a part of it": lambda v: v.sum() / v.shape[:1].numel() + v.shape[1:].numel() * v.size().numel(),
    "product": lambda v: v.sum() / math.prod(v.shape),
    "shape as a list": lambda v: torch.ones(list(v.shape)).sum() + v.new_zeros(tuple(v.shape[:1])).sum(),
    "in a list": lambda v: v.sum() * [v.size(0), 2][0],
}


def by_blocks(x, out, of):
    """One number of each block."""
    for i in hl.tile(x.size(0), block_size=4):
        out[i.id] = of(x[i, :])


@pytest.mark.parametrize("rows", [5, 7])
@pytest.mark.parametrize("case", REFUSED)
def test_what_another_last_block_decides(case: str, rows: int) -> None:
    """The kernel has one text for all blocks: it is refused, but not where all blocks are full."""
    x, of = torch.rand(8, 6), REFUSED[case]
    with pytest.raises(kopt.KoptError, match="last") as refusal:
        kopt.kernel(by_blocks).on("reference")(x[:rows], torch.zeros(2), of)
    assert refusal.value.location is not None
    out = torch.zeros(2)
    kopt.kernel(by_blocks).on("reference")(x, out, of)
    torch.testing.assert_close(out, torch.stack([of(part) for part in x.split(4)]))


@pytest.mark.parametrize(
    ("target", "rows"), [("reference", 3), ("reference", 7), ("triton:interpret", 5), ("pallas:interpret", 5)]
)
@pytest.mark.parametrize("case", RIGHT)
def test_what_every_block_has(case: str, rows: int, target: str) -> None:
    """What is the same for all numbers of rows, and what is computed with on the device."""
    x, of = torch.rand(rows, 6), RIGHT[case]
    expected = torch.stack([of(part) for part in x.split(4)])
    out = torch.zeros(len(expected))
    kopt.kernel(by_blocks).on(target)(x, out, of)
    torch.testing.assert_close(out, expected)


def configured(x, out):
    """The configured size is a number, whatever the last block has."""
    for i in hl.tile(x.size(0), block_size=4):
        steps = {4: 3, 5: 1}[i.block_size] + len(f"{i.block_size}") + (7 if i.block_size % 4 == 0 else 0)
        total = x[i, :].sum() * steps
        for _ in range(min(i.block_size, 2)):
            total = total + [1, 2, 3, 4, 5][i.block_size]
        out[i.id] = total


def counted_down(x, out):
    """A loop that Python walks as often as there are rows."""
    for i in hl.tile(x.size(0), block_size=4):
        n, total = x[i, :].size(0), 0.0
        while n > 0:
            n, total = n - 1, total + x[i, :].sum()
        out[i.id] = total


def once_for_each(x, out):
    """An `if` statement that adds."""
    for i in hl.tile(x.size(0), block_size=4):
        total = x[i, :].sum()
        if len(x[i, :]) > 2:
            total = total * 2
        out[i.id] = total


@pytest.mark.parametrize("rows", [5, 8])
def test_configured_sizes_are_numbers(rows: int) -> None:
    x, out, expected = torch.rand(rows, 6), torch.zeros(2), torch.zeros(2)
    kopt.kernel(configured).on("reference")(x, out)
    kopt.kernel(configured).on("eager")(x, expected)
    torch.testing.assert_close(out, expected)


@pytest.mark.parametrize("kernel", [counted_down, once_for_each])
def test_statements(kernel: Callable[..., None]) -> None:
    """Loops and branches of Python that the last block's rows decide."""
    x, out, expected = torch.rand(8, 6), torch.zeros(2), torch.zeros(2)
    with pytest.raises(kopt.UnsupportedError, match="last block"):
        kopt.kernel(kernel).on("reference")(x[:5], out)
    kopt.kernel(kernel).on("reference")(x, out)
    kopt.kernel(kernel).on("eager")(x, expected)
    torch.testing.assert_close(out, expected)
