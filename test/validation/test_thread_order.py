"""Threads of a program meet in no element without a barrier between them, and no barrier is there for nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

import kopt
import kopt.language as hl
from examples.registry import DTYPES, EXAMPLES
from kopt.lowered import Lowered
from kopt.parsing import parse_module
from test.validation.thread_order import meetings, without_each_barrier


def in_two_passes(x, kept, out):
    for rows in hl.tile(x.size(0)):
        for columns in hl.tile(x.size(1), block_size=8):
            kept[rows, columns] = x[rows, columns] * 2
        for columns in hl.tile(x.size(1), block_size=4):
            out[rows, columns] = kept[rows, columns] + kept[rows, 0][:, None]


def moved_on(x):
    for _ in hl.tile(1):
        for tile in hl.tile(x.size(0) - 1, block_size=4):
            x[tile.index + 1, :] = x[tile, :] + 1


def looked_up(picks, x, out):
    for rows in hl.tile(x.size(0), block_size=4):
        hl.atomic_add(x, [picks[rows], 0], 1.0)
        out[rows] = x[picks[rows], 0]


def rows_of_their_own(x, out):
    for rows in hl.tile(x.size(0), block_size=4):
        for row in hl.tile(rows.begin, rows.end, block_size=1):
            out[row, :] = x[row, :] * 2
            out[row, :] = torch.exp(out[row, :])


def module_of(low: Lowered) -> ModuleOp:
    """What is printed."""
    return parse_module(low.stages()[-1][1])


def arrays(*args: Any) -> list[np.ndarray]:
    """Arguments as the interpreter takes them."""
    tensors = [arg.clone() for arg in args if torch.is_tensor(arg)]
    return [(tensor.float() if tensor.is_floating_point() else tensor).numpy() for tensor in tensors]


X = torch.arange(80, dtype=torch.float32).reshape(8, 10)
ROW = torch.zeros(8)
KERNELS: list[tuple[Callable[..., Any], tuple[torch.Tensor, ...], int]] = [
    (in_two_passes, (X, X, X), 1),
    (moved_on, (X,), 2),
    (looked_up, (torch.arange(8, dtype=torch.int32) % 3, X, ROW), 1),
    (rows_of_their_own, (X, X), 0),
]


@pytest.mark.parametrize(("kernel", "args", "barriers"), KERNELS, ids=[kernel.__name__ for kernel, *_ in KERNELS])
def test_each_barrier_is_needed(kernel, args, barriers) -> None:
    low = kopt.kernel(kernel).lower(*map(torch.clone, args), target="triton:sm90")
    module = module_of(low)
    assert not meetings(module, low.entry, arrays(*args))
    without = [meetings(copy, low.entry, arrays(*args)) for copy in without_each_barrier(module)]
    assert len(without) == barriers and all(without)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples(example) -> None:
    args = example.make_args("ragged", DTYPES["f32"])
    low = example.kernel.lower(*args, target="triton:sm90", config=example.sizes["ragged"].config)
    assert not meetings(module_of(low), low.entry, arrays(*args, *low.hidden))
