"""A generated kernel's text on the target ``eager`` and on others, and what the difference may be.

How far two right computations may differ depends on the kernel: a comparison of nearly equal numbers, or a product of
large ones, makes much of little. So where a target is more than a few ulps off, torch runs the kernel several times
more, each result moved by an ulp or so: as far as those runs are from each other, a few times over, it may be off too.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch

import kopt
from kopt.dtypes import BY_TORCH
from kopt.eager import combining, creation
from kopt.runtime.tolerance import relative
from test.property.noise import Noise, signed

#: Runs with noise: first a few, and more where something still seems wrong. A number that is 0 but for rounding may
#: have the same sign in all of the few, and a kernel may branch by it.
_NOISY_RUNS = (4, 60)
#: How far zeros of different signs are from each other: next to nothing, but not nothing.
_SIGN = 1e-300
_numbers = itertools.count()


class Undefined(Exception):
    """torch itself refuses the kernel: there is nothing to compare with."""


@dataclass
class Verdict:
    """What torch gives, and how much of it is noise: asked for only where something differs."""

    module: ModuleType
    #: Results, and the arguments after the call.
    wanted: list[torch.Tensor]
    arguments: int

    @cached_property
    def _noisy(self) -> list[list[torch.Tensor]]:
        return []

    def spread(self, runs: int) -> list[torch.Tensor]:
        """How far so many runs with noise are from each result."""
        for seed in range(len(self._noisy), runs):
            self._noisy.append(_run(self.module, torch.Generator().manual_seed(seed)))
        return [_spread(base, [run[n] for run in self._noisy]) for n, base in enumerate(self.wanted)]

    def problems(self, got: Sequence[torch.Tensor], signs: bool = True) -> list[str]:
        """A sentence for each result or argument that is wrong, be it only by the ``signs`` of its zeros.

        Raises `Undefined` where torch refuses a run with noise.
        """
        pairs = list(zip(got, self.wanted, strict=True))
        if not any(_difference(*pair, torch.zeros(()), signs) for pair in pairs):
            return []
        said: list[str] = []
        for runs in _NOISY_RUNS:
            said = [_difference(*pair, spread, signs) for pair, spread in zip(pairs, self.spread(runs), strict=True)]
            if not any(said):
                break
        return [f"{name}: {each}" for name, each in zip(self._names, said, strict=True) if each]

    @property
    def _names(self) -> list[str]:
        results = len(self.wanted) - self.arguments
        return [f"result {n}" for n in range(results)] + [f"argument {n}" for n in range(self.arguments)]


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
    """torch's results, and the arguments after it. Raises `Undefined` where torch refuses."""
    return Verdict(module, _run(module, None), len(module.inputs()))


def _run(module: ModuleType, noise: torch.Generator | None) -> list[torch.Tensor]:
    inputs = module.inputs()
    try:
        with warnings.catch_warnings(), Noise(noise), _unwritten(noise), _padded(noise):
            warnings.simplefilter("ignore")
            return [*kopt.kernel(module.kernel).on("eager")(*inputs), *inputs]
    except kopt.KoptError as error:
        raise Undefined(str(error)) from error


def _unwritten(noise: torch.Generator | None) -> AbstractContextManager[Any]:
    """Around a run with noise: memory that nothing has written holds a number of this run, which is no result."""
    if noise is None:
        return nullcontext()
    return mock.patch.object(creation, "_poison", lambda dtype: noise.initial_seed() % 2)


def _padded(noise: torch.Generator | None) -> AbstractContextManager[Any]:
    """Around a run with noise: ``hl.reduce`` may combine lanes with ``other``, 0 for sums, and -0.0 is 0.0 then."""
    if noise is None:
        return nullcontext()
    folded, negative = combining._folded, noise.initial_seed() % 2 == 1

    def of_either_sign(*args: Any) -> Any:
        found, have = folded(*args)
        return [signed(one, negative) for one in found], have

    return mock.patch.object(combining, "_folded", of_either_sign)


def _spread(base: torch.Tensor, runs: Sequence[torch.Tensor]) -> torch.Tensor:
    """How far runs are from the base: infinite where one is no number and another is, hardly for another sign of 0."""
    values = base.double()
    spread = torch.zeros_like(values)
    for run in map(torch.Tensor.double, runs):
        same = (run == values) | (run.isnan() & values.isnan())
        away = torch.where(same, _SIGN * _signs_differ(run, values).double(), (run - values).abs())
        spread = torch.maximum(spread, torch.nan_to_num(away, nan=math.inf))
    return spread


def _signs_differ(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Where two tensors have zeros of different signs."""
    return (first == 0) & (second == 0) & (first.signbit() != second.signbit())


def _difference(got: torch.Tensor, wanted: torch.Tensor, spread: torch.Tensor, signs: bool) -> str:
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{got.dtype} {list(got.shape)}, torch gives {wanted.dtype} {list(wanted.shape)}"
    actual, expected = got.double(), wanted.double()
    same = (got == wanted) | (actual.isnan() & expected.isnan())
    error = torch.where(same, 0.0, (actual - expected).abs()).nan_to_num(nan=math.inf, posinf=math.inf)
    bad = ~(error <= _allowed(expected, spread, wanted.dtype)) & ~spread.isinf()
    if signs:
        bad |= _signs_differ(actual, expected) & (spread == 0)
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
    """What a target gives, and what it leaves in the arguments. Raises `kopt.KoptError`."""
    inputs = module.inputs()
    got: Any = kopt.kernel(module.kernel).on(target)(*inputs)
    return [*got, *inputs]
