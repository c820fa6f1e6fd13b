"""Shared by the Triton tests: IR in, results of the reference and of the emitted module in Triton's interpreter out."""

from __future__ import annotations

from typing import Any

import torch

import kopt.api
from kopt.specs import TensorSpec

CHIPS = ("sm80", "sm90", "sm100", "gfx942")


def inputs(specs: tuple[TensorSpec, ...], seed: int = 0) -> list[torch.Tensor]:
    """Random tensors: normal floats, integers from -20 to 20 (0 to 20 if unsigned), booleans."""
    generator = torch.Generator().manual_seed(seed)
    return [_random(spec, generator) for spec in specs]


def _random(spec: TensorSpec, generator: torch.Generator) -> torch.Tensor:
    dtype = getattr(torch, spec.dtype.torch)
    if spec.dtype.kind == "float":
        return torch.randn(spec.shape, generator=generator).to(dtype)
    low = {"int": -20, "uint": 0, "bool": 0}[spec.dtype.kind]
    high = 2 if spec.dtype.kind == "bool" else 20
    return torch.randint(low, high, spec.shape, generator=generator).to(dtype)


def lower(text: str, target: str = "triton:interpret", entry: str | None = None, **config: Any) -> Any:
    """The lowering of IR text."""
    return kopt.api.lower_module(kopt.api.parse(text), entry, target, config)


def as_list(results: Any) -> list[torch.Tensor]:
    """What a kernel gave, as a list."""
    return list(results) if isinstance(results, tuple) else [results] if results is not None else []


def check(text: str, *args: torch.Tensor, rtol: float = 1e-5, atol: float = 1e-5, **config: Any) -> str:
    """Asserts that the emitted module gives what the reference gives; returns the module's text."""
    low = lower(text, **config)
    tensors = list(args) or inputs(low.signature.specs)
    wanted = as_list(lower(text, "reference", **config).compile()(*[t.clone() for t in tensors]))
    got = as_list(low.compile()(*[t.clone() for t in tensors]))
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        wide = torch.float64 if a.dtype.is_floating_point else torch.int64
        torch.testing.assert_close(a.to(wide), b.to(wide), rtol=rtol, atol=atol, equal_nan=True)
    return low.source


def reports(text: str, chips: tuple[str, ...] = CHIPS, **config: Any) -> dict[str, Any]:
    """What Triton's compiler says for each chip."""
    return {chip: lower(text, f"triton:{chip}", **config).report(estimates=False) for chip in chips}


def assert_legal(text: str, chips: tuple[str, ...] = CHIPS, **config: Any) -> None:
    """Asserts that the emitted module compiles for each chip, with no such chip here."""
    for chip, report in reports(text, chips, **config).items():
        assert report["legal"], f"{chip}: {report['reason']}"
