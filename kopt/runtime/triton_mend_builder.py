"""Methods of the builder of Triton's CPU interpreter that Triton 3.9 has right, and older versions lack or have wrong.

Up to 3.8 there are no constants of bf16, and all ones of an unsigned type are -1, which NumPy 2 refuses. Up to 3.7 the
maximum of a number and NaN is NaN, where chips give the number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: Methods that give the number where one of two operands is NaN.
_NUMBERS = {"create_minnumf": np.fmin, "create_maxnumf": np.fmax}


def mend_builder(builder: type[Any], rounded: Callable[[np.ndarray, Any], Any], tl: Any) -> None:
    """Gives a builder's class these methods; ``rounded`` makes f32 values a handle of a small type."""
    if not hasattr(builder, "get_bf16"):
        builder.get_bf16 = lambda self, value: rounded(np.array([value], np.float32), tl.bfloat16)
    for name, function in _NUMBERS.items():
        if hasattr(builder, name):
            setattr(builder, name, _binary(function))
    if (ones := getattr(builder, "get_all_ones_value", None)) is not None:
        builder.get_all_ones_value = _all_ones(ones)


def _binary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, lhs, rhs: self.binary_op(lhs, rhs, function)


def _all_ones(original: Callable[..., Any]) -> Callable[..., Any]:
    def get_all_ones_value(self: Any, type: Any) -> Any:
        zero = self.get_null_value(type)
        if zero.data.dtype.kind != "u":
            return original(self, type)
        zero.data = ~zero.data
        return zero

    return get_all_ones_value
