"""The cache of compiled kernels: bounded, and what is missing is made once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.kernels import Kernel
from kopt.runtime.bounded_cache import BoundedCache

THREADS = 6


def doubled(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out


def any_value(value):
    return True


def test_the_key_that_was_asked_for_the_longest_ago_goes():
    cache, made = BoundedCache(keys=2), []
    for key in ("a", "b", "a", "c", "a", "b"):
        assert cache.find_or_make(key, any_value, lambda key=key: made.append(key) or key) == key
    assert made == ["a", "b", "c", "b"] and len(cache) == 2
    cache.clear()
    assert len(cache) == 0


def test_a_key_has_several_values():
    cache, made = BoundedCache(values=2), []
    for value in (1, 2, 1, 3, 2, 1):
        found = cache.find_or_make("key", value.__eq__, lambda value=value: made.append(value) or value)
        assert found == value
    assert made == [1, 2, 3, 1]


def test_what_fails_is_made_by_the_next():
    cache = BoundedCache()
    with pytest.raises(ZeroDivisionError):
        cache.find_or_make("key", any_value, lambda: 1 // 0)
    assert cache.find_or_make("key", any_value, lambda: cache.find_or_make("key", any_value, lambda: 5)) == 5


def in_threads(function, arguments):
    """What a function gives for each argument, in threads that start together."""
    start = threading.Barrier(THREADS)

    def call(argument):
        start.wait()
        return function(argument)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(call, arguments))


@pytest.fixture
def compiled(monkeypatch):
    """The kernels that were compiled."""
    found, compile_ = [], Kernel._compile

    def noted(kernel, *args):
        found.append(kernel)
        return compile_(kernel, *args)

    monkeypatch.setattr(Kernel, "_compile", noted)
    return found


def test_threads_compile_once(compiled):
    kernel = kopt.kernel(doubled, target="reference")
    inputs = [torch.full((3, 4), float(number)) for number in range(THREADS)]
    for x, got in zip(inputs, in_threads(kernel, inputs), strict=True):
        assert torch.equal(got, 2 * x)
    assert len(compiled) == 1


def test_threads_compile_different_calls(compiled):
    kernel = kopt.kernel(doubled, target="reference")
    inputs = [torch.ones(number + 1, 4) for number in range(THREADS)]
    for x, got in zip(inputs, in_threads(kernel, inputs), strict=True):
        assert torch.equal(got, 2 * x)
    assert len(compiled) == THREADS


def test_a_kernel_has_one_other_for_each_target(compiled):
    kernel, x = kopt.kernel(doubled), torch.ones(3, 4)
    other = kernel.on("reference")
    assert other is kernel.on("reference") is other.on("reference") is not kernel.on("pallas:interpret")
    for _ in range(2):
        assert torch.equal(kernel.on("reference")(x), 2 * x)
    assert len(compiled) == 1
    for number, one in enumerate((kernel, other), 2):
        one.cache_clear()
        assert torch.equal(other(x), 2 * x) and len(compiled) == number


def test_a_program_has_one_other_for_each_target():
    program = kopt.program(doubled)
    assert program.on("triton:interpret") is program.on("triton:interpret")
    assert repr(program.on("triton:interpret")) == "<kopt program doubled>"
