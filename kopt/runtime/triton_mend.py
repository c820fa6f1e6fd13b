"""Mends for Triton's CPU interpreter, which holds bf16 and fp8 as integer codes and often computes on the codes.

Without them a bf16 dot is off by 1e10, conversions to bf16 truncate, fp8 rounding carries are lost, and bf16 atomics
raise. Each mend replaces a method of the interpreter's builder that exists in this Triton by one that computes in f32
and rounds to nearest even, as GPUs do; names that a version lacks are left alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any

import numpy as np

from kopt.runtime.triton_mend_reduce import mend_reductions
from kopt.targets.compiler_hazards import BF16_CODES

#: Builder methods that compute: bf16 operands go in as f32, and the result has the last operand's type.
_COMPUTING = (
    "binary_op",
    "unary_op",
    "ternary_op",
    "create_idiv",
    "create_fma",
    "create_clampf",
    "create_erf",
    "create_rsqrt",
    "create_dot",
)

#: Builder methods that give the number where one of two operands is NaN.
_NUMBERS = {"create_minnumf": np.fmin, "create_maxnumf": np.fmax}
#: Atomic operations on bf16, by the name of the interpreter's operation.
_ATOMICS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "FADD": np.add,
    "ADD": np.add,
    "MAX": np.fmax,
    "MIN": np.fmin,
}


@cache
def mend_interpreter() -> None:
    """Install the mends, once a process. Does nothing where Triton's interpreter is laid out differently."""
    import triton.language as tl
    from triton.runtime import interpreter

    if not hasattr(interpreter, "InterpreterBuilder") or not hasattr(interpreter, "TensorHandle"):
        return
    mend = _Mend(tl, interpreter)
    builder = interpreter.InterpreterBuilder
    _replace(builder, "cast_impl", mend.cast)
    _replace(builder, "create_fp_to_fp", mend.convert)
    _mend_older(builder, mend)
    for name in _COMPUTING:
        _replace(builder, name, mend.in_f32)
    _replace(builder, "create_atomic_rmw", mend.atomic)
    _settle(getattr(getattr(interpreter, "interpreter_builder", None), "options", None))
    _replace(getattr(interpreter, "ReduceScanOpInterface", None), "apply", mend.reduce)
    _replace(interpreter, "_dot_scaled_scale_to_f32", mend.scale)
    mend_reductions(interpreter)
    _replace(interpreter, "_patch_lang_tensor", mend.index)
    if not _holds(mend, getattr(interpreter, "interpreter_builder", None)):
        warnings.warn(f"kopt: {BF16_CODES.remark}; its mend does not fit this version", RuntimeWarning, stacklevel=2)


def _holds(mend: _Mend, builder: Any) -> bool:
    """Whether the interpreter computes on the numbers of bf16 now: by one sum."""
    number = mend.round(np.array([1.5], np.float32), mend.tl.bfloat16)
    add = getattr(builder, "create_fadd", None)
    return add is not None and mend.widen(add(number, number)).data.tolist() == [3.0]


def _replace(owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    original = getattr(owner, name, None)
    if original is not None:
        setattr(owner, name, wraps(original)(make(original)))


def _mend_older(builder: Any, mend: _Mend) -> None:
    """Gives the builder of an older Triton what that of 3.9 has.

    Up to 3.8 there are no constants of bf16, and all ones of an unsigned type are -1, which NumPy 2 refuses. Up to 3.7
    the maximum of a number and NaN is NaN, where chips give the number.
    """
    if not hasattr(builder, "get_bf16"):
        builder.get_bf16 = lambda _, value: mend.round(np.array([value], np.float32), mend.tl.bfloat16)
    _replace(builder, "get_all_ones_value", _all_ones)
    for name, number in _NUMBERS.items():
        _replace(builder, name, partial(_computed_by, number))


def _all_ones(original: Callable[..., Any]) -> Callable[..., Any]:
    def get_all_ones_value(builder: Any, type: Any) -> Any:
        zero = builder.get_null_value(type)
        if zero.data.dtype.kind != "u":
            return original(builder, type)
        zero.data = ~zero.data
        return zero

    return get_all_ones_value


def _computed_by(function: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda builder, lhs, rhs: builder.binary_op(lhs, rhs, function)


def _settle(options: Any) -> None:
    """Lets products have each precision that chips have: the interpreter computes them all in f32.

    Conditions of overflow, which the interpreter computes for each sum of integers and looks at only where it debugs,
    took 40 % of the time of a jagged softmax.
    """
    settings: dict[str, Any] = {}
    allowed = getattr(options, "allowed_dot_input_precisions", None)
    if allowed is not None and "bf16x3" not in allowed:
        settings["allowed_dot_input_precisions"] = (*allowed, "bf16x3")
    if getattr(options, "sanitize_overflow", False) and not getattr(options, "debug", True):
        settings["sanitize_overflow"] = False
    for name, value in settings.items():
        object.__setattr__(options, name, value)  # the options are frozen


class _Mend:
    """Makes replacements: each method takes the interpreter's own function and returns the mended one."""

    def __init__(self, tl: Any, interpreter: Any):
        self.tl = tl
        self.handle = interpreter.TensorHandle
        self.memory = interpreter._interpreter
        self.rtz = getattr(getattr(interpreter._ir, "ROUNDING_MODE", None), "RTZ", object())
        self.codes = frozenset(dtype.name for dtype in (tl.bfloat16, tl.float8e4nv, tl.float8e5))

    def widen(self, handle: Any) -> Any:
        """A bf16 or fp8 handle as f32, any other as it is."""
        if not isinstance(handle, self.handle) or not self.is_small(handle.dtype.scalar):
            return handle
        return self.handle(_decode(handle.data, str(handle.dtype.scalar)), self.tl.float32)

    def round(self, values: np.ndarray, dtype: Any) -> Any:
        """f32 or f64 values as a handle of bf16 or fp8."""
        return self.handle(_encode(values, str(dtype)), dtype)

    def scale(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Scales of fp8 are numbers; the interpreter takes the codes of all scales for exponents of two."""

        def factors(scale: Any, compute_type: Any) -> np.ndarray:
            wide = self.widen(scale)
            return original(scale, compute_type) if wide is scale else wide.data

        return factors

    def truth(self, result: Any) -> Any:
        """Comparisons give handles of booleans, not of the type compared: a scalar one keeps its type when spread."""
        if isinstance(result, self.handle) and result.data.dtype == bool and result.dtype.scalar != self.tl.int1:
            return self.handle(result.data, self.tl.int1)
        return result

    def is_small(self, dtype: Any) -> bool:
        """Whether the interpreter holds a type as codes that these mends know."""
        return dtype.name in self.codes

    def cast(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Casts from and to bf16 and fp8, of floats and of integers."""

        def cast_impl(builder: Any, src: Any, dst_type: Any) -> Any:
            source, goal = src.dtype.scalar, dst_type.scalar
            if source == goal or not (self.is_small(source) or self.is_small(goal)):
                return original(builder, src, dst_type)
            wide = self.widen(src)
            return self.round(wide.data, goal) if self.is_small(goal) else original(builder, wide, dst_type)

        return cast_impl

    def convert(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`tl.cast` between float types, unless it asks for rounding toward zero."""

        def create_fp_to_fp(builder: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
            source, goal = src.dtype.scalar, dst_type.scalar
            if rounding_mode == self.rtz or not (self.is_small(source) or self.is_small(goal)):
                return original(builder, src, dst_type, rounding_mode)
            return builder.cast_impl(src, dst_type)

        return create_fp_to_fp

    def in_f32(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A method that computes on handles, computing in f32 where an operand is bf16 (or an fp8 dot operand).

        Codes of one type are selected from as they are: rounding would saturate infinities of fp8.
        """

        def method(builder: Any, *args: Any, **kwargs: Any) -> Any:
            operands = [arg for arg in args if isinstance(arg, self.handle)]
            small = [operand.dtype.scalar for operand in operands if self.is_small(operand.dtype.scalar)]
            if not small or small == [small[0]] * 2 and any(arg is np.where for arg in args):
                return self.truth(original(builder, *args, **kwargs))
            result = original(builder, *[self.widen(arg) for arg in args], **kwargs)
            last = operands[-1].dtype.scalar
            if self.is_small(last) and result.data.dtype != bool:
                return self.round(result.data, last)
            return self.truth(result)

        return method

    def reduce(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Reductions and scans of bf16, through f32."""

        def apply(op: Any, value: Any) -> Any:
            if isinstance(value, tuple) or value.dtype != self.tl.bfloat16:
                return original(op, value)
            core = self.tl.core
            wide = core.tensor(self.widen(value.handle), _with_scalar(value.type, self.tl, self.tl.float32))
            result = original(op, wide)
            narrow = self.round(result.handle.data, self.tl.bfloat16)
            return core.tensor(narrow, _with_scalar(result.type, self.tl, self.tl.bfloat16))

        return apply

    def index(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Scalars as loop bounds: held in arrays of one element, which NumPy 2.4 no longer turns into an int."""

        def patch(tensor: Any, *rest: Any) -> None:
            original(tensor, *rest)
            tensor.__index__ = lambda scalar: int(scalar.handle.data.reshape(-1)[0])

        return patch

    def atomic(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Atomics on bf16: read, combine in f32, round, write; colliding lanes take turns. Exchanges of any float."""

        def create_atomic_rmw(builder: Any, rmw: Any, ptr: Any, val: Any, mask: Any, sem: Any, scope: Any) -> Any:
            name = str(rmw).rsplit(".", 1)[-1]
            if name == "XCHG" and val.data.dtype.kind == "f":
                bits = self.handle(val.data.view(f"i{val.data.itemsize}"), val.dtype)
                old = original(builder, rmw, ptr, bits, mask, sem, scope)
                return self.handle(old.data.view(val.data.dtype), val.dtype.scalar)
            combine = _ATOMICS.get(name)
            if val.dtype.scalar != self.tl.bfloat16 or combine is None:
                return original(builder, rmw, ptr, val, mask, sem, scope)
            shape = ptr.data.shape
            old = np.zeros(shape, np.uint16)
            active = np.broadcast_to(mask.data, shape)
            values = _decode(np.broadcast_to(val.data, shape), "bf16")
            for turn in _turns(ptr.data, active):
                before = self.memory.load(ptr.data, turn, np.zeros_like(old), old.dtype)
                after = _encode(combine(_decode(before, "bf16"), values), "bf16")
                self.memory.store(ptr.data, after, turn)
                old = np.where(turn, before, old)
            return self.handle(old, self.tl.bfloat16)

        return create_atomic_rmw


def _with_scalar(type: Any, tl: Any, scalar: Any) -> Any:
    return tl.block_type(scalar, list(type.shape)) if type.is_block() else scalar


def _turns(pointers: np.ndarray, active: np.ndarray) -> list[np.ndarray]:
    """Masks that split the active lanes so that in each no two lanes have the same pointer, in lane order."""
    flat, lanes = pointers.reshape(-1), np.flatnonzero(active)
    order = lanes[np.argsort(flat[lanes], kind="stable")]
    new = np.concatenate([[True], flat[order][1:] != flat[order][:-1]]) if len(order) else np.zeros(0, bool)
    position = np.arange(len(order))
    rank = position - np.maximum.accumulate(np.where(new, position, 0))
    turns = []
    for turn in range(int(rank.max(initial=-1)) + 1):
        mask = np.zeros(flat.shape, bool)
        mask[order[rank == turn]] = True
        turns.append(mask.reshape(pointers.shape))
    return turns


_SPEC = {"bf16": "bfloat16", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2"}


def _decode(codes: np.ndarray, name: str) -> np.ndarray:
    import torch

    plain = torch.from_numpy(np.array(codes, copy=True, order="C"))
    return plain.view(getattr(torch, _SPEC[name])).float().numpy()


def _encode(values: np.ndarray, name: str) -> np.ndarray:
    """Codes of values rounded to nearest even; fp8 saturates as the conversion instructions of GPUs do."""
    import torch

    dtype = getattr(torch, _SPEC[name])
    wide = torch.from_numpy(np.array(values, dtype=np.float32, copy=True, order="C"))
    if name == "bf16":
        return wide.to(dtype).view(torch.uint16).numpy()
    most = torch.finfo(dtype).max
    return wide.clamp(-most, most).to(dtype).view(torch.uint8).numpy()
