"""Values that an import read besides shapes and scalars: globals and closure cells, and elements of tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

_SIMPLE = (bool, int, float, str, bytes, type(None))


@dataclass(frozen=True)
class ReadValue:
    """One value that the import saw: ``read`` gives today's, from the call's tensors in the order of ``params``.

    ``place`` is where a name has it: the identity of a function's globals or of a cell, and the name.
    """

    what: str
    read: Callable[[Sequence[Any]], Any]
    value: Any
    place: tuple[int, str] | None = None

    def holds(self, tensors: Sequence[Any]) -> bool:
        """Whether the import still stands for a call."""
        now = self.read(tensors)
        if _is_simple(self.value):
            return type(now) is type(self.value) and (now == self.value or (now != now and self.value != self.value))
        return now is self.value or (isinstance(self.value, list) and now == self.value)


def named_values(functions: Iterable[FunctionType]) -> list[ReadValue]:
    """Globals and closure cells that functions name, where they hold plain values, functions or tensors."""
    found: dict[tuple[int, str], ReadValue] = {}
    for function in functions:
        for name in function.__code__.co_names:
            if name in function.__globals__ and _matters(function.__globals__[name]):
                read = lambda _, space=function.__globals__, name=name: space.get(name)  # noqa: E731
                key = (id(function.__globals__), name)
                found.setdefault(key, ReadValue(f"the global '{name}'", read, function.__globals__[name], key))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if _is_filled(cell) and _matters(cell.cell_contents):
                read = lambda _, cell=cell: cell.cell_contents if _is_filled(cell) else None  # noqa: E731
                key = (id(cell), name)
                found.setdefault(key, ReadValue(f"the closure value '{name}'", read, cell.cell_contents, key))
    return list(found.values())


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None or True
    except ValueError:
        return False


def _matters(value: Any) -> bool:
    return _is_simple(value) or isinstance(value, FunctionType) or _is_torch(value, "Tensor")


def _is_simple(value: Any) -> bool:
    return isinstance(value, _SIMPLE) or _is_torch(value, "dtype")


def _is_torch(value: Any, name: str) -> bool:
    """Whether a value is of a class of torch, which a kernel without torch has none of."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, name))
