"""Matrix products: operands of mixed dtypes meet, and accumulators may be wider than what is multiplied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.eager.blocks import Block, axes_of, block
from kopt.eager.broadcasting import together
from kopt.eager.packed import fp4_pair
from kopt.eager.state import refuse

_FORMATS = {
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "e2m1": torch.uint8,
}


def _accumulates(dtype: torch.dtype) -> torch.dtype:
    """What a product of a dtype is summed in."""
    if dtype in (torch.float64, torch.int64):
        return dtype
    return torch.float32 if dtype.is_floating_point else torch.int32


def _promoted(mat1: torch.Tensor, mat2: torch.Tensor) -> torch.dtype:
    """The dtype that operands meet in: torch promotes no 8-bit floats."""
    return torch.promote_types(mat1.dtype, mat2.dtype)


def _multiplied(mat1: torch.Tensor, mat2: torch.Tensor) -> torch.dtype:
    """The dtype that operands of ``hl.dot`` meet in, of which one may have 8-bit floats."""
    narrow = any(value.dtype.itemsize == 1 and value.dtype.is_floating_point for value in (mat1, mat2))
    return torch.float32 if narrow else _promoted(mat1, mat2)


def _alike(function: Callable[..., Any]) -> Callable[..., Any]:
    """torch's function of operands of one dtype."""

    def product(mat1: Any, mat2: Any, *rest: Any, **kwargs: Any) -> Any:
        dtype = _promoted(mat1, mat2)
        return function(mat1.to(dtype), mat2.to(dtype), *rest, **kwargs)

    return product


def _wide_product(function: Callable[..., Any], out_dtype: torch.dtype, mat1: Any, mat2: Any) -> Any:
    """``bmm(x, y, out_dtype)``."""
    wide = _accumulates(_promoted(mat1, mat2))
    return function(mat1.to(wide), mat2.to(wide)).to(out_dtype)


def _batched(function: Callable[..., Any]) -> Callable[..., Any]:
    alike = _alike(function)

    def product(mat1: Any, mat2: Any, out_dtype: torch.dtype | None = None) -> Any:
        return alike(mat1, mat2) if out_dtype is None else _wide_product(function, out_dtype, mat1, mat2)

    return product


def _added(function: Callable[..., Any]) -> Callable[..., Any]:
    """``addmm``: an accumulator of another dtype than the operands' is added to before anything is rounded."""

    def product(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
        dtype = _promoted(mat1, mat2)
        if input.dtype == dtype == mat1.dtype == mat2.dtype:
            return function(input, mat1, mat2, beta=beta, alpha=alpha)
        wide = _accumulates(dtype)
        if not wide.is_floating_point:
            beta, alpha = int(beta), int(alpha)
        whole = torch.matmul(mat1.to(dtype).to(wide), mat2.to(dtype).to(wide))
        return (input.to(wide) * beta + whole * alpha).to(input.dtype)

    return product


def dot(mat1: Any, mat2: Any, acc: Any = None, out_dtype: torch.dtype | None = None) -> Block:
    """``hl.dot``: the result has the accumulator's dtype, else ``out_dtype``, else f32 or int32."""
    wide = _accumulates(_multiplied(mat1, mat2))
    product = torch.matmul(mat1.to(wide), mat2.to(wide))
    axes = [*axes_of(mat1)[:-1], axes_of(mat2)[-1]] if mat1.ndim == mat2.ndim >= 2 else None
    if acc is None:
        return block(product.to(out_dtype or wide), axes)
    base = acc if isinstance(acc, torch.Tensor) else torch.tensor(acc)
    if out_dtype is not None and out_dtype != wide:
        product = product.to(out_dtype).to(base.dtype)
        return _sum(base, block(product, axes), base.dtype)
    return _sum(base.to(wide) if base.dtype != wide else base, block(product, axes), base.dtype)


def _sum(base: Any, product: Block, dtype: torch.dtype) -> Block:
    (left, right), axes = together([block(base, axes_of(base)), product])
    return block((left + right).to(dtype), axes)


def dot_scaled(
    mat1: Any,
    mat1_scale: Any,
    mat1_format: str,
    mat2: Any,
    mat2_scale: Any,
    mat2_format: str,
    acc: Any = None,
    out_dtype: torch.dtype | None = None,
) -> Block:
    """``hl.dot_scaled``: every element times its group's scale, then a product in f32."""
    left = _scaled(mat1, mat1_scale, mat1_format)
    right = _scaled(mat2.t(), mat2_scale, mat2_format).t()
    left, right = block(left, _loops(mat1, left)), block(right, _loops(mat2, right))
    return dot(left, right, acc, out_dtype or torch.float32)


def _loops(value: Any, like: torch.Tensor) -> Any:
    return axes_of(value) if value.shape == like.shape else None


def _scaled(value: torch.Tensor, scale: torch.Tensor, format: str) -> torch.Tensor:
    """A matrix with a scale for each group along its rows, multiplied out in f32."""
    if format not in _FORMATS:
        refuse(f"hl.dot_scaled has the formats {', '.join(_FORMATS)}, found {format!r}", id="dtype")
    if value.dtype != _FORMATS[format]:
        refuse(f"'{format}' in hl.dot_scaled is {_FORMATS[format]}, found {value.dtype}", id="dtype")
    if value.ndim != 2 or scale.ndim != 2 or scale.dtype not in (torch.uint8, torch.float8_e4m3fn):
        refuse("hl.dot_scaled multiplies matrices with matrices of scales in uint8 or float8_e4m3fn", id="dtype")
    value = value.as_subclass(torch.Tensor)
    if format == "e2m1":
        value = torch.stack(fp4_pair(value), -1).reshape(value.shape[0], -1)
    group, rest = divmod(value.shape[1], max(scale.shape[1], 1))
    if rest:
        refuse(f"{value.shape[1]} elements do not fall into {scale.shape[1]} groups of one scale", id="dtype")
    factors = scale.as_subclass(torch.Tensor).float()
    if scale.dtype == torch.uint8:
        factors = torch.where(factors == 255, float("nan"), torch.exp2(factors - 127.0))
    return value.float() * factors.repeat_interleave(group, 1)


#: By torch's names.
PRODUCTS: dict[str, Callable[..., Any]] = {
    **{name: _alike(getattr(torch, name)) for name in ("matmul", "mv", "dot", "inner")},
    "rmatmul": lambda mat2, mat1: _alike(torch.matmul)(mat1, mat2),
    "mm": _batched(torch.mm),
    "bmm": _batched(torch.matmul),
    "addmm": _added(torch.addmm),
    "baddbmm": _added(torch.baddbmm),
}
