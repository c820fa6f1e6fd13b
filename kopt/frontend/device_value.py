"""The base of all device values: Python's operators and torch's functions go to the table of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kopt.frontend.registry import OPERATIONS, torch_operation
from kopt.frontend.state import unsupported

#: What torch has only as methods of a host tensor that a device value stands behind: ``host // value``.
_OPERATORS = {
    "__floordiv__": "floor_divide",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
}


def _binary(name: str, swapped: bool = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        return OPERATIONS[name](other, self) if swapped else OPERATIONS[name](self, other)

    return method


def _unary(name: str) -> Any:
    def method(self: Any) -> Any:
        return OPERATIONS[name](self)

    return method


class DeviceValue:
    """Base: operators go to the table of operations, Python's own questions are refused."""

    __slots__ = ()

    __add__: Any = _binary("add")
    __radd__: Any = _binary("add", swapped=True)
    __sub__: Any = _binary("sub")
    __rsub__: Any = _binary("sub", swapped=True)
    __mul__: Any = _binary("mul")
    __rmul__: Any = _binary("mul", swapped=True)
    __truediv__: Any = _binary("div")
    __rtruediv__: Any = _binary("div", swapped=True)
    __floordiv__: Any = _binary("floor_divide")
    __rfloordiv__: Any = _binary("floor_divide", swapped=True)
    __mod__: Any = _binary("remainder")
    __rmod__: Any = _binary("remainder", swapped=True)
    __pow__: Any = _binary("pow")
    __rpow__: Any = _binary("pow", swapped=True)
    __and__: Any = _binary("bitwise_and")
    __rand__: Any = _binary("bitwise_and", swapped=True)
    __or__: Any = _binary("bitwise_or")
    __ror__: Any = _binary("bitwise_or", swapped=True)
    __xor__: Any = _binary("bitwise_xor")
    __rxor__: Any = _binary("bitwise_xor", swapped=True)
    __lshift__: Any = _binary("bitwise_left_shift")
    __rlshift__: Any = _binary("bitwise_left_shift", swapped=True)
    __rshift__: Any = _binary("bitwise_right_shift")
    __rrshift__: Any = _binary("bitwise_right_shift", swapped=True)
    __matmul__: Any = _binary("matmul")
    __rmatmul__: Any = _binary("matmul", swapped=True)
    __lt__: Any = _binary("lt")
    __le__: Any = _binary("le")
    __gt__: Any = _binary("gt")
    __ge__: Any = _binary("ge")
    __eq__: Any = _binary("eq")
    __ne__: Any = _binary("ne")
    __neg__: Any = _unary("neg")
    __pos__: Any = _unary("positive")
    __invert__: Any = _unary("bitwise_not")
    __abs__: Any = _unary("abs")

    def __bool__(self) -> bool:
        unsupported(
            "the truth of a device value is not known while the kernel is imported",
            "use torch.where, or an `if` statement without return, break or continue in its arms",
            id="condition",
        )

    def __index__(self) -> int:
        unsupported(
            "a device value is no Python integer",
            "sizes and static ranges must be known on the host",
            id="device-value-as-number",
        )

    __int__ = __index__

    def __float__(self) -> float:
        unsupported("a device value is no Python float", "use .to(torch.float32)", id="device-value-as-number")

    def __iter__(self) -> Any:
        unsupported("a device value cannot be iterated over", "use hl.tile, or index it", id="device-value-as-number")

    def __hash__(self) -> int:
        return id(self)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        return call_torch(func, args, kwargs)


def call_torch(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None) -> Any:
    """A torch function with a device value among its arguments."""
    name = getattr(function, "__name__", str(function))
    implementation = torch_operation(function) or OPERATIONS.get(_OPERATORS.get(name, name))
    if implementation is None:
        unsupported(f"torch function '{name}' is not supported on device values", id="torch-function")
    return implementation(*args, **(kwargs or {}))
