"""Types by their names in specs: ``f32[1000,2560]`` is ``memref<1000x2560xf32>``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute

from kopt import dtypes
from kopt.dtypes import DType
from kopt.errors import ArgumentError
from kopt.open_extents import open_extents
from kopt.registry import did_you_mean
from kopt.specs import TensorSpec, contiguous_strides, parse_spec

#: What names an element type: ``"bf16"``, the row of the table of dtypes, or the IR's own type.
ElementLike = str | DType | Attribute


def element_type(element: ElementLike) -> Attribute:
    """The IR's element type. Raises `ArgumentError` for names that are no dtype."""
    if isinstance(element, Attribute):
        return element
    dtype = dtypes.by_name(element) if isinstance(element, str) else element
    if dtype is None:
        raise ArgumentError(f"'{element}' is no dtype{did_you_mean(str(element), dtypes.BY_SPEC)}", id="spec")
    return dtypes.to_ir(dtype)


def array_type(spec: TensorSpec | str | MemRefType) -> MemRefType:
    """The IR's type of an array. Raises `ArgumentError` for a text that is no spec."""
    if isinstance(spec, MemRefType):
        return spec
    spec = parse_spec(spec) if isinstance(spec, str) else spec
    return memref_type(dtypes.to_ir(spec.dtype), spec.shape, spec.strides)


def memref_type(
    element: Attribute, shape: tuple[int, ...], strides: tuple[int, ...] | None = None, offset: int = 0
) -> MemRefType:
    """A memref: with its strides where they are not row-major, or it does not begin at the first element.

    One of open extents is a kernel's own: what is stated of these counts for no other kernel.
    """
    make = _memref_type.__wrapped__ if open_extents(shape) else _memref_type
    return make(element, shape, strides, offset)


@lru_cache(1024)
def _memref_type(
    element: Attribute, shape: tuple[int, ...], strides: tuple[int, ...] | None, offset: int
) -> MemRefType:
    if strides is None or (not offset and _is_dense(shape, strides)):
        return MemRefType(element, shape)
    return MemRefType(element, shape, StridedLayoutAttr(strides, offset))


def _is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    dense = contiguous_strides(tuple(shape))
    return all(n == 1 or s == d for n, s, d in zip(shape, strides, dense, strict=True))
