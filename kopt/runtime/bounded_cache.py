"""The in-memory cache of compiled kernels: bounded, and safe where several threads call one kernel."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class _Entry(Generic[V]):
    """The values of one key, the newest first, and the lock of whoever makes another."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # what is made may ask for itself
        self.values: tuple[V, ...] = ()

    def find(self, holds: Callable[[V], bool]) -> V | None:
        return next(filter(holds, self.values), None)


class BoundedCache(Generic[V]):
    """Values by key, of which a key may have several: each is right where it ``holds``.

    Of the ``keys`` that it keeps at most, the one goes that was asked for the longest ago; of a key's ``values``, the
    oldest.
    """

    def __init__(self, keys: int = 256, values: int = 16):
        self._keys, self._values = keys, values
        self._entries: OrderedDict[Hashable, _Entry[V]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def find_or_make(self, key: Hashable, holds: Callable[[V], bool], make: Callable[[], V]) -> V:
        """The value of a key that holds; where there is none, one thread makes it and the others wait."""
        entry = self._entry(key)
        found = entry.find(holds)
        if found is not None:
            return found
        with entry.lock:
            found = entry.find(holds)
            if found is None:
                found = make()
                entry.values = (found, *entry.values[: self._values - 1])
        return found

    def _entry(self, key: Hashable) -> _Entry[V]:
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > self._keys:
                self._entries.popitem(last=False)
        return entry

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._entries.clear()
