"""Kernels made from the table: one kernel computes many calls, each into a result of its own."""

from __future__ import annotations

import importlib.util
import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import kopt
from kopt.dtypes import BY_SPEC, BY_TORCH
from kopt.runtime.tolerance import mismatch

from .table import Group

HEADER = "import torch\nimport torch.nn.functional as F\n\nimport kopt.language as hl\n\n\n"
#: How a kernel of each form walks its arguments, by rank.
_LOOPS = {
    ("lanes", 1): ("for i in hl.tile(a.size(0), block_size=16):", "i"),
    ("lanes", 2): ("for i in hl.tile(a.size(0), block_size=8):", "i, :"),
    ("rows", 3): ("for i in hl.tile(a.size(0), block_size=2):", "i, :, :"),
    ("whole", 2): ("for _ in hl.grid(1):", ":, :"),
}
_numbers = itertools.count()


@dataclass
class Inputs:
    """The tensors ``x y z n`` of one kernel."""

    x: torch.Tensor
    y: torch.Tensor
    z: torch.Tensor
    n: torch.Tensor

    @classmethod
    def of(cls, domain: str, spec: str, shape: Sequence[int]) -> Inputs:
        """Of a domain, in a dtype; the same for the same arguments."""
        generator = torch.Generator().manual_seed(len(shape) + sum(shape))
        dtype = getattr(torch, BY_SPEC["i1" if spec == "bool" else spec].torch)
        values = [_values(domain, dtype, shape, generator) for _ in range(3)]
        return cls(*values, torch.randint(0, 7, tuple(shape), generator=generator))

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        """As a kernel takes them."""
        return self.x, self.y, self.z, self.n


def _values(domain: str, dtype: torch.dtype, shape: Sequence[int], generator: torch.Generator) -> torch.Tensor:
    normal = torch.randn(tuple(shape), generator=generator)
    if dtype == torch.bool:
        return normal > 0
    if domain == "words":
        return torch.randint(-(2**31), 2**31, tuple(shape), generator=generator).to(dtype)
    wide = {
        "real": normal * 3,
        "special": normal * 3,
        "positive": normal.abs() * 2 + 0.25 + (not dtype.is_floating_point),
        "unit": normal.tanh() * 0.9,
        "nonzero": normal * 3 + torch.where(normal < 0, -1.0, 1.0),
        "bits": normal * 40,
        "counts": (normal * 20).round().abs(),
    }[domain]
    if not dtype.is_floating_point:
        return (wide.abs() if dtype == torch.uint8 else wide).to(dtype)
    if domain == "special" and wide.numel() > 8:
        marks = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0])
        at = torch.randint(0, wide.numel(), (5,), generator=generator)
        wide.view(-1)[at] = marks
    return wide.to(dtype)


def expected(call: str, inputs: Inputs) -> torch.Tensor:
    """torch's value of a call."""
    names = {"torch": torch, "F": torch.nn.functional, **vars(inputs)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(var|std).*degrees of freedom")  # torch counts those of no rows, too
        return eval(call, names)


def source(form: str, calls: Sequence[str], results: Sequence[torch.Tensor], rank: int) -> str:
    """A kernel as text."""
    loop, index = _LOOPS[form, rank]
    lines = ["def kernel(a, b, c, d):"]
    for number, result in enumerate(results):
        lines.append(f"    out{number} = torch.empty({list(result.shape)}, dtype={result.dtype})")
    lines += [f"    {loop}", f"        x, y, z, n = a[{index}], b[{index}], c[{index}], d[{index}]"]
    place = "i, ..." if form != "whole" else "..."
    for number, (call, result) in enumerate(zip(calls, results, strict=True)):
        lines += [
            f"        value = {call}",
            f"        assert value.dtype == {result.dtype}, value.dtype",
            f"        out{number}[{place if result.ndim else '()'}] = value",
        ]
    lines.append(f"    return {', '.join(f'out{n}' for n in range(len(results)))}")
    return HEADER + "\n".join(lines) + "\n"


def compiled(text: str, folder: Path) -> Any:
    """The kernel of a text, from a file, so that errors show its lines."""
    path = folder / f"kernel{next(_numbers)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def run(group: Group, calls: Sequence[str], inputs: Inputs, target: str, folder: Path) -> list[str]:
    """What went wrong, a sentence a call: all calls in one kernel, each alone where that fails."""
    wanted = [expected(call, inputs) for call in calls]
    function = compiled(source(group.form, calls, wanted, inputs.x.ndim), folder)
    try:
        got = kopt.kernel(function).on(target)(*inputs.tensors)
    except kopt.KoptError as error:
        if len(calls) == 1:
            return [f"{calls[0]}: {error}"]
        return [line for call in calls for line in run(group, [call], inputs, target, folder)] or [str(error)]
    got = got if isinstance(got, tuple) else (got,)
    checks = [(*each, _terms(group, inputs, each[2])) for each in zip(calls, got, wanted, strict=True)]
    return [line for check in checks if (line := compare(*check))]


def _terms(group: Group, inputs: Inputs, result: torch.Tensor) -> int:
    """How many elements one element of a result adds up: those that there are for each, or a dimension of them."""
    if not group.adds:
        return 1
    return max(1, *inputs.x.shape, inputs.x.numel() // max(result.numel(), 1))


def refused(form: str, call: str, inputs: Inputs, target: str, folder: Path) -> str:
    """With what words a target refuses a call; nothing where it does not."""
    function = compiled(source(form, [call], [expected(call, inputs)], inputs.x.ndim), folder)
    try:
        kopt.kernel(function).lower(*inputs.tensors, target=target)
    except kopt.KoptError as error:
        return str(error)
    return ""


def refused_by_compiler(group: Group, calls: Sequence[str], inputs: Inputs, target: str, folder: Path) -> list[str]:
    """What the compiler of a chip says, a sentence a call: all calls in one kernel, each alone where that fails."""
    text = source(group.form, calls, [expected(call, inputs) for call in calls], inputs.x.ndim)
    report = kopt.kernel(compiled(text, folder)).lower(*inputs.tensors, target=target).report(estimates=False)
    if report["legal"]:
        return []
    if len(calls) == 1:
        return [f"{calls[0]}: {report['reason']}"]
    alone = [line for call in calls for line in refused_by_compiler(group, [call], inputs, target, folder)]
    return alone or [report["reason"]]


def compare(call: str, got: torch.Tensor, wanted: torch.Tensor, terms: int) -> str:
    """How a result that adds up some terms differs from torch's, or nothing."""
    if got.dtype != wanted.dtype:
        return f"{call}: {got.dtype}, torch gives {wanted.dtype}"
    dtype = BY_TORCH[str(wanted.dtype).removeprefix("torch.")]
    difference = mismatch(got, wanted, dtype, terms)
    return f"{call}: {difference}" if difference else ""
