"""The special values of each dtype, and how results at them compare."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from kopt.dtypes import BY_SPEC, BY_TORCH
from kopt.runtime.tolerance import relative
from kopt.targets.compiler_hazards import installed

_FLOATS = (
    0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 3.5, 7.0, 20.0, 21.0, 88.5, 89.0, 104.0, 0.1, 0.9, 1e-4, 1e-8, 1e-30, 1e-20,
    1e20, 1e30, 0.999, 1 - 2**-24, 1 + 2**-23, 1.5707963, 3.1415927, 8388607.5, 16777216.0, 2147483648.0, 3e9,
)  # fmt: skip


def torch_dtype(spec: str) -> torch.dtype:
    """torch's dtype of a spec."""
    return getattr(torch, BY_SPEC["i1" if spec == "bool" else spec].torch)


def special(dtype: torch.dtype) -> torch.Tensor:
    """The special values of a dtype, subnormal numbers left out."""
    if dtype == torch.bool:
        return torch.tensor([False, True])
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        near = [n for n in (*range(-4, 9), 31, 100, -100) if info.min <= n <= info.max]
        return torch.tensor(sorted({*near, info.min, info.min + 1, info.max, info.max - 1, info.max // 2}), dtype=dtype)
    if dtype.itemsize == 1:
        return torch.arange(256, dtype=torch.int16).to(torch.uint8).view(dtype)
    info = torch.finfo(dtype)
    sizes = torch.tensor(
        [*_FLOATS, info.smallest_normal, 2 * info.smallest_normal, info.max, info.max / 2], dtype=torch.float64
    )
    sizes = sizes[(sizes == 0) | (sizes >= info.smallest_normal) & (sizes <= info.max)].to(dtype)
    sizes = torch.cat([sizes, torch.tensor([float("inf")], dtype=dtype)])
    sizes = torch.from_numpy(np.unique(sizes.double().numpy())).to(dtype)
    return torch.cat([sizes, -sizes, torch.tensor([float("nan")], dtype=dtype)])


def pairs(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """All pairs of special values, and some third ones."""
    values = special(dtype)
    numbers = list(itertools.product(range(len(values)), repeat=2))
    first, second = (values[list(column)] for column in zip(*numbers, strict=True))
    third = values[torch.randint(0, len(values), (len(numbers),), generator=torch.Generator().manual_seed(3))]
    return first, second, third


#: Calls that add terms which may cancel, and the scale at which they round: the same of absolute values.
_SCALES = {
    "torch.add(x, y, alpha=2)": "x + 2 * y",
    "torch.sub(x, y, alpha=3)": "x + 3 * y",
    "torch.addcmul(x, y, z)": "x + y * z",
    "torch.addcmul(x, y, z, value=2)": "x + 2 * y * z",
    "torch.addcdiv(x, y, z)": "x + y / z",
    "torch.addcdiv(x, y, z, value=0.5)": "x + 0.5 * y / z",
    "torch.lerp(x, y, 0.3)": "x + y",
    "torch.lerp(x, y, 0.7)": "x + y",
    "torch.lerp(x, y, z)": "y + (x + y) * (z + 1)",
    "torch.logaddexp(x, y)": "x + y + 1",
    "F.tanhshrink(x)": "x",
    "F.gelu(x)": "x",
    'F.gelu(x, approximate="tanh")': "x",
}
#: Which of two zeros is the larger is not defined: torch's own answer depends on the machine.
_EXTREMES = ("torch.maximum", "torch.minimum", "torch.fmax", "torch.fmin", "torch.clamp(x, y", "torch.clamp(x, max=y")

#: Powers of f16 which torch computes otherwise on a CPU than on a GPU, or of f32: there they are square roots.
_POWERS = ("x ** 0.5", "x ** -0.5")
#: Powers whose f64 the exponent rounds in f64, too, and so as much more as it is large.
_WIDE_POWERS = ("torch.pow(x, y)", "x ** -2", "x ** 4", "x ** 2.5")


@dataclass(frozen=True)
class Flushing:
    """What docs/targets.md says of XLA on a CPU, where ``pallas:interpret`` runs."""

    #: Calls that make much of an intermediate result below the smallest normal number.
    magnifies = ("F.mish(x)", "torch.addcdiv(x, y, z, value=0.5)")
    #: Additions of 0 are dropped, so that -0 stays what it is.
    adds_zero = ("x + 0.0",)
    #: The argument is multiplied by log(2), and its error with the result.
    rounds_exponent = ("torch.exp2(x)",)


def value(call: str, operands: Sequence[torch.Tensor]) -> torch.Tensor:
    """torch's value of a call."""
    return eval(call, {"torch": torch, "F": torch.nn.functional, **dict(zip("xyz", operands, strict=True))})


def keeps_signs_of_zeros() -> bool:
    """Whether the installed Triton does: a hazard of versions before 3.9."""
    return tuple(map(int, installed("triton").split(".")[:2])) >= (3, 9)


def difference(
    call: str, operands: Sequence[torch.Tensor], got: torch.Tensor, flushing: Flushing | None, signs: bool = True
) -> str:
    """A sentence on the elements that are wrong, with ``signs`` that of zeros included; nothing where all are right.

    Right is what torch gives, by its code for vectors or by that for what is left of them.
    """
    apart = [torch.stack([operand, operand], 1)[:, 0] for operand in operands]
    results = [value(call, operands), value(call, apart)]
    wanted = results[0]
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{call}: {got.dtype} {list(got.shape)}, torch gives {wanted.dtype} {list(wanted.shape)}"
    if wanted.dtype.is_floating_point:
        bad = torch.stack([_wrong(call, operands, got, each, flushing, signs) for each in results]).all(0)
    else:
        bad = got != wanted
    if not bad.any():
        return ""
    shown = [
        f"of {', '.join(f'{operand[n].item():.9g}' for operand in operands)} {got[n].item()}, not {wanted[n].item()}"
        for n in torch.nonzero(bad).flatten().tolist()[: int(os.environ.get("N", 4))]
    ]
    return f"{call}: {int(bad.sum())} of {bad.numel()} differ: " + "; ".join(shown)


def _wrong(
    call: str,
    operands: Sequence[torch.Tensor],
    got: torch.Tensor,
    wanted: torch.Tensor,
    flushing: Flushing | None,
    signed: bool,
) -> torch.Tensor:
    """Where a result is further off than the dtype's tolerance and torch's own distance from its results in f64."""
    a, b = got.double(), wanted.double()
    wide = [operand.double() if operand.dtype.is_floating_point else operand for operand in operands]
    exact = value(call, wide).double() if operands[0].dtype.is_floating_point else b
    b = torch.where(~b.isfinite() & exact.isfinite(), exact, b)  # torch overflows early
    scale = b.abs()
    info, adds = torch.finfo(wanted.dtype), call in _SCALES
    if adds:
        scale = torch.maximum(scale, value(_SCALES[call], [operand.abs() for operand in wide]))
    allowed = relative(BY_TORCH[str(wanted.dtype).removeprefix("torch.")]) * scale
    allowed = allowed + 2 * (exact - b).abs().nan_to_num(0.0, posinf=0.0)
    if flushing:
        allowed = allowed + 2 * info.smallest_normal
    if flushing and call in flushing.rounds_exponent or wanted.dtype == torch.float64 and call in _WIDE_POWERS:
        allowed = allowed * (1 + b.abs().log2().abs().nan_to_num(0.0, posinf=0.0))
    same = (got.double() == wanted.double()) | (a.isnan() & wanted.isnan()) | ((a - b).abs() <= allowed)
    if adds:
        same = same | (scale > info.max) & ~a.isfinite()
    free = not signed or call.startswith(_EXTREMES) or flushing and call in flushing.adds_zero
    if operands[0].dtype == torch.float16 and call in _POWERS:
        free, same = True, same | (operands[0] == -math.inf)
    if flushing and call in flushing.magnifies:
        same = same | torch.stack([operand.abs() <= 4 * info.smallest_normal for operand in wide]).any(0)
        same = same | (b.abs() <= info.smallest_normal * 128)
    signs = (
        (a == 0) & (wanted == 0) & (a.signbit() != wanted.signbit()) & ((exact == 0) | (not adds and flushing is None))
    )
    return ~same | (signs & (not free))
