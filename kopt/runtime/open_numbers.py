"""Which numbers of a kernel's calls are run-time scalars: those that are said to be, and those that have changed.

The first call of a kind is compiled for its numbers, which may fold. A number that another call of the kind gives
differently is left open from then on, unless the kernel needs it while it is imported.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kopt.errors import ArgumentError
from kopt.runtime.bounded_cache import BoundedCache
from kopt.runtime.cache import value_key
from kopt.runtime.run_time_scalars import Path, RunTimeScalar
from kopt.trees import rebuild

if TYPE_CHECKING:
    from kopt.runtime.compiled_kernel import CompiledKernel

#: Gives the key of a call's values.
Kinds = Callable[[dict[str, Any]], Hashable]

#: Integers beyond these are compiled in: they say which dtype computes.
_WORD = range(-(2**31), 2**31)


@dataclass
class _Calls:
    """Calls that differ in numbers only: what was seen of each, which are open, and which must be known."""

    seen: dict[Path, Hashable] = field(default_factory=dict)
    open: set[Path] = field(default_factory=set)
    needed: set[Path] = field(default_factory=set)


class OpenNumbers:
    """The numbers of one kernel. ``named`` are parameters of which all are open; None: those that change."""

    def __init__(self, named: Collection[str] | None = None):
        self.named = named
        self._kinds: BoundedCache[_Calls] = BoundedCache()
        self._lock = threading.Lock()

    def opened(self, values: Mapping[str, Any], kind_of: Kinds) -> dict[str, Any]:
        """The values of a call with its open numbers as `RunTimeScalar`; ``kind_of`` gives the key of values."""
        numbers = dict(_numbers(values))
        if not numbers:
            return dict(values)
        if self.named is not None:
            return self.named_open(values)
        kind = self._kind(values, numbers, kind_of)
        with self._lock:
            for path, number in numbers.items():
                key = value_key(number)
                if kind.seen.setdefault(path, key) != key and path not in kind.needed:
                    kind.open.add(path)
            return _with(values, kind.open)

    def named_open(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values with the numbers open that are said to be."""
        named = self.named or ()
        return _with(values, {path for path, _ in _numbers(values) if path[0] in named})

    def compiled(
        self, values: Mapping[str, Any], kind_of: Kinds, compiled: Callable[[dict[str, Any]], CompiledKernel]
    ) -> CompiledKernel:
        """What ``compiled`` gives for a call, with as many of its numbers open as the kernel allows.

        Where it does not allow those that have changed, whatever the import says, it is compiled for them.
        """
        opened = self.opened(values, kind_of)
        if self.named is None and (paths := open_paths(opened)):
            try:
                found = compiled(opened)
                if found.form.holds_numbers(dict(values)):
                    return found
            except ImportError:
                raise
            except Exception:
                self.close(values, kind_of, paths)
            opened = dict(values)
        return compiled(opened)

    def close(self, values: Mapping[str, Any], kind_of: Kinds, paths: Collection[Path]) -> None:
        """Says that the kernel needs numbers of such calls."""
        kind = self._kind(values, dict(_numbers(values)), kind_of)
        with self._lock:
            kind.needed |= set(paths)
            kind.open -= set(paths)

    def _kind(self, values: Mapping[str, Any], numbers: Collection[Path], kind_of: Kinds) -> _Calls:
        return self._kinds.find_or_make(kind_of(_with(values, numbers)), lambda _: True, _Calls)


def open_paths(values: Mapping[str, Any]) -> frozenset[Path]:
    """Where values have a `RunTimeScalar`."""
    return frozenset(path for path, value in _leaves(values, ()) if isinstance(value, RunTimeScalar))


def _numbers(values: Mapping[str, Any]) -> Iterator[tuple[Path, int | float]]:
    for path, value in _leaves(values, ()):
        if type(value) is float or (type(value) is int and value in _WORD):
            yield path, value


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _leaves(item, (*path, number))
    else:
        yield path, value


def _with(values: Mapping[str, Any], open: Collection[Path]) -> dict[str, Any]:
    """Values in which numbers at some paths are open."""
    places = iter([path for path, _ in _leaves(dict(values), ())])
    return rebuild(dict(values), lambda value: _scalar(value) if next(places) in open else value)


def _scalar(value: Any) -> RunTimeScalar:
    return RunTimeScalar(type(value).__name__)


def known_parameters(signature: inspect.Signature, names: Collection[str] | None) -> tuple[str, ...] | None:
    """The names as they are. Raises `ArgumentError` for one that no parameter has."""
    if names is None:
        return None
    names = (names,) if isinstance(names, str) else tuple(names)
    if unknown := [name for name in names if name not in signature.parameters]:
        raise ArgumentError(
            f"dynamic names '{unknown[0]}', and the kernel has no such parameter",
            notes=[f"parameters: {', '.join(signature.parameters)}"],
        )
    return names
