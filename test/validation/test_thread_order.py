"""Threads of a program meet in no element without a barrier between them, and no barrier is there for nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

import kopt
import kopt.language as hl
from examples.registry import DTYPES, EXAMPLES
from kopt.context import make_context
from kopt.lowered import Lowered
from kopt.parsing import parse_module
from kopt.pass_manager import run
from kopt.passes.gpu.insert_barriers import InsertBarriersPass
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


class _Random:
    """A launch of loops, branches, loads and stores of one array of 12 × 12, by a seed."""

    def __init__(self, seed: int):
        self._random, self._lines, self._number = random.Random(seed), list[str](), 0
        self._body([], 0)

    @property
    def text(self) -> str:
        """A module with the launch."""
        body = "\n".join(self._lines)
        return f"""func.func @f(%x: memref<12x12xf32>) {{
  triton.launch @f_0 (%a = %x) grid (1) num_warps 4 num_stages 1 {{
    %yes = arith.constant true
    %c3 = arith.constant 3 : index
{body}
  }}
  func.return
}}"""

    def _fresh(self) -> str:
        self._number += 1
        return f"%v{self._number}"

    def _body(self, ranges: list[tuple[str, str, int]], depth: int) -> None:
        """A few statements; ``ranges`` are the loops around them, with their tags and blocks."""
        for _ in range(self._random.randint(1, 3)):
            kind = self._random.choice(
                ["load", "store", "in place", "loop", "branch"] if depth < 3 else ["load", "store"]
            )
            if kind == "loop":
                name, size = self._fresh(), self._random.choice([1, 2, 4])
                tag = f"b{self._number}"
                low = self._random.choice([0, 0, 2])
                self._lines.append(f"tile.for {name}: {tag}={size} in ({low}, {self._random.choice([4, 6, 8])}) {{")
                self._body([*ranges, (name, tag, size)], depth + 1)
                self._lines.append("}")
            elif kind == "branch":
                self._lines.append("scf.if %yes {")
                self._body(ranges, depth + 1)
                self._lines.append("}")
            else:
                self._access(kind, ranges)

    def _access(self, kind: str, ranges: list[tuple[str, str, int]]) -> None:
        entries, dims = zip(*(self._entry(ranges) for _ in range(2)), strict=True)
        type = f"!tile.tile<{''.join(f'{dim} x ' for dim in dims if dim)}f32>"
        place, value = f"%a[{', '.join(entries)}]", self._fresh()
        if kind == "store":
            self._lines.append(f"{value} = tile.full 1 : {type}")
        else:
            self._lines.append(f"{value} = tile.load {place} : memref<12x12xf32> -> {type}")
        if kind != "load":
            self._lines.append(f"tile.store {value}, {place} : {type}, memref<12x12xf32>")

    def _entry(self, ranges: list[tuple[str, str, int]]) -> tuple[str, str]:
        """An index, and the dimension that it gives: none for a number."""
        kind = self._random.choice(["number", "slice", "range", "range", "shifted", "begin", "id"])
        if kind == "number":
            return str(self._random.randrange(12)), ""
        if kind == "slice" or not ranges:
            low, high = sorted(self._random.sample(range(13), 2))
            return f"{low}:{high}", str(high - low)
        name, tag, size = self._random.choice(ranges)
        if kind == "range":
            return name, f"{tag}={size}"
        type, made = f"!tile.range<{tag}={size}>", self._fresh()
        if kind == "shifted":
            self._lines.append(f"{made} = tile.shift {name} by %c3 : {type}")
            return made, f"{tag}={size}"
        self._lines.append(f"{made} = tile.{kind} {name} : {type}")
        return made, ""


@pytest.mark.parametrize("seeds", [range(n, n + 50) for n in range(0, 200, 50)], ids=lambda seeds: f"{seeds[0]}")
def test_random_launches(seeds) -> None:
    for seed in seeds:
        module = parse_module(_Random(seed).text)
        run(module, make_context(), [InsertBarriersPass()])
        assert not meetings(module, "f", [np.zeros((12, 12), np.float32)]), seed
