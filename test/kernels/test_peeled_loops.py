"""Loops with a computed end whose first visits need no masks: on every target the values are those of torch."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.clone import cloned
from kopt.config import Config
from kopt.context import make_context
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.targets.target import parse_target

TARGETS = ("triton:interpret", "pallas:interpret")
X = torch.arange(512 * 512.0).reshape(512, 512) % 97 - 40


@kopt.kernel
def lower_sums(x: torch.Tensor) -> torch.Tensor:
    """The sums of a lower triangle's rows."""
    n = x.size(0)
    out = torch.empty([n], dtype=x.dtype)
    for i in hl.tile(n):
        total = hl.zeros([i], dtype=torch.float32)
        for j in hl.tile(0, i.end):
            seen = i.index[:, None] >= j.index[None, :]
            total = total + torch.where(seen, x[i, j], 0.0).sum(1)
        out[i] = total
    return out


@kopt.kernel
def band_sums(x: torch.Tensor, width: hl.constexpr) -> torch.Tensor:
    """The sums of a band below the diagonal."""
    n = x.size(0)
    out = torch.empty([n], dtype=x.dtype)
    for i in hl.tile(n):
        total = hl.zeros([i], dtype=torch.float32)
        for j in hl.tile(0, i.end):
            rows, columns = i.index[:, None], j.index[None, :]
            seen = (rows >= columns) & (rows - columns < width)
            total = total + torch.where(seen, x[i, j], 0.0).sum(1)
        out[i] = total
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("n", "blocks", "loops"), [(384, (128, 128), 2), (512, (256, 128), 2), (300, (128, 128), 1)])
def test_triangles(target: str, n: int, blocks: tuple[int, int], loops: int) -> None:
    x = X[:n, :n].contiguous()
    low = lower_sums.lower(x, target=target, config={"block_sizes": list(blocks)})
    peeled = dict(low.stages())["peel-loops"]
    assert peeled.count("tile.for") == loops
    found = low.compile()(x)
    torch.testing.assert_close(found, x.tril().sum(1), rtol=0, atol=0)  # whole numbers


def test_values_know_no_users_that_are_nowhere() -> None:
    """What a loop is copied for is gone once its body has moved: rewrites go from values to their users."""
    module = lower_sums.lower(X, target="pallas:v6e", config={"block_sizes": [256, 128]}).module
    passes = pipeline(parse_target("pallas:v6e"), Config(block_sizes=(256, 128)))
    for name in ("peel-loops", "version-cells"):
        place = [each.name for each in passes].index(name) + 1
        run(copy := cloned(module), make_context(), passes[:place])
        values = [value for op in copy.walk() for value in op.results]
        values += [arg for op in copy.walk() for region in op.regions for block in region.blocks for arg in block.args]
        assert all(use.operation.parent is not None for value in values for use in value.uses), name


@pytest.mark.parametrize("target", TARGETS)
def test_bands(target: str) -> None:
    found = band_sums.lower(X, 20, target=target, config={"block_sizes": [128, 128]}).compile()(X, 20)
    torch.testing.assert_close(found, (X.tril() - X.tril(-20)).sum(1), rtol=0, atol=0)


@kopt.kernel
def window_softmax(x: torch.Tensor, width: hl.constexpr) -> torch.Tensor:
    """The softmax of a band's rows, summed up with squares: visits are masked at both ends only."""
    n = x.size(0)
    out = torch.empty([n], dtype=x.dtype)
    for i in hl.tile(n):
        largest = hl.full([i], -1e30, dtype=torch.float32)
        total = hl.zeros([i], dtype=torch.float32)
        acc = hl.zeros([i], dtype=torch.float32)
        for j in hl.tile(max(0, i.begin - width + 1), i.end):
            ago = i.index[:, None] - j.index[None, :]
            scores = torch.where((ago >= 0) & (ago < width), x[i, j], float("-inf"))
            grown = torch.maximum(largest, torch.amax(scores, -1))
            shrink = torch.exp(largest - grown)
            weights = torch.exp(scores - grown[:, None])
            total = total * shrink + weights.sum(-1)
            acc = acc * shrink + (weights * x[i, j] * x[i, j]).sum(-1)
            largest = grown
        out[i] = acc / total
    return out


@pytest.mark.parametrize("target", ("pallas:interpret", "pallas:strict@v6e"))
@pytest.mark.parametrize(("n", "width", "versions", "masks"), [(1024, 256, 3, 2), (1000, 200, 3, 3)])
def test_windows(target: str, n: int, width: int, versions: int, masks: int) -> None:
    """A version for each number of visits; the last has no mask in its visit between both ends."""
    x = (X.repeat(2, 2) / 50)[:n, :n].contiguous()
    low = window_softmax.lower(x, width, target=target, config={"block_sizes": [128, 128]})
    assert low.source.count("@pl.when") == versions
    last = low.source.rpartition("@pl.when")[2]
    assert last.count("ago < ") + last.count("ago >= ") <= masks
    seen = torch.ones(n, n).tril().bool() & ~torch.ones(n, n).tril(-width).bool()
    weights = torch.softmax(x.masked_fill(~seen, float("-inf")), -1)
    torch.testing.assert_close(low.compile()(x, width), (weights * x * x).sum(-1), rtol=1e-5, atol=1e-5)


def chosen_by_value(x, q):
    """Comparisons of floats beside a loop up to a cell's own rows, which has a version for each number of visits."""
    out = torch.empty([16, 16], dtype=torch.float32)
    for i in hl.tile(16, block_size=8):
        v = x[:, :]
        clipped = torch.where(v > 0.5, v, -v)
        acc = hl.zeros([i, 16])
        for j in hl.tile(0, i.end, block_size=4):
            acc = hl.dot(q[i, j], q[j, :], acc=acc)
        out[i, :] = acc + (clipped * torch.where(v < clipped, 2.0, v)).sum()
    return out


def test_values_are_compared_in_each_version_of_a_cell() -> None:
    numbers = torch.Generator().manual_seed(0)
    x, q = torch.randn(4, 4, generator=numbers), torch.randn(16, 16, generator=numbers)
    wanted = kopt.kernel(chosen_by_value).on("eager")(x, q)
    torch.testing.assert_close(kopt.kernel(chosen_by_value).on("pallas:interpret")(x, q), wanted)
