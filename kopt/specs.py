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
from kopt.open_extents import OpenExtent, called_shape, open_extents


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements: ``(2, 3, 4)`` → ``(12, 4, 1)``."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


#: What an address of 64 bits reaches, as torch and NumPy count.
MOST_BYTES = 2**63 - 1


@dataclass(frozen=True)
class TensorSpec:
    """An array without its data. ``strides`` count elements; None means row-major."""

    shape: tuple[int, ...]
    dtype: DType
    strides: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.open:
            return
        if any(extent < 0 for extent in self.shape):
            raise ArgumentError(f"a tensor has no negative extents, found {self}", id="spec")
        if self.nbytes > MOST_BYTES:
            raise ArgumentError(
                f"{_short(self)} has more elements than 64 bits count the bytes of",
                notes=["lower for the shapes that the kernel will be called with"],
                id="spec",
            )

    def __str__(self) -> str:
        return f"{self.dtype.spec}[{','.join(map(str, self.shape))}]"

    @property
    def open(self) -> list[OpenExtent]:
        """The extents that differ from call to call."""
        return open_extents(self.shape)

    @property
    def called(self) -> TensorSpec:
        """The array as it is in the call that its kernel is compiled in."""
        return TensorSpec(called_shape(self.shape), self.dtype, self.strides) if self.open else self

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


def _short(spec: TensorSpec) -> str:
    text = str(spec)
    return text if len(text) <= 80 else f"{text[:77]}..."


_SPEC = re.compile(r"\s*(\w+)\s*\[\s*([\d\s,]*)\]\s*", re.ASCII)
_LIKE_SPEC = re.compile(r"\s*(\w+)\s*\[.*\]\s*", re.DOTALL | re.ASCII)


def is_like_spec(text: str) -> bool:
    """Whether a text is meant to be a tensor spec: a dtype, and brackets."""
    match = _LIKE_SPEC.fullmatch(text)
    return match is not None and (dtypes.by_name(match[1]) is not None or _SPEC.fullmatch(text) is not None)


def parse_spec(text: str) -> TensorSpec:
    """``"f32[4096,2560]"`` → a `TensorSpec`; ``"f32[]"`` is a scalar array. Raises `ArgumentError` with the form."""
    match = _SPEC.fullmatch(text)
    if match is None:
        raise ArgumentError(
            f"'{text}' is not a tensor spec", notes=["write a dtype and extents, as in f32[4096,2560]"], id="spec"
        )
    dtype = dtypes.by_name(match[1])
    if dtype is None:
        raise ArgumentError(
            f"unknown dtype '{match[1]}' in '{text}'", notes=[f"dtypes: {', '.join(dtypes.BY_SPEC)}"], id="spec"
        )
    extents = [extent.strip() for extent in match[2].split(",")] if match[2].strip() else []
    if not all(extents):
        raise ArgumentError(f"missing extent in tensor spec '{text}'", id="spec")
    if any(len(extent.lstrip("0")) > _DIGITS or len(extent.split()) > 1 for extent in extents):
        raise ArgumentError(f"'{text[:80]}' has an extent that is no number of 64 bits", id="spec")
    return TensorSpec(tuple(map(int, extents)), dtype)


def as_spec(value: Any) -> Any:
    """A tensor spec where a text spells one, also in lists and tuples."""
    if isinstance(value, str) and is_like_spec(value):
        return parse_spec(value)
    if type(value) in (list, tuple):
        return type(value)(as_spec(item) for item in value)
    return value


#: The digits of the largest extents.
_DIGITS = 19


#: The frameworks' classes of arrays.
_ARRAYS = (("torch", "Tensor"), ("jax", "Array"), ("numpy", "ndarray"), ("numpy", "generic"))


def framework_of(value: Any) -> str | None:
    """``"torch"``, ``"jax"``, ``"numpy"``, or None for a value that is no array. Imports nothing."""
    return next((module for module, name in _ARRAYS if _is_instance(value, module, name)), None)


def is_known(value: Any) -> bool:
    """Whether an array has elements yet; inside ``jax.jit`` it has none."""
    if framework_of(value) != "jax":
        return True
    from jax.core import Tracer

    return not isinstance(value, Tracer)


def _is_instance(value: Any, module: str, name: str) -> bool:
    """An instance check against a class of a module that may not be loaded (then nothing is an instance of it)."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def spec_of(value: Any) -> TensorSpec:
    """The spec of a torch, JAX or NumPy array (meta tensors and tracers too), a spec, or the text of one.

    Raises `ArgumentError` for anything else, and for a dtype that kopt does not have.
    """
    framework = framework_of(value)
    if framework is not None or is_struct(value):
        value = TensorSpec(tuple(map(int, value.shape)), _dtype_of(value), _strides_of(value, framework))
    elif isinstance(value, str):
        value = parse_spec(value)
    elif not isinstance(value, TensorSpec):
        raise ArgumentError(
            f"expected a tensor or a spec such as 'f32[4096,2560]', got {type(value).__name__}", id="spec"
        )
    return value


def stored(value: Any) -> Any:
    """A torch tensor of pairs of 4-bit floats as its bytes, which kernels unpack; anything else as it is.

    But a Python float that JAX traces in its 64-bit mode is one of 32 bits: no target on which JAX traces has f64.
    """
    if _is_instance(value, "jax", "Array") and not is_known(value):
        is_float = str(value.dtype) == "float64" and value.weak_type and value.ndim == 0
        return value.astype("float32") if is_float else value
    pairs = _is_instance(value, "torch", "Tensor") and str(value.dtype) == "torch.float4_e2m1fn_x2"
    return value.view(sys.modules["torch"].uint8) if pairs else value


def is_struct(value: Any) -> bool:
    """Whether a value is JAX's spec of an array."""
    return _is_instance(value, "jax", "ShapeDtypeStruct")


def check_dtype(name: str, value: Any) -> None:
    """Raises `ArgumentError` that names an argument of a dtype that kopt does not have."""
    try:
        _dtype_of(value)
    except ArgumentError as error:
        raise ArgumentError(f"argument '{name}': {error.message}", notes=error.notes) from None


def _dtype_of(value: Any) -> DType:
    return dtype_named(str(value.dtype))


def dtype_named(name: str) -> DType:
    """The dtype that torch or NumPy calls so. Raises `ArgumentError` for those that kopt does not have."""
    name = name.removeprefix("torch.")
    dtype = dtypes.BY_TORCH.get(name)
    if dtype is None:
        advice = next((said for start, said in _OTHER_DTYPES.items() if name.startswith(start)), None)
        known = f"dtypes: {', '.join(dtypes.BY_TORCH)}"
        raise ArgumentError(f"dtype {name} is not supported", notes=[known] if advice is None else [advice, known])
    return dtype


#: What to pass instead, by how the names begin of dtypes that kopt does not have.
_OTHER_DTYPES = {
    "complex": "pass real and imaginary parts: torch.view_as_real(x), or x.real and x.imag",
    ">": "pass it in this machine's byte order: x.astype(x.dtype.newbyteorder('='))",
    "key<": "pass its words: jax.random.key_data(x)",
    "int4": "pass its bytes, two numbers in each, as uint8",
    "uint4": "pass its bytes, two numbers in each, as uint8",
}


def _strides_of(value: Any, framework: str | None) -> tuple[int, ...] | None:
    if framework == "torch":
        return tuple(map(int, value.stride()))
    if framework == "numpy":
        return tuple(step // max(value.itemsize, 1) for step in value.strides)
    return None
