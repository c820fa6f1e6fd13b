"""Lanes of ragged blocks that were merged, joined, stacked or sliced: what torch has on the lanes that are there."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

import kopt
import kopt.language as hl

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
#: What is computed of a block of 4 rows and 6 columns, of which the last one has 1 row.
OF_A_BLOCK: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum of exp": lambda v: torch.exp(v.reshape(-1)).sum(),
    "smallest": lambda v: v.flatten().amin(),
    "largest by columns": lambda v: v.mT.flatten().amax(),
    "mean of joined": lambda v: torch.cat([v[:, 0], v[:, 1]]).mean(),
    "joined with full": lambda v: torch.cat([v, torch.ones_like(v[:1]) * 2]).prod(0).sum(),
    "variance": lambda v: v.mT.reshape(-1).var(correction=0),
    "deviation of rows": lambda v: v.reshape(-1, 3).std(0).sum() if len(v) > 0 else v.sum(),
    "softmax": lambda v: (torch.softmax(v.reshape(-1), 0) ** 2).sum(),
    "log_softmax": lambda v: torch.log_softmax(v.mT.reshape(-1), 0).amin(),
    "logsumexp": lambda v: torch.logsumexp(v.mT.flatten(), 0),
    "norm": lambda v: torch.exp(v).flatten().norm(),
    "place": lambda v: v.mT.flatten().argmax(),
    "place of the smallest in joined": lambda v: torch.cat([v[:, 3], v[:, 1]]).argmin(),
    "places of rows": lambda v: torch.stack([v, v + 1]).flatten(1).argmax(1).float().sum(),
    "sorted": lambda v: torch.sort(v.mT.flatten()).values[:5].sum(),
    "place of the third": lambda v: v.mT.flatten().kthvalue(3).indices,
    "largest three": lambda v: v.mT.flatten().topk(3).values.sum(),
    "all positive": lambda v: (v.flatten() > -9).all(),
    "some are not": lambda v: (v.flatten().exp() < 0.5).any(),
    "running sum": lambda v: v.mT.exp().reshape(-1).cumsum(0).amax(),
    "running product": lambda v: (v.mT.reshape(-1) + 3).cumprod(0).log().sum(),
    "running largest": lambda v: (v.mT.flatten().cummax(0).indices.int() + 1).float().norm(),
    "first lanes": lambda v: torch.cat([v[:, 2], v[:, 4]])[:2].sum(),
    "lane behind": lambda v: v.mT.flatten()[1:5].exp().sum(),
    "repeated": lambda v: v[:, 0].repeat(3).exp().mean(),
    "each repeated": lambda v: v.repeat_interleave(2, 0).exp().mean(),
    "padded": lambda v: F.pad(v[:, 0], (1, 2), value=1.5).exp().mean(),
    "backwards": lambda v: v.flatten().flip(0)[:3].sum(),
    "back again": lambda v: v.flatten().unflatten(0, (-1, 6)).exp().sum(0).amax(),
    "block by block": lambda v: torch.stack([v[:, 0], v[:, 1]]).flatten().view(2, len(v)).exp().sum(0).amax(),
    "rows with a free one": lambda v: torch.stack([v, v]).view(-1, len(v), 6).exp().sum(0).amax(),
    "pairs": lambda v: v[:, 0].repeat_interleave(2).view(v.size(0), 2).exp().sum(1).amax(),
    "as another": lambda v: v.reshape(-1).view_as(v).exp().sum(0).amax(),
    "product": lambda v: (v.mT.flatten()[None, :] @ v.exp().mT.flatten()[:, None]).sum(),
    "ones": lambda v: torch.ones_like(v.flatten()).sum(),
    "counted": lambda v: torch.count_nonzero(v.flatten().exp()),
    "bits": lambda v: v.exp().flatten().view(torch.int32).amin(),
    "chosen": lambda v: torch.where(v.flatten() > 0, v.flatten(), 7.0).amax(),
    "squeezed mean": lambda v: v[:, :, None].flatten(1, 2).reshape(-1).exp().mean(),
}


def by_blocks(x, out, of):
    """One number of each block."""
    for i in hl.tile(x.size(0), block_size=4):
        out[i.id] = of(x[i, :])


@pytest.mark.parametrize(
    ("target", "rows"), [*((target, 13) for target in TARGETS), ("reference", 8), ("reference", 3)]
)
@pytest.mark.parametrize("case", OF_A_BLOCK)
def test_a_number_of_a_block(case: str, rows: int, target: str) -> None:
    """Lanes that the last block does not have take no part, wherever they went."""
    of = OF_A_BLOCK[case]
    x = torch.randn(rows, 6, generator=torch.Generator().manual_seed(rows))
    expected = torch.stack([of(part) for part in x.split(4)])
    out = torch.zeros(len(expected), dtype=expected.dtype)
    kopt.kernel(by_blocks).on(target)(x, out, of)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5, equal_nan=True)


def histogram(ix, out):
    """How often each number is there."""
    for i in hl.tile(ix.size(0), block_size=4):
        hl.atomic_add(out, [ix[i, :].reshape(-1)], 1.0)


def spread(x, ix, out):
    """Elements to the rows that they name."""
    for i in hl.tile(x.size(0), block_size=4):
        out[ix[i, :].reshape(-1)] = x[i, :].reshape(-1)


def looked_up(table, ix, out):
    """The largest of what a block names, one further."""
    for i in hl.tile(ix.size(0), block_size=4):
        out[i.id] = table[ix[i, :].mT.reshape(-1) + 1].amax()


@pytest.mark.parametrize("target", TARGETS)
def test_memory_at_merged_numbers(target: str) -> None:
    """Lanes that are not there update, store and read nothing."""
    numbers = torch.Generator().manual_seed(2)
    x, ix = torch.randn(13, 6, generator=numbers), torch.randperm(78, generator=numbers).reshape(13, 6) + 1
    counts = torch.zeros(80)
    kopt.kernel(histogram).on(target)(ix % 9, counts)
    assert counts.tolist() == torch.bincount((ix % 9).flatten(), minlength=80).tolist()
    out, expected = torch.full((80,), 5.0), torch.full((80,), 5.0)
    kopt.kernel(spread).on(target)(x, ix, out)
    expected[ix.flatten()] = x.flatten()
    assert out.tolist() == expected.tolist()
    table, largest = torch.randn(80, generator=numbers), torch.zeros(4)
    kopt.kernel(looked_up).on(target)(table, ix, largest)
    assert largest.tolist() == [table[part + 1].max().item() for part in ix.split(4)]


def carried(x, out, steps):
    """Merged lanes that a loop carries."""
    for i in hl.tile(x.size(0), block_size=4):
        total = x[i, :].reshape(-1).exp()
        for _ in hl.tile(steps, block_size=1):
            total = total + x[i, :].reshape(-1).exp()
        out[i.id] = total.mean()


def last_block(x, out):
    """What the last visit of a loop had, merged."""
    for i in hl.grid(1):
        last = torch.zeros([24], dtype=torch.float32)
        for j in hl.tile(x.size(0), block_size=4):
            last = x[j, :].reshape(-1)
        out[i] = last.exp().sum()


def kept_largest(x, out):
    """A full block that shorter ones are combined into."""
    for i in hl.grid(1):
        best = hl.full([4, 6], -9.0, dtype=torch.float32)
        for j in hl.tile(x.size(0), block_size=4):
            best = torch.maximum(best, x[j, :] - 5)
        out[i] = best.sum()


@pytest.mark.parametrize("target", TARGETS)
def test_loops_carry_merged_lanes(target: str) -> None:
    """The validity of lanes goes round with them."""
    x = torch.randn(13, 6, generator=torch.Generator().manual_seed(3))
    out = torch.zeros(4)
    kopt.kernel(carried).on(target)(x, out, 3)
    torch.testing.assert_close(out, torch.stack([4 * part.exp().mean() for part in x.split(4)]))
    one = torch.zeros(1)
    kopt.kernel(last_block).on(target)(x, one)
    torch.testing.assert_close(one[0], x[12].exp().sum())
    kopt.kernel(kept_largest).on(target)(x, one)
    parts = torch.stack([F.pad(part - 5, (0, 0, 0, 4 - len(part)), value=-9.0) for part in x.split(4)])
    torch.testing.assert_close(one[0], parts.amax(0).sum())


REFUSED: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "a lane that may not be there": (lambda v: v[2, :].sum(), "how many lanes the last block has"),
    "the last lane": (lambda v: v[-1, :].sum(), "how many lanes the last block has"),
    "all but the last": (lambda v: v[:-1].sum(), "how many lanes the last block has"),
    "halves": (lambda v: v.chunk(2)[0].sum(), "how many lanes the last block has"),
    "each lane": (lambda v: torch.stack(v.unbind(0)).sum(), "how many lanes the last block has"),
    "other rows": (lambda v: v.reshape(2, -1).sum(0).amax(), "would mix"),
    "repetitions": (lambda v: v[:, 0].repeat(2).view(2, len(v)).sum(0).amax(), "would mix"),
    "repetitions, one free": (lambda v: v[:, 0].repeat(2).view(-1, v.size(0)).sum(0).amax(), "would mix"),
    "joined blocks": (lambda v: torch.cat([v, v]).unflatten(0, (2, v.shape[0])).sum(0).amax(), "would mix"),
    "pairs the other way": (lambda v: v[:, :2].reshape(-1).view(2, v.size(0)).sum(0).amax(), "would mix"),
    "ones of a merged size": (lambda v: torch.ones(v.numel()).sum(), "fewer lanes than this size says"),
    "ones of twice the rows": (lambda v: v.new_ones((v.shape[0] * 2,)).sum(), "fewer lanes than this size says"),
    "repeated to a merged size": (lambda v: v[0, :1].expand(v.flatten().shape[0]).sum(), "fewer lanes than"),
    "columns in threes": (lambda v: v.mT.reshape(-1, 3).sum(0).amax(), "would mix"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_depends_on_the_last_block(case: str) -> None:
    """Where torch would have other lanes on a shorter block, the kernel is refused; on full blocks it is not."""
    of, reason = REFUSED[case]
    out = torch.zeros(4)
    with pytest.raises(kopt.UnsupportedError, match=reason):
        kopt.kernel(by_blocks).on("reference")(torch.randn(13, 6), out, of)
    x = torch.randn(16, 6)
    kopt.kernel(by_blocks).on("reference")(x, out, of)
    torch.testing.assert_close(out, torch.stack([of(part) for part in x.split(4)]))


def full_becomes_shorter(x, out):
    """A full block that is joined with merged lanes of a shorter one."""
    for i in hl.grid(1):
        total = hl.zeros([24])
        for j in hl.tile(x.size(0), block_size=4):
            total = total + x[j, :].reshape(-1)
        out[i] = total.sum()


def one_after_another(x, out):
    """Lanes with gaps to elements without."""
    for i in hl.tile(x.size(0), block_size=4):
        out[i.id, :] = torch.cat([x[i, 0], x[i, 1]])


@pytest.mark.parametrize(
    ("kernel", "shape", "reason"),
    [(full_becomes_shorter, (1,), "a shorter last block"), (one_after_another, (4, 8), "fewer lanes")],
)
def test_lanes_that_do_not_fit_are_refused(kernel: Callable[..., None], shape: tuple[int, ...], reason: str) -> None:
    """torch refuses these shapes in the last block."""
    with pytest.raises(kopt.UnsupportedError, match=reason):
        kopt.kernel(kernel).on("reference")(torch.randn(13, 6), torch.zeros(shape))


def _sizes(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        v = x[i, :]
        n = v.shape[0]
        merged = v.reshape(-1)
        out[i, :] = v * (1.0 / n) + v.sum() / v.numel() + n * 2 + float(n) + v.size(0) / 2 + len(v) * 2.5
        out[i, :] *= math.sqrt(v.shape[0])
        out[i, :] += merged.sum() / merged.shape[0] + merged.numel() + v.new_tensor(v.size(0))
    return out


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("size", [4, 13, 16])
def test_sizes_in_arithmetic_are_those_of_the_last_block(size: int, target: str) -> None:
    """Numbers of elements, on the device and in Python: the last block has fewer."""
    x = torch.randn(13, 6)
    kernel = kopt.kernel(_sizes, config={"block_sizes": [size]})
    torch.testing.assert_close(kernel.on(target)(x), kernel.on("eager")(x))


def _cube_root(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        v = x[i, :]
        out[i, :] = v * math.cbrt(v.shape[0])
    return out


def _power(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        v = x[i, :]
        out[i, :] = v * math.pow(1.5, v.shape[0])
    return out


def test_what_python_cannot_know_is_refused() -> None:
    x = torch.randn(13, 6)
    with pytest.raises(kopt.UnsupportedError, match="how many lanes the last block has is not known"):
        kopt.kernel(_power, config={"block_sizes": [4]}).lower(x, target="reference")
    with pytest.raises(kopt.UnsupportedError, match="how many lanes the last block has is not known"):
        kopt.kernel(_cube_root, config={"block_sizes": [4]}).lower(x, target="reference")
    full = kopt.kernel(_cube_root, config={"block_sizes": [13]})
    torch.testing.assert_close(full.on("reference")(x), x * math.cbrt(13))


def padded(x, out):
    """Sums of columns, and of two elements behind them."""
    for i in hl.tile(x.size(1), block_size=2):
        out[i.id] = F.pad(x[:, i].flatten(), (0, 2), value=5.0).sum(0)


@pytest.mark.parametrize("shape", [(7, 4), (7, 3), (8, 3)])
@pytest.mark.parametrize("target", TARGETS)
def test_padding_beside_merged_lanes_counts(target: str, shape: tuple[int, int]) -> None:
    """Also where a target widens the rows, and gathers lanes by numbers beyond them."""
    x, out = torch.randn(shape), torch.zeros(2)
    kopt.kernel(padded).on(target)(x, out)
    torch.testing.assert_close(out, torch.stack([part.sum() + 10 for part in x.split(2, 1)]))
