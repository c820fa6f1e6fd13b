"""Arguments that share memory: one tensor under two names is one array; anything else that is written is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import ArgumentError
from kopt.runtime.sharing import same_elements, share_an_element

TARGETS = ["reference", "pallas:interpret", "triton:interpret"]


def raise_then_double(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Writes one argument, then reads the other."""
    out = torch.empty_like(y)
    for tile in hl.tile(x.size(0)):
        x[tile] = x[tile] + 1
    for tile in hl.tile(y.size(0)):
        out[tile] = y[tile] * 2
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_one_tensor_twice(target: str) -> None:
    kernel = kopt.kernel(raise_then_double, target=target)
    for second in (lambda x: x, lambda x: x[:]):
        x = torch.arange(10.0)
        found = kernel(x, second(x))
        torch.testing.assert_close(x, torch.arange(10.0) + 1)
        torch.testing.assert_close(found, (torch.arange(10.0) + 1) * 2)
    x, y = torch.arange(10.0), torch.arange(10.0)
    torch.testing.assert_close(kernel(x, y), y * 2)


@pytest.mark.parametrize("target", TARGETS)
def test_parts_that_overlap_are_refused(target: str) -> None:
    x = torch.arange(20.0)
    with pytest.raises(ArgumentError, match="arguments 'x' and 'y' share memory, and raise_then_double writes 'x'"):
        kopt.kernel(raise_then_double, target=target)(x[:10], x[5:15])
    torch.testing.assert_close(x, torch.arange(20.0))


def test_parts_that_only_interleave_are_taken() -> None:
    x = torch.arange(20.0)
    found = kopt.kernel(raise_then_double, target="pallas:interpret")(x[0::2], x[1::2])
    torch.testing.assert_close(found, torch.arange(20.0)[1::2] * 2)
    torch.testing.assert_close(x[0::2], torch.arange(20.0)[0::2] + 1)


@pytest.mark.parametrize("make", [torch.zeros, np.zeros])
def test_predicates(make) -> None:
    x = make((4, 6))
    assert same_elements(x, x[:])
    assert not same_elements(x, x[:2])
    assert share_an_element(x, x[3:])
    assert not share_an_element(x[:, ::2], x[:, 1::2])
    assert not share_an_element(x[:2], x[2:])
    assert not share_an_element(x, make((4, 6)))
    assert not share_an_element(x[:0], x)
