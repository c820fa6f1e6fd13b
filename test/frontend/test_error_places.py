"""Where errors are: what a loop cannot carry is an error of the loop, not of its body's last statement."""

from __future__ import annotations

import inspect

import pytest
import torch

import kopt.language as hl
from kopt.errors import UnsupportedError
from kopt.frontend import import_kernel


def another_shape(x):
    for tile in hl.tile(x.size(0)):
        acc = hl.zeros([tile])
        for inner in hl.tile(x.size(1)):  # here
            acc = acc[:, None] + x[tile, inner]
            twice = acc * 2
        x[tile, 0] = acc + twice


def another_dtype(x):
    for tile in hl.tile(x.size(0)):
        acc = hl.zeros([tile])
        while acc.sum() < 100:  # here
            acc = (acc + 1).to(torch.float16)
            twice = acc * 2
        x[tile, 0] = acc + twice


def grows(x):
    for tile in hl.tile(x.size(0)):
        parts = []
        for inner in hl.tile(  # here
            x.size(1),
            block_size=16,
        ):
            parts.append(x[tile, inner])
            twice = x[tile, inner] * 2
        x[tile, :] = parts[0] + twice


def another_shape_in_one_arm(x):
    for tile in hl.tile(x.size(0)):
        acc = hl.zeros([tile])
        if x[tile, 0].sum() > 0:  # here
            acc = hl.zeros([tile, 4])
            twice = acc * 2
        x[tile, 0] = acc + twice


@pytest.mark.parametrize("kernel", [another_shape, another_dtype, grows, another_shape_in_one_arm])
def test_the_place_is_that_of_the_loop_or_branch(kernel):
    lines, first = inspect.getsourcelines(kernel)
    with pytest.raises(UnsupportedError) as caught:
        import_kernel(kernel, (torch.randn(32, 16),), {})
    place = caught.value.location
    line = next(number for number, line in enumerate(lines) if "# here" in line)
    begin = next(lines[line].index(word) for word in ("hl.tile(", "acc.sum", "x[tile, 0].sum") if word in lines[line])
    assert (place.file, place.line, place.col) == (__file__, first + line, begin + 1)
    assert place.end_col is None or place.end_col <= len(lines[line])
