"""Casts between all dtypes at special values, on every target, beside torch."""

from __future__ import annotations

import pytest
import torch

from test.special_values.kernels import results
from test.special_values.values import special, torch_dtype

SPECS = ("f32", "bf16", "f16", "f8E4M3FN", "f8E5M2", "i32", "i16", "i8", "ui8", "bool")
WIDE = ("f64", "i64")
CASES = [
    *((spec, (*SPECS, *WIDE), target) for spec in (*SPECS, *WIDE) for target in ("reference", "triton:interpret")),
    *((spec, SPECS, "pallas:interpret") for spec in SPECS),
    # A chip without float8_e4m3fn has bytes in its place.
    ("f8E4M3FN", (*SPECS, *WIDE), "triton:interpret@sm80"),
    *((spec, ("f8E4M3FN",), "triton:interpret@sm80") for spec in (*SPECS, *WIDE) if spec != "f8E4M3FN"),
]


def _numbers(dtype: torch.dtype) -> torch.Tensor:
    """Special values, and those around the ends of each narrower dtype and halfway between two of its numbers."""
    if not dtype.is_floating_point or dtype.itemsize == 1:
        return special(dtype)
    ends = [448.0, 464.0, 465.0, 480.0, 57344.0, 61439.0, 61440.0, 65504.0, 65519.0, 65520.0, 65536.0, 3.39e38]
    halves = [
        1 + 2**-9,
        1 + 3 * 2**-9,
        1 + 2**-12,
        1.0625,
        1.1875,
        1.125,
        1.375,
        17.0,
        19.0,
        2**-9,
        2**-10,
        1.5 * 2**-10,
    ]
    integers = [127.0, 127.9, 128.0, 128.9, 255.0, 255.9, 32767.0, 32768.0, 0.9, 1.9, 2147483520.0]
    more = torch.tensor([*ends, *halves, *integers], dtype=torch.float64).to(dtype)
    return torch.cat([special(dtype), more, -more])


@pytest.mark.parametrize(
    ("spec", "targets", "target"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_casts(spec: str, targets: tuple[str, ...], target: str, tmp_path) -> None:
    """Rounding to even, saturation and overflow of fp8, integers that wrap, truth of NaN."""
    operand = _numbers(torch_dtype(spec))
    dtypes = [torch_dtype(name) for name in targets]
    found = results([f"x.to({dtype})" for dtype in dtypes], dtypes, [operand] * 3, target, tmp_path)
    for got, dtype in zip(found, dtypes, strict=True):
        _check(operand, got, operand.to(dtype))


def _check(operand: torch.Tensor, got: torch.Tensor, wanted: torch.Tensor) -> None:
    """Equal to the bit, NaN's own aside; floats that no integer of the dtype holds are not defined."""
    assert got.dtype == wanted.dtype
    a, b = (each.double() if each.dtype.is_floating_point else each.long() for each in (got, wanted))
    same = (a == b) | (a != a) & (b != b)
    if wanted.dtype.is_floating_point:
        same &= (a != a) | (a.signbit() == b.signbit())
    elif operand.dtype.is_floating_point and wanted.dtype != torch.bool:
        info, whole = torch.iinfo(wanted.dtype), operand.double().trunc()
        same |= ~((whole >= info.min) & (whole < float(info.max) + 1))
    shown = [(operand[n].item(), got[n].item(), wanted[n].item()) for n in torch.nonzero(~same).flatten().tolist()]
    assert not shown, f"{wanted.dtype}: {shown[:8]}"
