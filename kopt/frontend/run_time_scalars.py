"""Run-time scalars as the kernel's Python sees them: numbers that are computed with, and not known.

Arithmetic with other numbers stays Python's, and is done at each call. Arithmetic with device values takes the number
as a scalar of the computation's dtype, which is an argument of the kernel. Whatever needs the number itself, a
condition, a size, an index, a text, is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch

from kopt.frontend.device_value import DeviceValue, call_torch
from kopt.frontend.source import user_place
from kopt.open_extents import NeedsConstant
from kopt.runtime.run_time_scalars import Expression, Path, ScalarArgument
from kopt.trees import leaves

#: The dtypes of arguments, by those of the computation; other numbers are constants.
_HELD = {torch.float32: "f32", torch.float64: "f64", torch.int32: "i32", torch.int64: "i64"}
_THROUGH_F32 = (torch.float16, torch.bfloat16)


class OpenNumber:
    """A Python number that each call gives: of it, ``int`` or ``float`` is known, and how it is computed."""

    __slots__ = ("expression", "kind")

    def __init__(self, expression: Expression, kind: type):
        self.expression = expression
        self.kind = kind

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        """What ``isinstance`` sees: the number's class."""
        return self.kind

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        everything = list(leaves((args, kwargs or {})))
        if any(isinstance(value, DeviceValue) for value in everything):
            return call_torch(func, args, kwargs)
        return next(value for value in everything if type(value) is OpenNumber).needed()

    def argument(self, dtype: torch.dtype) -> ScalarArgument:
        """The kernel's argument that holds the number for computations in a dtype."""
        name = "f32" if dtype in _THROUGH_F32 else _HELD.get(dtype)
        return self.needed() if name is None else ScalarArgument(self.expression, name)

    def needed(self, *_: Any, **__: Any) -> NoReturn:
        """Refuses what needs the number itself."""
        paths = ScalarArgument(self.expression, "f32").paths
        names = ", ".join(f"'{'.'.join(map(str, path))}'" for path in sorted(paths, key=repr))
        raise NeedsConstant(
            f"the value of {names}, which differs from call to call, is needed while the kernel is imported",
            user_place(),
            ["only arithmetic is open: leave the parameter out of dynamic=, and each value is compiled"],
        )

    __bool__ = __index__ = __int__ = __float__ = __complex__ = __hash__ = needed
    __repr__ = __str__ = __format__ = __round__ = __trunc__ = __floor__ = __ceil__ = __divmod__ = __rdivmod__ = needed


def _compute(name: str, *operands: Any) -> OpenNumber:
    """An operation on numbers, one of them open."""
    kinds = [operand.kind if type(operand) is OpenNumber else type(operand) for operand in operands]
    inexact = name == "truediv" or name not in _EXACT or float in kinds
    if name == "pow" and not inexact:  # the sign of the exponent says what comes out
        next(operand for operand in operands if type(operand) is OpenNumber).needed()
    parts = [operand.expression if type(operand) is OpenNumber else operand for operand in operands]
    return OpenNumber((name, *parts), float if inexact else int)


_EXACT = ("add", "sub", "mul", "floordiv", "mod", "pow", "neg", "pos", "abs")


def compute(name: str) -> Callable[[OpenNumber], OpenNumber]:
    """A function of ``math`` on an open number."""
    return lambda number: _compute(name, number)


def _binary(name: str, swapped: bool = False) -> Any:
    def method(self: OpenNumber, other: Any) -> Any:
        if type(other) not in (OpenNumber, int, float, bool):
            return NotImplemented
        return _compute(name, *((other, self) if swapped else (self, other)))

    return method


def _comparison(name: str) -> Any:
    def method(self: OpenNumber, other: Any) -> Any:
        return NotImplemented if isinstance(other, DeviceValue) else self.needed()

    method.__name__ = name
    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(OpenNumber, f"__{_name}__", _binary(_name))
    setattr(OpenNumber, f"__r{_name}__", _binary(_name, swapped=True))
for _name in ("neg", "pos", "abs"):
    setattr(OpenNumber, f"__{_name}__", compute(_name))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(OpenNumber, f"__{_name}__", _comparison(_name))


def open_number(path: Path, kind: str) -> OpenNumber:
    """The number at a path in the values of a call."""
    return OpenNumber(("argument", path), {"int": int, "float": float}[kind])
