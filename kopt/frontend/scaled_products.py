"""``hl.dot_scaled``: products of matrices whose rows and columns have a scale for each group of elements."""

from __future__ import annotations

from typing import Any

import torch

from kopt.frontend.ops.matrices import dot
from kopt.frontend.packed_numbers import fp4_pair
from kopt.frontend.registry import OPERATIONS
from kopt.frontend.state import unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, describe

_FORMATS = {
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "e2m1": torch.uint8,
}


def dot_scaled(
    mat1: Any,
    mat1_scale: Any,
    mat1_format: str,
    mat2: Any,
    mat2_scale: Any,
    mat2_format: str,
    acc: Any = None,
    out_dtype: torch.dtype | None = None,
) -> DeviceTensor:
    """Every element times its group's scale, then an ordinary product, summed in f32.

    The scaled elements are bf16, which holds all of them but those of f16 (and of magnitudes below 2^-133): scales are
    powers of two, and no other format has more significant bits.
    Scales are exponents with a bias of 127, one for as many neighbours along the summed dimension as there are
    elements for each: ``mat1_scale`` has a row for each row of ``mat1``, ``mat2_scale`` one for each column of
    ``mat2``. Numbers of 4 bits (``e2m1``) come in bytes, two neighbours along the summed dimension in each.
    """
    exact = torch.float32 if "fp16" in (mat1_format, mat2_format) else torch.bfloat16
    left = _scaled(as_tensor(mat1), as_tensor(mat1_scale), mat1_format).to(exact)
    right = _scaled(OPERATIONS["t"](as_tensor(mat2)), as_tensor(mat2_scale), mat2_format).to(exact)
    return dot(left, OPERATIONS["t"](right), acc=acc, out_dtype=out_dtype or torch.float32)


def _scaled(value: DeviceTensor, scale: DeviceTensor, format: str) -> DeviceTensor:
    """A matrix with a scale for each group along its rows, multiplied out in f32."""
    if format not in _FORMATS:
        unsupported(f"hl.dot_scaled has the formats {', '.join(_FORMATS)}, found {format!r}", id="dtype")
    if value.dtype != _FORMATS[format]:
        unsupported(f"'{format}' in hl.dot_scaled is {_FORMATS[format]}, found {describe(value)}", id="dtype")
    if value.rank != 2 or scale.rank != 2 or scale.dtype != torch.uint8:
        unsupported("hl.dot_scaled multiplies matrices with matrices of scales in uint8", id="dtype")
    if format == "e2m1":
        pairs = OPERATIONS["stack"](list(fp4_pair(value)), dim=-1)
        value = pairs.reshape([value.shape[0], 2 * int(value.shape[1])])
    rows, groups = scale.shape
    group, rest = divmod(int(value.shape[1]), int(groups))
    if rest:
        unsupported(f"{int(value.shape[1])} elements do not fall into {int(groups)} groups of one scale", id="dtype")
    factors = OPERATIONS["exp2"](scale.to(torch.float32) - 127.0)
    factors = OPERATIONS["where"](scale == 255, float("nan"), factors)
    spread = factors[:, :, None].expand(rows, groups, group).reshape([rows, int(groups) * group])
    return value.to(torch.float32) * spread


FUNCTIONS = {"dot_scaled": dot_scaled}
