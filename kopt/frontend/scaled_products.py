"""``hl.dot_scaled``: products of matrices whose rows and columns have a scale for each group of elements."""

from __future__ import annotations

from typing import Any

import torch

from kopt.dialects.tile.scaling import SCALED_FORMATS, SCALES, ScalingExtfOp, numbers_each
from kopt.frontend.dtypes import element_type, torch_dtype
from kopt.frontend.ops.matrices import dot
from kopt.frontend.ops.slicing import plain_dim
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, describe

_FORMATS = {name: torch_dtype(type) for name, type in SCALED_FORMATS.items()}
_SCALES = [torch_dtype(type) for type in SCALES]


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

    The scaled elements are bf16 where it holds all of them (but magnitudes below 2^-133): scales in uint8 are powers of
    two, and those in float8_e4m3fn have 4 significant bits, as many as elements of 8 bits have at most.
    Scales in uint8 are exponents with a bias of 127. There is one for as many neighbours along the summed dimension as
    there are elements for each: ``mat1_scale`` has a row for each row of ``mat1``, ``mat2_scale`` one for each column
    of ``mat2``. Numbers of 4 bits (``e2m1``) come in bytes, two neighbours along the summed dimension in each.
    """
    sides = ((mat1, mat1_scale, mat1_format, 1), (mat2, mat2_scale, mat2_format, 0))
    wide = any(format == "fp16" or format == "bf16" and not _is_power(scale) for _, scale, format, _ in sides)
    left, right = (_scaled(*side, torch.float32 if wide else torch.bfloat16) for side in sides)
    return dot(left, right, acc=acc, out_dtype=out_dtype)


def _is_power(scale: Any) -> bool:
    return as_tensor(scale).dtype == torch.uint8


def _scaled(value: Any, scale: Any, format: str, dim: int, dtype: torch.dtype) -> DeviceTensor:
    """A matrix with a scale for each group along a dimension, multiplied out."""
    value, scale = as_tensor(value), as_tensor(scale)
    if format not in _FORMATS:
        unsupported(f"hl.dot_scaled has the formats {', '.join(_FORMATS)}, found {format!r}", id="dtype")
    if value.dtype != _FORMATS[format]:
        unsupported(f"'{format}' in hl.dot_scaled is {_FORMATS[format]}, found {describe(value)}", id="dtype")
    if value.rank != 2 or scale.rank != 2 or scale.dtype not in _SCALES:
        unsupported("hl.dot_scaled multiplies matrices with matrices of scales in uint8 or float8_e4m3fn", id="dtype")
    elements = int(value.shape[dim]) * numbers_each(format)
    if elements % int(scale.shape[1]):
        unsupported(f"{elements} elements do not fall into {int(scale.shape[1])} groups of one scale", id="dtype")
    value, scale = plain_dim(value, dim), plain_dim(scale, 1)
    if value.dims[1 - dim] != scale.dims[0]:
        value, scale = plain_dim(value, 1 - dim), plain_dim(scale, 0)
    if value.dims[1 - dim] != scale.dims[0]:
        unsupported(f"{describe(scale)} has no row of scales for each of {describe(value)}", id="shapes")
    made = ScalingExtfOp(format, value.ssa, scale.ssa, dim, element_type(dtype))
    return DeviceTensor(current().emit(made))


FUNCTIONS = {"dot_scaled": dot_scaled}
