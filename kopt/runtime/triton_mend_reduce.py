"""Reductions and scans by a kernel's own function, on whole arrays: Triton's interpreter goes element by element.

The function combines values associatively, so halves are combined with halves: a few calls on arrays instead of one
call an element, which makes a softmax of a million elements a matter of milliseconds.

Sums begin with their first lane, as on chips: NumPy's begin with 0, which a sum of -0.0 alone is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def mend_reductions(interpreter: Any) -> None:
    """Replaces the slow paths of reductions and scans, where Triton's interpreter has them."""
    reduce_ops, scan_ops = getattr(interpreter, "ReduceOps", None), getattr(interpreter, "ScanOps", None)
    if reduce_ops is not None and hasattr(reduce_ops, "generic_reduce"):
        reduce_ops.generic_reduce = lambda op, values: _reduce(op, values)
        reduce_ops.sum = lambda op, value: _sum(op, value)
    if scan_ops is not None and hasattr(scan_ops, "generic_scan"):
        scan_ops.generic_scan = lambda op, values: _scan(op, values)


def _combiner(op: Any, values: Any) -> Callable[..., list[np.ndarray]]:
    """The kernel's function, of two lists of arrays."""
    dtypes = [value.dtype for value in values]

    def combine(left: list[np.ndarray], right: list[np.ndarray]) -> list[np.ndarray]:
        operands = [op.to_tensor(a, dtype) for a, dtype in zip([*left, *right], [*dtypes, *dtypes], strict=True)]
        result = op.combine_fn.fn(*operands)
        return [part.handle.data for part in (result if isinstance(result, tuple) else (result,))]

    return combine


def _reduce(op: Any, values: Any) -> list[Any]:
    arrays = [value.handle.data for value in values]
    rank = arrays[0].ndim
    axis = op.axis
    if axis is None:
        arrays, axis = [array.reshape(-1) for array in arrays], 0
    combine = _combiner(op, values)
    parts = [np.moveaxis(array, axis, 0) for array in arrays]
    while len(parts[0]) > 1:
        half = len(parts[0]) // 2
        rest = [part[2 * half :] for part in parts]
        parts = combine([part[0 : 2 * half : 2] for part in parts], [part[1 : 2 * half : 2] for part in parts])
        parts = [np.concatenate([part, more]) for part, more in zip(parts, rest, strict=True)]
    results = [part[0] for part in parts]
    if op.keep_dims:
        shape = (1,) * rank if op.axis is None else None
        results = [a.reshape(shape) if shape else np.expand_dims(a, axis) for a in results]
    return [op.to_tensor(a, value.dtype) for a, value in zip(results, values, strict=True)]


def _sum(op: Any, value: Any) -> Any:
    lanes = value.handle.data
    start: dict[str, Any] = {"initial": -0.0} if lanes.dtype.kind == "f" else {}
    return op.to_tensor(np.sum(lanes, axis=op.axis, keepdims=op.keep_dims, **start), value.dtype)


def _scan(op: Any, values: Any) -> list[Any]:
    combine = _combiner(op, values)
    parts = [np.moveaxis(value.handle.data, op.axis, 0).copy() for value in values]
    step = 1
    while step < len(parts[0]):
        # Whole arrays, since Triton's have powers of two as sizes; the first lanes have nothing before them.
        later = combine([np.roll(part, step, axis=0) for part in parts], parts)
        parts = [np.concatenate([part[:step], more[step:]]) for part, more in zip(parts, later, strict=True)]
        step *= 2
    arrays = [np.ascontiguousarray(np.moveaxis(part, 0, op.axis)) for part in parts]
    return [op.to_tensor(a, value.dtype) for a, value in zip(arrays, values, strict=True)]
