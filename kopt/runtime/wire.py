"""Arrays as bits: the form in which they cross process boundaries and change frameworks without DLPack.

A `Packed` holds a row-major NumPy array of a type that every NumPy has (bf16 as uint16, fp8 as uint8) and the real
dtype. The reference interpreter's form, bf16 and fp8 held in float32, is made from it and turned back into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kopt.dtypes import DType
from kopt.errors import ArgumentError
from kopt.specs import framework_of, spec_of

#: Types that NumPy lacks, and the type that carries their bits.
_CARRIERS = {"bf16": "uint16", "f8E4M3FN": "uint8", "f8E5M2": "uint8"}


@dataclass(frozen=True)
class Packed:
    """An array's dtype and its bits; ``bits`` has the array's shape."""

    dtype: DType
    bits: np.ndarray


def carrier(dtype: DType) -> str:
    """The NumPy type that carries a dtype's bits: ``bf16`` → ``uint16``, ``f32`` → ``float32``."""
    return _CARRIERS.get(dtype.spec, dtype.numpy)


def pack(value: Any) -> Packed:
    """A torch, JAX or NumPy array on the CPU as bits; shares memory where it is row-major and owns plain elements."""
    dtype = spec_of(value).dtype
    if framework_of(value) == "torch":
        return Packed(dtype, _torch_bits(value, dtype))
    try:
        array = np.asarray(value)
    except Exception as error:  # JAX says what cannot be read (a tracer, a donated buffer) in several classes
        raise ArgumentError(f"the argument's elements cannot be read: {str(error).splitlines()[0]}") from error
    bits = array if array.flags.c_contiguous else array.copy(order="C")
    return Packed(dtype, bits.view(carrier(dtype)))


def _torch_bits(tensor: Any, dtype: DType) -> np.ndarray:
    import torch

    plain = tensor.detach().contiguous()
    return plain.view(getattr(torch, carrier(dtype))).numpy() if dtype.spec in _CARRIERS else plain.numpy()


def unpack(packed: Packed, framework: str) -> Any:
    """Bits as an array of ``torch``, ``jax`` or ``numpy`` (bf16 and fp8 need ml_dtypes there)."""
    return {"torch": _to_torch, "jax": _to_jax, "numpy": _to_numpy}[framework](packed)


def _to_torch(packed: Packed) -> Any:
    import torch

    tensor = torch.from_numpy(np.require(packed.bits, requirements=["C", "W"]))
    return tensor.view(getattr(torch, packed.dtype.torch)) if packed.dtype.spec in _CARRIERS else tensor


def _to_jax(packed: Packed) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(_to_numpy(packed))


def _to_numpy(packed: Packed) -> np.ndarray:
    if packed.dtype.spec not in _CARRIERS:
        return packed.bits
    try:
        import ml_dtypes
    except ImportError:
        raise ArgumentError(f"NumPy has no {packed.dtype.spec}", notes=["install ml_dtypes, or use torch"]) from None
    return packed.bits.view(getattr(ml_dtypes, packed.dtype.torch))


def to_reference(packed: Packed) -> np.ndarray:
    """Bits as the reference interpreter holds them: bf16 and fp8 as float32."""
    if packed.dtype.spec == "bf16":
        return (packed.bits.astype(np.uint32) << 16).view(np.float32)
    if packed.dtype.spec in _CARRIERS:
        return _fp8_values(packed.dtype.spec)[packed.bits]
    return packed.bits


def from_reference(array: np.ndarray, dtype: DType) -> Packed:
    """The reverse of `to_reference`; float32 values round to the nearest even code, fp8 ones must be exact codes."""
    array = np.ascontiguousarray(array, dtype=dtype.numpy).reshape(array.shape)
    if dtype.spec == "bf16":
        return Packed(dtype, _bf16_bits(array))
    if dtype.spec in _CARRIERS:
        return Packed(dtype, _fp8_bits(array, dtype.spec))
    return Packed(dtype, array)


def _bf16_bits(array: np.ndarray) -> np.ndarray:
    bits = array.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(array), 0x7FC0, rounded).astype(np.uint16)


#                 exponent bits, mantissa bits, bias
_FP8 = {"f8E4M3FN": (4, 3, 7), "f8E5M2": (5, 2, 15)}


@cache
def _fp8_values(spec: str) -> np.ndarray:
    """The value of each of the 256 codes."""
    _, mantissa, bias = _FP8[spec]
    codes = np.arange(128)
    exponent, fraction = codes >> mantissa, (codes & ((1 << mantissa) - 1)) / (1 << mantissa)
    normal = np.ldexp(1.0 + fraction, exponent - bias)
    values = np.where(exponent == 0, np.ldexp(fraction, 1 - bias), normal)
    if spec == "f8E4M3FN":
        values[127] = np.nan
    else:
        values[124], values[125:] = np.inf, np.nan
    return np.concatenate([values, -values]).astype(np.float32)


def _fp8_bits(array: np.ndarray, spec: str) -> np.ndarray:
    positive = _fp8_values(spec)[:128]
    finite = int(np.isfinite(positive).sum())
    codes = np.searchsorted(positive[:finite], np.abs(array)).astype(np.uint8)
    codes = np.where(np.isnan(array), 127, codes)
    return (codes | (np.signbit(array).astype(np.uint8) << 7)).astype(np.uint8)
