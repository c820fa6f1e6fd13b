"""Values that an import read besides shapes and scalars: globals and closure cells, and elements of tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from kopt.runtime.users_code import is_users_module

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
    """Plain values, functions and tensors that functions name: globals, closure cells, and attributes of these.

    Attributes count of modules, classes and objects of the user's, all by whose names code asks objects.
    """
    found = _Found()
    for function in functions:
        names, space = attribute_names(function.__code__), function.__globals__
        for name in function.__code__.co_names:
            if name in space:
                found.read(space, name, f"the global '{name}'", names)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if _is_filled(cell):
                found.read(_Cell(cell), name, f"the closure value '{name}'", names, id(cell))
    return [value for value in found.values.values() if value is not None]


class _Cell:
    """A closure cell as a namespace of one name."""

    def __init__(self, cell: Any):
        self._cell = cell

    def get(self, name: str) -> Any:
        return self._cell.cell_contents if _is_filled(self._cell) else None


class _Found:
    """Values by where a name has them; None of those that no call looks at."""

    def __init__(self) -> None:
        self.values: dict[tuple[int, str], ReadValue | None] = {}

    def read(self, space: Any, name: str, what: str, names: frozenset[str], place: int | None = None) -> None:
        """What a namespace has by a name, and what code with ``names`` may read of that."""
        key, value = (id(space) if place is None else place, name), space.get(name)
        if key in self.values:
            return
        self.values[key] = ReadValue(what, lambda _: space.get(name), value, key) if _matters(value) else None
        if _is_namespace(value):
            inner = getattr(value, "__dict__", {})
            at = id(inner if type(inner) is dict else value)
            for attribute in sorted(names & inner.keys()):
                self.read(inner, attribute, f"'{attribute}' of {what}", names, at)


def _is_namespace(value: Any) -> bool:
    """Whether a value is a module, a class or an object of the user's, whose attributes a kernel may read."""
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return isinstance(module, str) and not isinstance(value, FunctionType) and is_users_module({"__name__": module})


@lru_cache(maxsize=4096)
def attribute_names(code: CodeType) -> frozenset[str]:
    """All names that code, and the code in it, may ask objects for."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(code.co_names).union(*map(attribute_names, inner))


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
