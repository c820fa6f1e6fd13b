"""Moving arrays between torch, JAX and NumPy without changing a bit and, where the platform allows, without a copy.

torch ↔ JAX goes by DLPack. What DLPack or JAX would refuse or silently change is handled here: strided, sliced and
expanded tensors are copied to row-major order, 64-bit elements are moved under JAX's 64-bit mode, fp8 travels as its
bits, empty arrays are made afresh, and a tensor that records gradients is an error that says what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from kopt.dtypes import DType
from kopt.errors import ArgumentError
from kopt.runtime.wire import carrier, pack, unpack
from kopt.specs import TensorSpec, contiguous_strides, framework_of, spec_of


def wide(enabled: bool) -> AbstractContextManager[Any]:
    """JAX's 64-bit mode while the context lasts, so that int64 and float64 keep their width."""
    if not enabled:
        return nullcontext()
    import jax

    return jax.enable_x64(True)


def check_grad(value: Any, name: str) -> None:
    """Refuse a tensor whose gradient torch would record: the kernel has none, and the result would hide that."""
    if framework_of(value) != "torch":
        return
    import torch

    if value.requires_grad and torch.is_grad_enabled():
        raise ArgumentError(
            f"argument '{name}' requires grad, and a kopt kernel has no backward",
            notes=["pass it detached (x.detach()), or call the kernel under torch.no_grad()"],
            id="gradient",
        )


def convert(value: Any, framework: str) -> Any:
    """An array as one of ``torch``, ``jax`` or ``numpy``, its dtype and elements unchanged."""
    source = framework_of(value)
    if source == framework:
        return value
    if (source, framework) == ("torch", "jax"):
        return torch_to_jax(value)
    if (source, framework) == ("jax", "torch"):
        return jax_to_torch(value)
    with wide(framework == "jax" and spec_of(value).dtype.bits == 64):
        return unpack(pack(value), framework)


def torch_to_jax(tensor: Any) -> Any:
    """A torch tensor as a JAX array; shares memory where it is row-major and aligned as JAX wants."""
    import jax.numpy as jnp

    dtype = spec_of(tensor).dtype
    with wide(dtype.bits == 64):
        if tensor.numel() == 0:
            return jnp.zeros(tuple(tensor.shape), dtype.jax)
        plain = row_major(tensor.detach())
        array = jnp.from_dlpack(_as_bits(plain) if _is_fp8(dtype) else plain)
        return array.view(dtype.jax) if _is_fp8(dtype) else array


def jax_to_torch(array: Any) -> Any:
    """A JAX array as a torch tensor on the same device; shares memory where torch accepts the buffer."""
    import jax.numpy as jnp
    import torch

    dtype = spec_of(array).dtype
    if array.size == 0:
        return torch.empty(tuple(array.shape), dtype=getattr(torch, dtype.torch))
    if _is_fp8(dtype):
        return torch.from_dlpack(array.view(jnp.uint8)).view(getattr(torch, dtype.torch))
    return torch.from_dlpack(array)


def lending(launch: Callable[..., Any], values: Sequence[Any], results: Sequence[TensorSpec]) -> Callable[..., Any]:
    """A function that JAX has compiled, which waits for its end, of torch tensors like ``values``: it borrows them."""
    lend = [_lender(value) for value in values]
    take = [_taker(spec) for spec in results]

    def call(*tensors: Any) -> Any:
        found = launch(*[to_numpy(tensor) for to_numpy, tensor in zip(lend, tensors, strict=True)])
        if len(take) == 1:
            return take[0](found)
        return None if not take else tuple([to_torch(array) for to_torch, array in zip(take, found, strict=True)])

    return call


def _lender(tensor: Any) -> Callable[[Any], Any]:
    """What makes NumPy arrays of tensors like one: torch's own method where that is all there is to do."""
    import torch

    dtype = spec_of(tensor).dtype
    plain = carrier(dtype) == dtype.torch and not tensor.requires_grad
    return torch.Tensor.numpy if plain else partial(convert, framework="numpy")


def _taker(spec: TensorSpec) -> Callable[[Any], Any]:
    """`jax_to_torch` for arrays like one: DLPack's function where that is all there is to do."""
    from torch import from_dlpack

    return from_dlpack if 0 not in spec.shape and not _is_fp8(spec.dtype) else jax_to_torch


def row_major(tensor: Any) -> Any:
    """The tensor itself where its strides are exactly row-major, else a row-major copy."""
    if tuple(tensor.stride()) == contiguous_strides(tuple(tensor.shape)):
        return tensor
    return tensor.contiguous() if not tensor.is_contiguous() else tensor.clone().reshape(-1).reshape(tensor.shape)


def _is_fp8(dtype: DType) -> bool:
    return dtype.is_float and dtype.bits == 8


def _as_bits(tensor: Any) -> Any:
    import torch

    return tensor.view(torch.uint8)
