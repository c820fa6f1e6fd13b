"""What an import relied on besides shapes and scalars: data read on the host, globals and closure values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch

from kopt.frontend.host import to_torch

_SIMPLE = (bool, int, float, str, bytes, type(None), torch.dtype)


@dataclass(frozen=True)
class Guard:
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
        if isinstance(self.value, _SIMPLE):
            return type(now) is type(self.value) and (now == self.value or (now != now and self.value != self.value))
        return now is self.value or (isinstance(self.value, list) and now == self.value)


def read_guards(reads: Iterable[tuple[Callable[[Any], Any], Any]]) -> list[Guard]:
    """Values read from tensors' data, as ``.item()`` does."""
    return [
        Guard("a value read from a tensor", lambda data, read=read: read([to_torch(v) for v in data]), value)
        for read, value in reads
    ]


def name_guards(functions: Iterable[FunctionType]) -> list[Guard]:
    """Globals and closure cells that functions name, where they hold plain values, functions or tensors."""
    guards: dict[tuple[int, str], Guard] = {}
    for function in functions:
        for name in function.__code__.co_names:
            if name in function.__globals__ and _matters(function.__globals__[name]):
                read = lambda _, space=function.__globals__, name=name: space.get(name)  # noqa: E731
                key = (id(function.__globals__), name)
                guards.setdefault(key, Guard(f"the global '{name}'", read, function.__globals__[name], key))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if _is_filled(cell) and _matters(cell.cell_contents):
                read = lambda _, cell=cell: cell.cell_contents if _is_filled(cell) else None  # noqa: E731
                key = (id(cell), name)
                guards.setdefault(key, Guard(f"the closure value '{name}'", read, cell.cell_contents, key))
    return list(guards.values())


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None or True
    except ValueError:
        return False


def _matters(value: Any) -> bool:
    return isinstance(value, (*_SIMPLE, FunctionType, torch.Tensor))
