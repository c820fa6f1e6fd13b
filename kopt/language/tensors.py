"""Device tensors: made, loaded, stored, multiplied, reduced."""

from __future__ import annotations

from typing import Any

from kopt.language.running import inside_kernels


@inside_kernels
def zeros(shape: Any, dtype: Any = None, device: Any = None) -> Any:
    """A device tensor of zeros (f32 if nothing is said); sizes may be tiles."""


@inside_kernels
def full(shape: Any, value: Any, dtype: Any = None, device: Any = None) -> Any:
    """A device tensor of one value, a number or a device scalar."""


@inside_kernels
def arange(*args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Any:
    """Whole numbers in order: ``arange(end)``, ``arange(start, end, step)``."""


@inside_kernels
def load(tensor: Any, index: Any, extra_mask: Any = None, eviction_policy: str | None = None) -> Any:
    """``tensor[index]`` where ``extra_mask`` holds, 0 elsewhere.

    ``eviction_policy`` is what the caches of a GPU are told: ``evict_first`` or ``evict_last``.
    """


@inside_kernels
def store(tensor: Any, index: Any, value: Any, extra_mask: Any = None) -> None:
    """``tensor[index] = value`` where ``extra_mask`` holds."""


@inside_kernels
def stacktensor_like(tensor_like: Any, dev_ptrs: Any) -> Any:
    """Several tensors that look like one of the host, behind a block of pointers: ``tensors[tile]`` indexes each.

    The pointers are loaded as they are from a host tensor of 64-bit integers, and their dimensions come first in what
    is loaded and stored. They are read on the host when the kernel is imported, and again when they have changed.
    """


@inside_kernels
def dot(mat1: Any, mat2: Any, acc: Any = None, out_dtype: Any = None) -> Any:
    """The matrix product, added to ``acc`` if given."""


@inside_kernels
def dot_scaled(
    mat1: Any,
    mat1_scale: Any,
    mat1_format: str,
    mat2: Any,
    mat2_scale: Any,
    mat2_format: str,
    acc: Any = None,
    out_dtype: Any = None,
) -> Any:
    """The product of matrices with a scale for each group of elements along the summed dimension, in f32.

    Scales are uint8 exponents with a bias of 127, or numbers in float8_e4m3fn: ``mat1_scale`` has a row for each row of
    ``mat1``, ``mat2_scale`` one for each column of ``mat2``. Formats are ``e4m3``, ``e5m2``, ``bf16`` and ``fp16``, of
    operands in that dtype, and ``e2m1``, two numbers in each byte of uint8.
    """


@inside_kernels
def reduce(combine_fn: Any, input_tensor: Any, dim: int | None = None, other: Any = 0, keep_dims: bool = False) -> Any:
    """Combines lanes of a dimension by a function of two values."""


@inside_kernels
def associative_scan(combine_fn: Any, input_tensor: Any, dim: int, reverse: bool = False) -> Any:
    """Running combination by a function of two values."""


@inside_kernels
def cumsum(input_tensor: Any, dim: int, reverse: bool = False) -> Any:
    """Running sums."""


@inside_kernels
def cumprod(input_tensor: Any, dim: int, reverse: bool = False) -> Any:
    """Running products."""


@inside_kernels
def subscript(tensor: Any, index: Any) -> Any:
    """``tensor[index]`` of a device value."""


@inside_kernels
def split(tensor: Any) -> Any:
    """The two halves of a last dimension of 2."""


@inside_kernels
def join(tensor0: Any, tensor1: Any) -> Any:
    """Two tensors as one with a last dimension of 2."""


@inside_kernels
def float4_e2m1fn_x2_to_float32(value: Any) -> Any:
    """The two fp4 (e2m1) numbers in each byte of a uint8 or float4_e2m1fn_x2 tensor, the low half's first, in f32."""


@inside_kernels
def load_bfloat16_x16_to_float16(storage: Any, group_offsets: Any, extra_mask: Any = None) -> Any:
    """Sixteen tensors of f16: the elements of the groups of 16 numbers in ``storage``, which is bf16."""


@inside_kernels
def load_float4_e2m1fn_x16_to_float16(storage: Any, group_offsets: Any, extra_mask: Any = None) -> Any:
    """Sixteen tensors of f16: the fp4 (e2m1) numbers in the groups of 8 bytes in ``storage``, which is uint8."""
