"""Kernels that call kernels with configurations of their own: whose sizes and tunables they take."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import ConfigError
from kopt.frontend import import_kernel

from .support import imported

X = torch.zeros(64, 64)


def one_loop(x):
    for i in hl.tile(x.size(0)):
        x[i, 0] = hl.register_tunable("n", 2)


def two_loops(x):
    for i in hl.tile(x.size(0)):
        x[i, 0] = 1
    for i in hl.tile(x.size(0)):
        x[i, 1] = 2


def sizes(kernel, **options) -> list[tuple[int, bool]]:
    return [(block.size, block.pinned) for block in imported(kernel, X, **options).blocks]


inner = kopt.kernel(one_loop, config={"block_sizes": [2]})
plain = kopt.kernel(one_loop)
pair = kopt.kernel(two_loops, config={"block_sizes": [8, 4]})


def around(x):
    for i in hl.tile(x.size(0)):
        x[i, 0] = 1
    inner(x)
    for i in hl.tile(x.size(0)):
        x[i, 1] = 2


def between(x):
    """Tiles of its own before and after a call."""
    for i in hl.tile(x.size(0)):
        x[i, 0] = 1
    inner(x)
    plain(x)
    pair(x)
    for i in hl.tile(x.size(0)):
        x[i, 1] = 2


nested = kopt.kernel(between, config={"block_sizes": [32, 16]})


def two_calls(x):
    nested(x)
    inner(x)


def test_a_called_kernels_sizes_are_for_its_own_tiles() -> None:
    (own, pinned), first, (own_2, pinned_2) = sizes(around)
    assert first == (2, True) and own == own_2 and not pinned and not pinned_2
    provisional = sizes(one_loop)[0][0]
    assert sizes(plain.fn) == [(provisional, False)]
    found = [(32, True), (2, True), (provisional, False), (8, True), (4, True), (16, True)]
    assert sizes(two_calls) == [*found, (2, True)]


def test_sizes_that_the_caller_gives_are_for_all() -> None:
    assert sizes(around, block_sizes=[4, 8, 16]) == [(4, True), (8, True), (16, True)]
    assert sizes(around, block_sizes=[4, 8, 16], pinned=False) == [(4, False), (8, True), (16, False)]


def test_tunables_are_the_called_kernels() -> None:
    tuned = kopt.kernel(one_loop, config={"n": 5})

    def calls(x):
        hl.register_tunable("n", 3)
        tuned(x)
        plain(x)

    found = imported(calls, X, tunables={"n": 4})
    assert found.tunables == {"n": 4}
    stored = [op.properties["value"].value.data for op in found.module.walk() if op.name == "tile.full"]  # pyright: ignore
    assert stored == [5, 2]


@pytest.mark.parametrize(
    ("config", "called", "said"),
    [
        ({"block_sizes": [8]}, two_loops, "block_sizes has 1 entries, but the kernel called here has more open tiles"),
        ({"block_sizes": []}, one_loop, "block_sizes has 0 entries, but the kernel called here has more open tiles"),
        ({"m": 3}, one_loop, "the kernel that is called here has no tunable 'm'"),
    ],
)
def test_configurations_that_do_not_fit(config: dict, called, said: str) -> None:
    kernel = kopt.kernel(called, config=config)

    def calls(x):
        kernel(x)

    with pytest.raises(ConfigError) as caught:
        import_kernel(calls, (X,), {})
    assert said in str(caught.value)


@pytest.mark.parametrize("size", [0, -1, 2.0, "8", None])
def test_sizes_that_are_none(size: object) -> None:
    with pytest.raises(ConfigError) as caught:
        import_kernel(two_loops, (X,), {}, block_sizes=[4, size])
    assert f"block_sizes[1] must be a positive integer, found {size!r}" in str(caught.value)


def test_a_size_of_one_is_one() -> None:
    assert sizes(two_loops, block_sizes=[1, 4]) == [(1, True), (4, True)]
