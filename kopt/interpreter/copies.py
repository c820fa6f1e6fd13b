"""Asynchronous copies: started, on the way, and waited for by the bytes that their semaphore counts.

Each copy happens at once or only when something waits for it, as a random number says: a program whose results depend
on that waits in the wrong place. Until it has happened, what it writes is undefined.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation

from kopt.diagnostics import location_of
from kopt.errors import AccessError


@dataclass
class _Copy:
    op: Operation
    source: np.ndarray
    target: np.ndarray
    done: bool = False

    def finish(self) -> None:
        """Moves the elements, unless that has happened."""
        if not self.done:
            self.target[...] = self.source.reshape(self.target.shape)
        self.done = True


class Copies:
    """The copies that are on the way, by the address of the semaphore that they signal."""

    def __init__(self) -> None:
        self._waiting: dict[int, list[_Copy]] = defaultdict(list)
        self._arrived: dict[int, int] = defaultdict(int)

    def start(
        self,
        semaphore: int,
        op: Operation,
        source: np.ndarray,
        target: np.ndarray,
        undefined: float | int,
        random: np.random.Generator,
    ) -> None:
        """A copy begins."""
        copy = _Copy(op, source, target)
        if random.random() < 0.5:
            copy.finish()
        else:
            target[...] = undefined
        self._waiting[semaphore].append(copy)

    def wait(self, semaphore: int, size: int, random: np.random.Generator) -> None:
        """Goes on once so many bytes have arrived: of whichever copies come first."""
        waiting = self._waiting[semaphore]
        while self._arrived[semaphore] < size:
            if not waiting:
                raise AccessError("waits for a copy that nothing has started: the kernel would hang", id="race")
            copy = waiting.pop(int(random.integers(len(waiting))))
            copy.finish()
            self._arrived[semaphore] += copy.target.nbytes
        self._arrived[semaphore] -= size

    def finish(self) -> None:
        """Raises where a kernel ends with copies that nothing has waited for; nothing is on the way after it."""
        left = [copy for waiting in self._waiting.values() for copy in waiting]
        over = sum(self._arrived.values())
        self._waiting.clear()
        self._arrived.clear()
        if left:
            raise AccessError("nothing waits for this copy before the kernel ends", location_of(left[0].op), id="race")
        if over:
            raise AccessError(f"{over} bytes of copies are waited for by nothing before the kernel ends", id="race")
