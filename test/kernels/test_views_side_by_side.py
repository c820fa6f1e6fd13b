"""Views of one array, made on the host, that a loop nest reads and writes side by side: they share no element."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["eager", "reference", "triton:interpret", "pallas:interpret"]


@kopt.kernel
def rotated(x):
    half = x.size(1) // 2
    left, right = x[:, :half], x[:, half:]
    for i, j in hl.tile(left.size()):
        a, b = left[i, j], right[i, j]
        left[i, j] = a - 2 * b
        right[i, j] = b + 2 * a
    return x.sum(0)


@kopt.kernel
def interleaved(x):
    out = torch.full([x.size(0), 3, x.size(1)], 7.0)
    first, turned = out[:, 0], out.transpose(0, 2)[:, 1]
    for i, j in hl.tile(x.size()):
        first[i, j] = x[i, j]
        turned[j, i] = -x[i, j].t()
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(8, 16), (5, 6)])
def test_halves_of_an_argument(target: str, shape: tuple[int, int]) -> None:
    x = torch.randn(shape)
    a, b = x.chunk(2, 1)
    wanted = torch.cat([a - 2 * b, b + 2 * a], 1)
    torch.testing.assert_close(rotated.on(target)(x), wanted.sum(0))
    torch.testing.assert_close(x, wanted)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(8, 8), (5, 6)])
def test_planes_of_a_new_array(target: str, shape: tuple[int, int]) -> None:
    x = torch.randn(shape)
    wanted = torch.stack([x, -x, torch.full(shape, 7.0)], 1)
    torch.testing.assert_close(interleaved.on(target)(x), wanted)
