"""Array specs: the shape, dtype and strides of an argument, from text or from an array of any framework."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from typing import Any

from kopt import dtypes
from kopt.dtypes import DType
from kopt.errors import ArgumentError


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements: ``(2, 3, 4)`` → ``(12, 4, 1)``."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


@dataclass(frozen=True)
class TensorSpec:
    """An array without its data. ``strides`` count elements; None means row-major."""

    shape: tuple[int, ...]
    dtype: DType
    strides: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return f"{self.dtype.spec}[{','.join(map(str, self.shape))}]"

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.size * self.dtype.bytes

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        wanted = contiguous_strides(self.shape)
        strides = self.strides or wanted
        return self.size == 0 or all(n == 1 or s == w for n, s, w in zip(self.shape, strides, wanted, strict=True))


_SPEC = re.compile(r"\s*(\w+)\s*\[\s*([\d\s,]*)\]\s*")


def parse_spec(text: str) -> TensorSpec:
    """``"f32[4096,2560]"`` → a `TensorSpec`; ``"f32[]"`` is a scalar array. Raises `ArgumentError` with the form."""
    match = _SPEC.fullmatch(text)
    if match is None:
        raise ArgumentError(f"'{text}' is not a tensor spec", notes=["write a dtype and extents, as in f32[4096,2560]"])
    dtype = dtypes.by_name(match[1])
    if dtype is None:
        raise ArgumentError(f"unknown dtype '{match[1]}' in '{text}'", notes=[f"dtypes: {', '.join(dtypes.BY_SPEC)}"])
    extents = [extent.strip() for extent in match[2].split(",")] if match[2].strip() else []
    if not all(extents):
        raise ArgumentError(f"missing extent in tensor spec '{text}'")
    return TensorSpec(tuple(map(int, extents)), dtype)


def framework_of(value: Any) -> str | None:
    """``"torch"``, ``"jax"``, ``"numpy"``, or None for a value that is no array. Imports nothing."""
    if _is_instance(value, "torch", "Tensor"):
        return "torch"
    if _is_instance(value, "jax", "Array"):
        return "jax"
    if _is_instance(value, "numpy", "ndarray") or _is_instance(value, "numpy", "generic"):
        return "numpy"
    return None


def _is_instance(value: Any, module: str, name: str) -> bool:
    """An instance check against a class of a module that may not be loaded (then nothing is an instance of it)."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def spec_of(value: Any) -> TensorSpec:
    """The spec of a torch, JAX or NumPy array (meta tensors and tracers too), a spec, or the text of one.

    Raises `ArgumentError` for anything else, and for a dtype that kopt does not have.
    """
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, str):
        return parse_spec(value)
    framework = framework_of(value)
    if framework is None and not _is_struct(value):
        raise ArgumentError(f"expected a tensor or a spec such as 'f32[4096,2560]', got {type(value).__name__}")
    return TensorSpec(tuple(map(int, value.shape)), _dtype_of(value), _strides_of(value, framework))


def stored(value: Any) -> Any:
    """A torch tensor of pairs of 4-bit floats as its bytes, which kernels unpack; anything else as it is."""
    pairs = _is_instance(value, "torch", "Tensor") and str(value.dtype) == "torch.float4_e2m1fn_x2"
    return value.view(sys.modules["torch"].uint8) if pairs else value


def _is_struct(value: Any) -> bool:
    return _is_instance(value, "jax", "ShapeDtypeStruct")


def _dtype_of(value: Any) -> DType:
    name = str(value.dtype).removeprefix("torch.")
    dtype = dtypes.BY_TORCH.get(name)
    if dtype is None:
        raise ArgumentError(f"dtype {name} is not supported", notes=[f"dtypes: {', '.join(dtypes.BY_TORCH)}"])
    return dtype


def _strides_of(value: Any, framework: str | None) -> tuple[int, ...] | None:
    if framework == "torch":
        return tuple(map(int, value.stride()))
    if framework == "numpy":
        return tuple(step // max(value.itemsize, 1) for step in value.strides)
    return None
