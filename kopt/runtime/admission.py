"""What the arguments of a call may be: the one place that decides it, before anything reads their memory.

A kernel reads the elements of plain arrays. Tensors that stand for others, or that have no elements yet, are refused
by name; so is every argument while torch traces, which would bake the result into what it traces.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from kopt.errors import ArgumentError
from kopt.runtime import torch_tracing
from kopt.specs import MOST_BYTES, TensorSpec, check_dtype, framework_of

#: A predicate, what an argument then is, and what to pass instead of ``{0}``.
Rule = tuple[Callable[[Any], Any], str, str]


def admit_call(kernel: str, values: Mapping[str, Any], lowers: bool = False) -> None:
    """Raises `ArgumentError` for the first argument that a kernel cannot be called with.

    ``values`` are the call's by name; tuples, lists and dicts are looked into. Where it ``lowers`` only, no elements
    are read, and specs and meta tensors serve too.
    """
    arrays = [found for name, value in values.items() for found in arrays_in(name, value)]
    traced = torch_tracing.traced_by()
    if traced is not None:
        subject = f"argument '{arrays[0][0]}' is traced by {traced}" if arrays else f"the call is traced by {traced}"
        reason, advice = torch_tracing.refusal(traced)
        raise ArgumentError(f"{kernel}: {subject}, and {reason}", notes=[advice])
    for name, value in arrays:
        try:
            admit(name, value, lowers)
        except ArgumentError as error:
            raise ArgumentError(f"{kernel}: {error.message}", notes=error.notes) from None


def admit_traced(kernel: str, values: Mapping[str, Any]) -> None:
    """Raises `ArgumentError` for the first argument that no operator of torch can be called with, by its class."""
    for name, value in (found for item in values.items() for found in arrays_in(*item)):
        for holds, found, advice in _BY_CLASS:
            if holds(value):
                said = found.format(type(value).__name__)
                raise ArgumentError(f"{kernel}: argument '{name}' is {said}", notes=[advice.format(name)])
        check_dtype(name, value)


def admit(name: str, value: Any, lowers: bool = False) -> None:
    """Raises `ArgumentError` that names an argument whose elements cannot be read: what it is, and what to pass."""
    for rule in _RULES[framework_of(value)]:
        holds, found, advice = rule
        if not (lowers and rule in _SERVE_LOWERING) and holds(value):
            kind = type(value).__name__
            raise ArgumentError(f"argument '{name}' is {found.format(kind)}", notes=[advice.format(name)])
    if framework_of(value) is not None:
        check_dtype(name, value)


def admit_known(kernel: str, name: str, value: Any, where: str) -> None:
    """Raises `ArgumentError` for what JAX is tracing, on a target that runs outside of what it compiles."""
    if _is_tracer(value):
        message = f"{kernel}: argument '{name}' is traced by JAX, as in jax.jit, and '{where}' needs its elements"
        raise ArgumentError(message, notes=["choose a target of the pallas family, whose kernels JAX compiles along"])


def traced_by_jax(values: Mapping[str, Any]) -> bool:
    """Whether an array in the values of a call is one that JAX traces."""
    return any(_is_tracer(array) for name, value in values.items() for _, array in arrays_in(name, value))


def admit_written(kernel: str, name: str, value: Any) -> None:
    """Raises `ArgumentError` for an argument that a kernel writes, where its memory cannot take that."""
    for holds, found, advice in _WRITTEN.get(framework_of(value) or "", ()):
        if holds(value):
            message = f"{kernel}: argument '{name}' is written, and it is {found}"
            raise ArgumentError(message, notes=[advice.format(name)])


def arrays_in(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays in an argument, and all else that stands for one, by the names that their parameters have."""
    if isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from arrays_in(f"{name}_{number}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from arrays_in(f"{name}_{key}", item)
    elif framework_of(value) is not None or any(holds(value) for holds, _, _ in _RULES[None]):
        yield name, value


def _has_type(module: str, name: str) -> Callable[[Any], bool]:
    """Whether a value's class, or one that it derives from, has a name in a library; loads nothing."""
    return lambda value: any(k.__name__ == name and k.__module__.startswith(module) for k in type(value).__mro__)


def _unallocated(tensor: Any) -> bool:
    """Whether a tensor reaches beyond its storage, such as one that was resized to nothing."""
    if tensor.device.type not in ("cpu", "cuda") or not tensor.numel():
        return False
    last = sum((extent - 1) * step for extent, step in zip(tensor.shape, tensor.stride(), strict=True))
    needed = (tensor.storage_offset() + last + 1) * tensor.element_size()
    return tensor.untyped_storage().nbytes() < needed


def _beyond_memory(array: Any) -> bool:
    """Whether an array that repeats its elements has more of them, written out, than this machine's memory holds."""
    torch = framework_of(array) == "torch"
    if torch and array.device.type != "cpu":
        return False
    steps = array.stride() if torch else array.strides
    repeats = any(step == 0 and extent > 1 for step, extent in zip(steps, array.shape, strict=True))
    return repeats and math.prod(array.shape) * array.itemsize > _memory()


@cache
def _memory() -> int:
    """Bytes of this machine's memory; where it does not say, what an address reaches."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return MOST_BYTES


def _is_dual(tensor: Any) -> bool:
    forward = sys.modules["torch"].autograd.forward_ad
    return forward._current_level >= 0 and forward.unpack_dual(tensor).tangent is not None


def _is_deferred(tensor: Any) -> bool:
    return isinstance(tensor, sys.modules["torch"].nn.parameter.UninitializedTensorMixin)


_META: Rule = (
    lambda tensor: tensor.device.type == "meta",
    "a meta tensor, which has no elements",
    "lower() takes meta tensors; to run, pass a tensor on the device where the kernel runs",
)
_STRUCT: Rule = (
    lambda value: isinstance(value, TensorSpec) or _has_type("jax", "ShapeDtypeStruct")(value),
    "a spec, which has no elements",
    "lower() takes specs; to run, pass a tensor",
)
_BEYOND: Rule = (
    _beyond_memory,
    "expanded to more elements than this machine's memory holds",
    "pass it as it was before it was expanded: the kernel may repeat its elements",
)
_SERVE_LOWERING = (_META, _STRUCT, _BEYOND)
#: What is refused of tensors that have no elements, or that stand for others.
_BY_CLASS: tuple[Rule, ...] = (
    (_is_deferred, "a parameter without a shape yet ({0})", "initialise its module first"),
    (_has_type("torch", "DTensor"), "a DTensor, of which each rank has a part", "pass the part: {0}.to_local()"),
    (_has_type("torch", "AsyncCollectiveTensor"), "a collective's result under way", "pass {0}.wait()"),
    (_has_type("torch", "MaskedTensor"), "a MaskedTensor", "pass its parts: {0}.get_data(), {0}.get_mask()"),
    (lambda tensor: tensor.is_nested, "a nested tensor", "pass its parts: {0}.values() and {0}.offsets()"),
    (
        lambda tensor: tensor.layout != sys.modules["torch"].strided,
        "not dense: a kernel knows strided tensors only",
        "pass {0}.to_dense(), or its values and indices",
    ),
    (lambda tensor: tensor.is_quantized, "quantized", "pass {0}.dequantize(), or {0}.int_repr() and its scale"),
    (_is_dual, "a dual tensor of forward-mode AD, and kernels have no forward-mode derivatives", "pass its primal"),
)

_RULES: dict[str | None, tuple[Rule, ...]] = {
    "torch": (
        *_BY_CLASS,
        (_has_type("torch", "FakeTensor"), f"a FakeTensor, and {torch_tracing.REASON}", torch_tracing.ADVICE),
        (
            torch_tracing.has_own_dispatch,
            "a {0}, a tensor class that runs torch's operators in its own way",
            "pass the plain tensor that it stands for",
        ),
        (lambda tensor: tensor.is_neg(), "negated only when it is read", "pass {0}.resolve_neg()"),
        (lambda tensor: tensor._is_zerotensor(), "of zeros that are in no memory", "pass {0}.clone()"),
        _META,
        (_unallocated, "larger than its storage, which was resized or freed", "pass a tensor that has its memory"),
        _BEYOND,
    ),
    "jax": (
        (lambda array: _concrete(array) and array.is_deleted(), "deleted: its memory was donated or freed",
         "pass an array that has its memory"),
        (lambda array: _concrete(array) and not array.is_fully_addressable, "spread over other processes",
         "call the kernel inside jax.shard_map"),
    ),
    "numpy": (
        (_has_type("numpy", "MaskedArray"), "a masked array, whose mask a kernel does not see",
         "pass {0}.filled(…), or {0}.data and {0}.mask"),
        _BEYOND,
    ),
    None: (
        _STRUCT,
        (_has_type("torch.fx", "Proxy"), f"traced by torch.fx, and {torch_tracing.REASON}", torch_tracing.ADVICE),
        (_has_type("scipy.sparse", "_spbase"), "not dense", "pass {0}.toarray()"),
        (_has_type("jax", "JAXSparse"), "not dense: a kernel knows dense arrays only", "pass {0}.todense()"),
        (_has_type("jax", "Ref"), "a mutable reference", "pass the array that it holds: {0}[...]"),
    ),
}  # fmt: skip


_is_tracer = _has_type("jax", "Tracer")


def _concrete(array: Any) -> bool:
    return not _is_tracer(array)


def _frozen(tensor: Any) -> bool:
    return tensor.is_inference() and not sys.modules["torch"].is_inference_mode_enabled()


def _overlaps(array: Any) -> bool:
    """Whether two elements of an array may lie at one address."""
    torch = framework_of(array) == "torch"
    steps = array.stride() if torch else [step / array.itemsize for step in array.strides]
    return overlaps_itself(tuple(array.shape), tuple(steps))


def overlaps_itself(shape: tuple[int, ...], strides: tuple[float, ...]) -> bool:
    """Whether two elements of a strided array have one address; large arrays of odd strides count as such."""
    import numpy as np

    if 0 in shape:
        return False
    dims = sorted((abs(step), extent) for extent, step in zip(shape, strides, strict=True) if extent > 1)
    reach = 0.0
    for step, extent in dims:
        if step <= reach:
            break
        reach += step * (extent - 1)
    else:
        return False
    count = int(np.prod([extent for _, extent in dims]))
    if dims[0][0] == 0 or count > _EFFORT:
        return True
    addresses = np.zeros(1)
    for step, extent in dims:
        addresses = np.add.outer(addresses, step * np.arange(extent)).reshape(-1)
    return len(np.unique(addresses)) < count


#: Elements beyond which nobody looks whether odd strides meet.
_EFFORT = 1_000_000

_OVERLAP: Rule = (
    _overlaps,
    "expanded, or overlaps itself: several of its elements are at one address",
    "pass {0}.clone(), or {0}.contiguous()",
)
_WRITTEN: dict[str, tuple[Rule, ...]] = {
    "torch": (
        _OVERLAP,
        (_frozen, "an inference tensor, which changes under torch.inference_mode() only", "pass {0}.clone()"),
    ),
    "numpy": (
        (lambda array: not array.flags.writeable, "read-only", "pass {0}.copy()"),
        (_overlaps, _OVERLAP[1], "pass {0}.copy()"),
    ),
}
