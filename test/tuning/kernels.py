"""Kernels that are tuned in tests, and what stands for compilers and chips."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import torch

import kopt.language as hl
from kopt.kernels import Kernel, kernel


@kernel
def softmax(x: torch.Tensor) -> torch.Tensor:
    """Rows, whose blocks are open."""
    out = torch.empty_like(x)
    for rows in hl.tile(x.shape[0]):
        out[rows, :] = torch.softmax(x[rows, :], 1)
    return out


@kernel
def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """A product, with a loop that may be a dimension of the grid."""
    m, k = x.shape
    n = y.shape[1]
    out = torch.empty([m, n], dtype=x.dtype)
    for i, j in hl.tile([m, n]):
        total = hl.zeros([i, j], dtype=torch.float32)
        for inner in hl.tile(k):
            total = torch.addmm(total, x[i, inner], y[inner, j])
        out[i, j] = total.to(x.dtype)
    return out


class Choice:
    """A tunable's fragment, in the form that Helion's have."""

    def __init__(self, *choices: Any):
        self.choices = choices

    def default(self) -> Any:
        """The first."""
        return self.choices[0]


@kernel
def repeated(x: torch.Tensor) -> torch.Tensor:
    """A kernel with a tunable of its own: in how many steps the same is computed."""
    steps = hl.register_tunable("steps", Choice(8, 1, 2))
    out = torch.empty_like(x)
    for rows, columns in hl.tile(x.shape):
        value = x[rows, columns].to(torch.float32)
        for _ in range(steps):
            value = torch.exp(value * (1.0 / steps))
        out[rows, columns] = value.to(x.dtype)
    return out


def compile_module(source: str, entry: str, specs: Any, chip: str) -> dict[str, Any]:
    """A compiler that refuses everything where a variable of the environment says so."""
    legal = os.environ.get("KOPT_TEST_COMPILER", "") != "refuses"
    return {"legal": legal, "reason": None if legal else "too many registers", "compile_s": 0.0}


class StubChip:
    """A chip that interprets, and takes what a function of the configuration says."""

    def __init__(self, ms: Callable[[Any], float], wrong: Callable[[Any], bool] = lambda config: False):
        self._ms, self._wrong = ms, wrong
        self.timed: list[Any] = []

    def prepare(self, low: Any, arguments: Sequence[Any]) -> Callable[[], list[Any]]:
        """A run of the reference, with a wrong element where that is asked for."""

        def run() -> list[Any]:
            result = torch.softmax(torch.as_tensor(arguments[0]), 1)
            if self._wrong(low.config):
                result[0, 0] += 1.0
            return [result, torch.as_tensor(arguments[0])]

        run.config = low.config  # pyright: ignore[reportFunctionMemberAccess]
        return run

    def time(self, runs: Sequence[Any]) -> list[float]:
        """The milliseconds of each."""
        self.timed = [run.config for run in runs]
        return [self._ms(run.config) for run in runs]


def fresh(kernel: Kernel) -> Kernel:
    """The same kernel with nothing compiled."""
    return Kernel(kernel.fn, kernel.config, kernel.target)
