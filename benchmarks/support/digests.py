"""Results in a few numbers: their exact hash, and weighted sums that tell rounding from another result."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from kopt.dtypes import BY_SPEC
from kopt.runtime.tolerance import relative
from kopt.specs import spec_of

#: How many weighted sums; a wrong element is seen by each.
_SUMS = 4


def digest(result: Any) -> dict[str, Any]:
    """A result's shape and dtype, the hash of its bytes, and weighted sums of its elements.

    ``scale`` is the norm of the elements, by which sums are compared; what is no finite number is counted.
    """
    tensor = torch.as_tensor(result).detach().contiguous()
    values = tensor.reshape(-1).to(torch.float64)
    finite = values.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
    return {
        "shape": list(tensor.shape),
        "dtype": spec_of(tensor).dtype.spec,
        "hash": hashlib.sha256(tensor.view(-1).view(torch.uint8).numpy().tobytes()).hexdigest()[:16],
        "sums": [float(finite @ weights) for weights in _weights(values.numel())],
        "scale": float(finite.norm()),
        "not_finite": [int(values.isnan().sum()), int((values == math.inf).sum()), int((values == -math.inf).sum())],
    }


def _weights(count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(count, generator=generator, dtype=torch.float64) for _ in range(_SUMS)]


def same(was: Sequence[Mapping[str, Any]] | None, now: Sequence[Mapping[str, Any]] | None) -> bool:
    """Whether two lists of digests are of equal results, but for how sums are rounded."""
    if was is None or now is None or len(was) != len(now):
        return was is now or was == now
    return all(_alike(*pair) for pair in zip(was, now, strict=True))


def _alike(was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    if was["hash"] == now["hash"]:
        return was["shape"] == now["shape"] and was["dtype"] == now["dtype"]
    if any(was[key] != now[key] for key in ("shape", "dtype", "not_finite")):
        return False
    allowed = relative(BY_SPEC[was["dtype"]]) * was["scale"]
    return all(abs(a - b) <= allowed for a, b in zip(was["sums"], now["sums"], strict=True))
