"""Run-time scalars: Python numbers of a call that a compiled kernel takes as arrays of rank 0, not as constants.

What a kernel computes of such numbers alone, ``1.0 / scale``, is computed by Python at each call, as without kopt.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kopt import dtypes
from kopt.dtypes import DType
from kopt.runtime.exchange import wide
from kopt.specs import framework_of

#: A parameter's name, then keys into tuples and dicts.
Path = tuple[Any, ...]
#: What is computed: a number, ``("argument", path)``, or an operation of `OPERATIONS` and its operands.
Expression = Any

OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")},
    **{name: getattr(operator, name) for name in ("neg", "pos", "abs")},
    **{name: getattr(math, name) for name in ("exp", "log", "log2", "sqrt", "sin", "cos", "tanh")},
}


@dataclass(frozen=True)
class RunTimeScalar:
    """Stands among the values of a call for a number that each call gives anew: an ``int`` or a ``float``."""

    kind: str


@dataclass(frozen=True)
class ScalarArgument:
    """Where an argument of rank 0 comes from: what each call computes of its numbers, in a dtype."""

    expression: Expression
    dtype: str

    @property
    def paths(self) -> frozenset[Path]:
        """The numbers that it is computed of."""
        return frozenset(_arguments(self.expression))

    def array(self, values: Mapping[str, Any], like: Any) -> Any:
        """The argument of a call, as an array of the framework, and on the device, of ``like``; torch's without one.

        Raises `ArithmeticError` where Python does, and where the dtype does not hold the number.
        """
        paths = list(self.paths)
        return self.maker(paths, like)(*(follow(values, path) for path in paths))

    def maker(self, paths: Sequence[Path], like: Any) -> Callable[..., Any]:
        """The function that computes it of the numbers at ``paths``; it raises as `array`."""
        make = _maker(self.dtype, like)
        if self.expression == ("argument", *paths):
            return make
        return lambda *numbers: make(evaluate(self.expression, dict(zip(paths, numbers, strict=True))))


def follow(values: Any, path: Sequence[Any]) -> Any:
    """What is at a path in the values of a call."""
    for key in path:
        values = values[key]
    return values


def evaluate(expression: Expression, numbers: Mapping[Path, Any]) -> Any:
    """The number that an expression is, by those that it is made of."""
    if not isinstance(expression, tuple):
        return expression
    kind, *operands = expression
    if kind == "argument":
        return numbers[operands[0]]
    return OPERATIONS[kind](*(evaluate(operand, numbers) for operand in operands))


def _arguments(expression: Expression) -> Iterator[Path]:
    if isinstance(expression, tuple):
        if expression[0] == "argument":
            yield expression[1]
        else:
            for operand in expression[1:]:
                yield from _arguments(operand)


def _maker(dtype: str, like: Any) -> Callable[[Any], Any]:
    """What makes an array of rank 0 of a number, beside an array."""
    found = dtypes.BY_SPEC[dtype]
    framework = framework_of(like) or "torch"
    if framework == "torch":
        import torch

        kind, device = getattr(torch, found.torch), "cpu" if like is None else like.device
        return lambda number: torch.full((), _held(number, found).item(), dtype=kind, device=device)
    if framework == "jax":
        return lambda number: _jax_array(_held(number, found), found)
    return lambda number: _held(number, found)


def _held(number: Any, dtype: DType) -> np.ndarray:
    """A number as NumPy has it. Raises `OverflowError` where the dtype does not hold it."""
    with np.errstate(over="ignore"):
        value = np.asarray(number, dtype.torch)
    if np.isinf(value) and not math.isinf(number):
        raise OverflowError(f"{number} is beyond {dtype.spec}")
    return value


def _jax_array(value: np.ndarray, dtype: DType) -> Any:
    import jax.numpy as jnp

    with wide(dtype.bits == 64):
        return jnp.asarray(value)
