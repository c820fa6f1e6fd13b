"""torch dtypes and the IR's element types, and torch's rules for mixing them."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from xdsl.ir import Attribute

from kopt import dtypes
from kopt.frontend.state import unsupported

_BY_TORCH = {getattr(torch, d.torch): d for d in dtypes.DTYPES if hasattr(torch, d.torch)}
_TO_IR = {dtype: dtypes.to_ir(d) for dtype, d in _BY_TORCH.items()}
_FROM_IR = {type: dtype for dtype, type in _TO_IR.items()}
_BY_SPEC = {d.spec: dtype for dtype, d in _BY_TORCH.items()}
_NARROW = {d for d in _BY_TORCH if d.is_floating_point and d not in (torch.float32, torch.float64)}


def element_type(dtype: torch.dtype) -> Attribute:
    """The IR's type of a torch dtype. Refuses those that kopt does not have."""
    type = _TO_IR.get(dtype)
    if type is None:
        unsupported(f"dtype {dtype} is not supported", f"dtypes: {', '.join(map(str, _TO_IR))}", id="dtype")
    return type


def torch_dtype(type: Attribute) -> torch.dtype:
    """The inverse of `element_type`."""
    return _FROM_IR[type]


def from_spec(dtype: dtypes.DType) -> torch.dtype:
    """torch's name of a dtype."""
    return _BY_SPEC[dtype.spec]


def compute_dtype(dtype: torch.dtype) -> torch.dtype:
    """What a dtype is computed in: narrow floats in f32."""
    return torch.float32 if dtype in _NARROW else dtype


def float_dtype(dtype: torch.dtype) -> torch.dtype:
    """The result of a function of real numbers: torch's default float for integers."""
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


#: Ranks of operands in torch's promotion: arrays, scalars of arrays (0-d), Python numbers.
ARRAY, SCALAR, NUMBER = 0, 1, 2
_NUMBERS: dict[type, torch.dtype] = {bool: torch.bool, int: torch.int64, float: torch.float32}


def number_dtype(value: Any) -> torch.dtype:
    """The dtype that a Python number weakly has."""
    return _NUMBERS[bool if isinstance(value, bool) else int if isinstance(value, int) else float]


@cache
def promote(operands: tuple[tuple[int, torch.dtype], ...]) -> torch.dtype:
    """torch's result dtype of ``(rank, dtype)`` operands, where rank is ARRAY, SCALAR or NUMBER."""
    ranks: list[torch.dtype | None] = [None, None, None]
    for rank, dtype in operands:
        before = ranks[rank]
        ranks[rank] = dtype if before is None else torch.promote_types(before, dtype)
    result = ranks[0]
    for lower in ranks[1:]:
        result = _combine(result, lower)
    assert result is not None
    return result


def _combine(higher: torch.dtype | None, lower: torch.dtype | None) -> torch.dtype | None:
    if higher is None or lower is None:
        return higher if lower is None else lower
    if higher.is_floating_point or not (higher == torch.bool or lower.is_floating_point):
        return higher
    if lower == torch.float32 and not higher.is_floating_point:
        return torch.get_default_dtype() if higher != torch.float64 else higher
    return torch.promote_types(higher, lower)
