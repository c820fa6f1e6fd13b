"""A generated kernel's text run by torch and by kopt, and what the difference may be.

How far two right computations may differ depends on the kernel: a comparison of nearly equal numbers, or a product of
large ones, makes much of little. So torch runs it several times more, each result moved by an ulp or so; a target may
be as far off as those runs are from each other, a few times over, and a few ulps besides.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import kopt
from kopt.dtypes import BY_TORCH
from kopt.runtime.tolerance import relative
from test.property.eager import Eager, Language

_NOISY_RUNS = 4
_numbers = itertools.count()


class Undefined(Exception):
    """torch itself refuses the kernel: there is nothing to compare with."""


@dataclass
class Verdict:
    """What torch gives, and how much of it is noise."""

    wanted: list[torch.Tensor]
    spread: list[torch.Tensor]

    def problems(self, got: Sequence[torch.Tensor]) -> list[str]:
        """A sentence for each result that is wrong."""
        return [
            f"result {number}: {said}"
            for number, each in enumerate(zip(got, self.wanted, self.spread, strict=True))
            if (said := _difference(*each))
        ]


def module_of(text: str, folder: Path) -> ModuleType:
    """The module of a text, from a file, so that errors show its lines."""
    path = folder / f"case{next(_numbers)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judge(module: ModuleType) -> Verdict:
    """torch's results and their spread. Raises `Undefined` where torch refuses."""
    wanted = _run(module, None)
    noisy = [_run(module, torch.Generator().manual_seed(seed)) for seed in range(_NOISY_RUNS)]
    return Verdict(wanted, [_spread(base, [run[n] for run in noisy]) for n, base in enumerate(wanted)])


def _run(module: ModuleType, noise: torch.Generator | None) -> list[torch.Tensor]:
    kept, module.hl = module.hl, Language
    try:
        with warnings.catch_warnings(), Eager(noise):
            warnings.simplefilter("ignore")
            return list(module.kernel(*module.inputs()))
    except (RuntimeError, IndexError, ZeroDivisionError, TypeError, ValueError, NotImplementedError) as error:
        raise Undefined(str(error)) from error
    finally:
        module.hl = kept


def _spread(base: torch.Tensor, runs: Sequence[torch.Tensor]) -> torch.Tensor:
    """How far runs are from the base; infinite where one is no number and another is."""
    values = base.double()
    spread = torch.zeros_like(values)
    for run in map(torch.Tensor.double, runs):
        same = (run == values) | (run.isnan() & values.isnan())
        away = torch.where(same, 0.0, (run - values).abs())
        spread = torch.maximum(spread, torch.nan_to_num(away, nan=math.inf))
    return spread


def _difference(got: torch.Tensor, wanted: torch.Tensor, spread: torch.Tensor) -> str:
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{got.dtype} {list(got.shape)}, torch gives {wanted.dtype} {list(wanted.shape)}"
    actual, expected = got.double(), wanted.double()
    same = (got == wanted) | (actual.isnan() & expected.isnan())
    error = torch.where(same, 0.0, (actual - expected).abs()).nan_to_num(nan=math.inf, posinf=math.inf)
    bad = ~(error <= _allowed(expected, spread, wanted.dtype)) & ~spread.isinf()
    if not bad.any():
        return ""
    at = tuple(torch.nonzero(bad)[0].tolist())
    return f"{int(bad.sum())} of {bad.numel()} differ; at {list(at)} {got[at].item()}, torch gives {wanted[at].item()}"


def _allowed(expected: torch.Tensor, spread: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    finite = expected[expected.isfinite()]
    scale = min(1.0, float(finite.square().mean().sqrt())) if finite.numel() else 0.0
    own = relative(BY_TORCH[str(dtype).removeprefix("torch.")], 16) * (expected.abs() + scale)
    return own.nan_to_num(nan=0.0, posinf=0.0) + 8 * spread


def results(module: ModuleType, target: str) -> list[torch.Tensor]:
    """What a target gives. Raises `kopt.KoptError`."""
    got: Any = kopt.kernel(module.kernel).on(target)(*module.inputs())
    return list(got)
