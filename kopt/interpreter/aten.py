"""Calls of torch operators on the host, in NumPy: a table by ATen name, without the overload.

Each entry takes arrays and Python values as torch's operator does; results are rounded to the types that the call's
results have. Narrow floats are computed in f32, as torch does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    NoneType,
    StringAttr,
    UnitAttr,
    f32,
    f64,
)
from xdsl.ir import Attribute

from kopt.dialects.tile import literal_value
from kopt.dtypes import from_ir
from kopt.errors import UnsupportedError
from kopt.interpreter import ring
from kopt.interpreter.elementwise import NUMPY
from kopt.interpreter.rounding import bitcast, cast, is_exact, rounded

Array = np.ndarray


def _same(x: Array, *_: Any) -> Array:
    return x


def _scaled(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """``combine(a, b · alpha)``, as torch's add and sub."""
    return lambda a, b, alpha=1: combine(a, b if alpha == 1 else b * alpha)


def _div(a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    name = {None: "div", "floor": "floordiv", "trunc": "truncdiv"}[rounding_mode]
    return NUMPY[name](*map(np.asarray, (a, b)))


def _dims(dims: Any) -> Any:
    return tuple(dims) if isinstance(dims, list) and dims else None if dims in ([], None) else dims


def _reduction(combine: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction over some dims (all where none are named), by torch's order of arguments."""
    return lambda x, dim=None, keepdim=False, *_: combine(x, axis=_dims(dim), keepdims=bool(keepdim))


def _filled(value: float) -> Callable[..., Any]:
    return lambda *_: np.asarray(value)


def _view(x: Array, shape: Sequence[int], *_: Any) -> Array:
    return x.reshape(list(shape))


def _at(indices: Sequence[Array | None]) -> tuple[Any, ...]:
    """Index tensors, one a dimension; None is all of one."""
    return tuple(slice(None) if index is None else index for index in indices)


def _index_put(x: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    out = x.copy()
    if accumulate:
        np.add.at(out, _at(indices), values)
    else:
        out[_at(indices)] = values
    return out


def _softmax(x: Array, dim: int, *_: Any) -> Array:
    powers = np.exp(x - np.max(x, dim, keepdims=True))
    return powers / np.sum(powers, dim, keepdims=True)


def _arange(*numbers: Any) -> Array:
    bounds = [n for n in numbers if isinstance(n, int | float) and not isinstance(n, bool)]
    return np.arange(*bounds)


def _slice(x: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Array:
    index = [slice(None)] * x.ndim
    index[dim] = slice(start, None if end is not None and end >= x.shape[dim] else end, step)
    return x[tuple(index)]


def _pad(x: Array, pads: Sequence[int], value: float = 0) -> Array:
    """Pads count from the last dimension, two numbers each; negative ones crop."""
    pairs = [(0, 0)] * (x.ndim - len(pads) // 2) + list(zip(pads[::2], pads[1::2], strict=True))[::-1]
    cropped = x[tuple(slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(pairs, x.shape, strict=True))]
    return np.pad(cropped, [(max(0, a), max(0, b)) for a, b in pairs], constant_values=value)


def _sort(x: Array, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    """NaN is the largest; equal elements keep their order."""
    order = np.argsort(np.flip(x, dim) if descending else x, dim, kind="stable")
    order = np.flip(x.shape[dim] - 1 - order, dim) if descending else order
    return np.take_along_axis(x, order, dim), order


def _topk(x: Array, k: int, dim: int = -1, largest: bool = True, *_: Any) -> tuple[Array, ...]:
    return tuple(np.take(each, range(k), dim) for each in _sort(x, dim, largest))


def _extreme(combine: Callable[..., Any], place: Callable[..., Any]) -> Callable[..., Any]:
    """The largest or smallest element; along a dimension, with its place; of two arrays, lane by lane."""

    def found(x: Array, dim: int | None = None, keepdim: bool = False) -> Any:
        if dim is None:
            return combine(x)
        return combine(x, dim, keepdims=bool(keepdim)), place(x, dim, keepdims=bool(keepdim))

    return found


def _unfold(x: Array, dim: int, size: int, step: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dim)
    return windows[(slice(None),) * (dim % x.ndim) + (slice(None, None, step),)]


def _index_add(x: Array, dim: int, index: Array, source: Array, alpha: float = 1) -> Array:
    out = x.copy()
    rows = np.swapaxes(out, 0, dim)
    np.add.at(rows, index, np.swapaxes(source, 0, dim) * (1 if alpha == 1 else alpha))
    return out


def _variance(x: Array, dims: Any = None, correction: float | None = 1, keepdim: bool = False) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(np.var(x, _dims(dims), ddof=1 if correction is None else correction, keepdims=bool(keepdim)))


def _pow(a: Any, b: Any) -> Array:
    """A power; where one of the two is a float, both are."""
    base, exponent = map(np.asarray, (a, b))
    type = np.result_type(a, b)
    if type.kind == "f":
        base, exponent = base.astype(type), exponent.astype(type)
    return NUMPY["pow"](base, exponent)


def _norm(x: Array, order: float = 2, dims: Any = None, keepdim: bool = False, *_: Any) -> Array:
    over, sizes = _dims(dims), np.abs(x)
    if np.isinf(order):
        return np.asarray((np.max if order > 0 else np.min)(sizes, over, keepdims=bool(keepdim)))
    if order == 0:
        return np.asarray(np.count_nonzero(x, over, keepdims=bool(keepdim)))
    total = np.asarray(np.sum(sizes**order, over, keepdims=bool(keepdim)))
    return total ** (1 / order)


def _named(x: Array, dim: int, index: Array) -> Array:
    """The part of an array that places are named in, as a view: torch leaves out rows that they have no number for."""
    sizes = [slice(None) if n == dim % x.ndim else slice(size) for n, size in enumerate(index.shape)]
    return x[tuple(sizes)]


def _scatter(x: Array, dim: int, index: Array, value: Any) -> Array:
    out = x.copy()
    part = value[tuple(map(slice, index.shape))] if isinstance(value, np.ndarray) else value
    np.put_along_axis(_named(out, dim, index), index, part, dim)
    return out


def _gelu(x: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + NUMPY["erf"](x / np.sqrt(2)))


def _logsumexp(x: Array, dims: Any, keepdim: bool = False) -> Array:
    most = np.max(x, _dims(dims), keepdims=True)
    most = np.where(np.isfinite(most), most, 0)
    found = np.log(np.sum(np.exp(x - most), _dims(dims), keepdims=True)) + most
    return found if keepdim else np.squeeze(found, _dims(dims))


_UNARY = {
    name: NUMPY[name]
    for name in (
        "neg abs sign exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan "
        "sinh cosh tanh asinh acosh atanh erf sigmoid floor ceil round trunc isnan isinf"
    ).split()
}

#: What an operator computes, by its name.
ATEN: dict[str, Callable[..., Any]] = {
    **_UNARY,
    **dict.fromkeys(("clone", "_to_copy", "alias", "detach"), _same),
    "prims.convert_element_type": _same,
    "relu": lambda x: np.maximum(x, 0),
    "add": _scaled(operator.add),
    "sub": _scaled(operator.sub),
    "rsub": _scaled(lambda a, b: b - a),
    "mul": operator.mul,
    "div": _div,
    "true_divide": _div,
    "floor_divide": lambda a, b: _div(a, b, "floor"),
    "remainder": np.mod,
    "fmod": np.fmod,
    "gelu": _gelu,
    "silu": lambda x: x * NUMPY["sigmoid"](x),
    "pow": _pow,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "clamp": lambda x, low=None, high=None: np.clip(x, low, high),
    "clamp_min": np.maximum,
    "clamp_max": np.minimum,
    "where": np.where,
    **{name: NUMPY[name] for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{f"bitwise_{name}": NUMPY[name] for name in ("and", "or", "xor", "not")},
    **{f"bitwise_{side}_shift": NUMPY[f"sh{side[0]}"] for side in ("left", "right")},
    **{f"__{side}shift__": NUMPY[f"sh{side}"] for side in "lr"},
    "logical_not": np.logical_not,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "sum": _reduction(np.sum),
    "mean": _reduction(np.mean),
    "prod": _reduction(np.prod),
    "amax": _reduction(np.max),
    "max": _extreme(np.max, np.argmax),
    "min": _extreme(np.min, np.argmin),
    "max.other": np.maximum,
    "min.other": np.minimum,
    "amin": _reduction(np.min),
    "any": _reduction(np.any),
    "all": _reduction(np.all),
    "argmax": lambda x, dim=None, keepdim=False: np.argmax(x, dim, keepdims=bool(keepdim)),
    "argmin": lambda x, dim=None, keepdim=False: np.argmin(x, dim, keepdims=bool(keepdim)),
    "cumsum": lambda x, dim, *_: np.cumsum(x, dim),
    "cumprod": lambda x, dim, *_: np.cumprod(x, dim),
    "_softmax": _softmax,
    "_log_softmax": lambda x, dim, *_: np.log(_softmax(x, dim)),
    "tril": np.tril,
    "triu": np.triu,
    "addmm": lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b),
    "mm": np.matmul,
    "bmm": np.matmul,
    "mv": np.matmul,
    "dot": np.matmul,
    "matmul": np.matmul,
    "cat": lambda arrays, dim=0: np.concatenate(arrays, dim),
    "stack": lambda arrays, dim=0: np.stack(arrays, dim),
    "view": _view,
    "reshape": _view,
    "_unsafe_view": _view,
    "permute": np.transpose,
    "t": np.transpose,
    "transpose": np.swapaxes,
    "unsqueeze": np.expand_dims,
    "squeeze": lambda x, dim=None: np.squeeze(x, _dims(dim)),
    "expand": lambda x, shape, *_: np.broadcast_to(x, [o if n < 0 else n for n, o in _expansion(x, shape)]),
    "slice": _slice,
    "select": lambda x, dim, index: np.take(x, index, dim),
    "index": lambda x, indices: x[_at(indices)],
    "index_put": _index_put,
    "index_select": lambda x, dim, index: np.take(x, index, dim),
    "gather": lambda x, dim, index, *_: np.take_along_axis(_named(x, dim, index), index, dim),
    "scatter.value": _scatter,
    "scatter.src": _scatter,
    "constant_pad_nd": _pad,
    "flip": lambda x, dims: np.flip(x, _dims(dims)),
    "roll": lambda x, shifts, dims=None: np.roll(x, _dims(shifts), _dims(dims)),
    "repeat": np.tile,
    "sort": _sort,
    "linalg_vector_norm": _norm,
    "index_add": _index_add,
    "var.correction": _variance,
    "std.correction": lambda *arguments: np.sqrt(_variance(*arguments)),
    "linspace": lambda start, end, steps, *_: np.linspace(start, end, steps),
    "softplus": lambda x, beta=1, threshold=20: np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta),
    "leaky_relu": lambda x, slope=0.01: np.where(x > 0, x, x * slope),
    "lerp": lambda a, b, weight: a + weight * (b - a),
    "isfinite": np.isfinite,
    "frac": lambda x: x - np.trunc(x),
    "topk": _topk,
    "logsumexp": _logsumexp,
    "count_nonzero": lambda x, dims=None: np.count_nonzero(x, _dims(dims)),
    "masked_fill": lambda x, mask, value: np.where(mask, np.asarray(value).astype(x.dtype), x),
    "eye": lambda n, m=None: np.eye(n, m),
    **dict.fromkeys(("diagonal", "diagonal_copy"), lambda x, offset=0, a=0, b=1: np.diagonal(x, offset, a, b)),
    "rot90": lambda x, k=1, dims=(0, 1): np.rot90(x, k, tuple(dims)),
    "unfold": _unfold,
    "embedding": lambda weights, places, *_: weights[places],
    "arange": _arange,
    "searchsorted": np.searchsorted,
    **dict.fromkeys(("zeros", "zeros_like", "new_zeros"), _filled(0)),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), _filled(1)),
    **dict.fromkeys(("full", "full_like", "new_full"), lambda _, value, *__: np.asarray(value)),
    "kopt.saturate_to_i32": lambda x, _: np.clip(x, -(2**31), 2**31 - 1),
    "scalar_tensor": lambda value, *_: np.asarray(value),
}


#: What moves elements alone, or fills with zeros.
STRUCTURAL = frozenset(
    "clone _to_copy alias detach cat stack view reshape _unsafe_view permute t transpose unsqueeze squeeze expand "
    "diagonal diagonal_copy rot90 unfold slice select index index_put index_select constant_pad_nd flip roll repeat "
    "zeros zeros_like new_zeros prims.convert_element_type".split()
)


def _expansion(x: Array, shape: Sequence[int]) -> list[tuple[int, int]]:
    """Each wanted size with the size that -1 stands for."""
    sizes = [1] * (len(shape) - x.ndim) + list(x.shape)
    return list(zip(shape, sizes, strict=True))


def call(
    callee: str, arguments: Sequence[Attribute], inputs: Sequence[tuple[Array, Attribute]], types: Sequence[MemRefType]
) -> list[Array]:
    """The results of an operator; raises `UnsupportedError` for one that is not in the table."""
    if callee == "aten.view.dtype":
        return [_bits(*inputs[0], types[0])]
    namespace, _, name = callee.partition(".")
    name = name if namespace == "aten" and name in ATEN else name.partition(".")[0]
    name = name if namespace == "aten" else f"{namespace}.{name}"
    if name not in ATEN:
        raise UnsupportedError(f"the reference interpreter does not know the host operator '{callee}'")
    exact = any(is_exact(type) for _, type in inputs) or any(is_exact(type.element_type) for type in types)
    if exact and name not in STRUCTURAL:
        raise UnsupportedError(f"the host operator '{callee}' has no exact numbers")
    arrays = iter([_widened(array) for array, _ in inputs])
    values = [_python(attr, arrays) for attr in arguments]
    try:
        with np.errstate(all="ignore"):
            found = ATEN[name](*values)
        results = found if isinstance(found, tuple) else (found,)
        return [_result(result, type) for result, type in zip(results, types, strict=True)]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # Only torch knows what its operators take: NumPy refuses arguments and results that do not fit.
        raise UnsupportedError(f"'{callee}' does not take these arguments for these results: {error}") from error


def _bits(array: Array, source: Attribute, type: MemRefType) -> Array:
    """The same bits in another element type."""
    if array.shape != type.get_shape():
        raise UnsupportedError("the reference interpreter has views in another element type of the same width only")
    return bitcast(array, source, type.element_type)


def _widened(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _python(attr: Attribute, arrays: Iterator[Array]) -> Any:
    """An argument as a Python value: ``unit`` is the next operand."""
    match attr:
        case UnitAttr():
            return next(arrays)
        case ArrayAttr():
            return [_python(item, arrays) for item in attr.data]
        case FloatAttr() if ring.active():
            return int(ring.encode(literal_value(attr)))
        case IntegerAttr() | FloatAttr():
            return literal_value(attr)
        case StringAttr():
            return attr.data
        case NoneType():
            return None
        case _:
            return from_ir(attr)


def _result(found: Any, type: MemRefType) -> Array:
    """A new array of the result's shape and type; values convert as torch's ``to``."""
    array = np.asarray(found)
    dtype = from_ir(type.element_type)
    if dtype is not None and dtype.kind == "bool":
        array = array != 0
    elif is_exact(type.element_type) and array.dtype.kind != "f":
        pass
    elif dtype is not None and dtype.is_integer and array.dtype.kind == "f":
        array = cast(array, f64 if array.dtype.itemsize == 8 else f32, type.element_type)
    elif dtype is not None and dtype.is_float and array.dtype.kind == "O":
        array = array.astype(np.float64)
    return np.broadcast_to(rounded(array, type.element_type), type.get_shape()).copy()
