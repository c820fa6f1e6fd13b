"""Several ranks that run one module: one of them at a time, and which goes on is drawn wherever they may meet.

What a rank waits for is a predicate over what the ranks share; where all wait and none may go on, the program hangs,
and that is an error.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from contextvars import copy_context
from typing import Any, TypeVar

import numpy as np

from kopt.errors import AccessError

Result = TypeVar("Result")


class World:
    """The ranks of a group, what they have told each other, and whose turn it is.

    ``machines`` are the ranks' own, by number: memory of another rank is what its machine holds for the same value.
    """

    def __init__(self, count: int, seed: int = 0):
        self.count = count
        self.machines: list[Any] = []
        self.counters: dict[Hashable, int] = defaultdict(int)
        """What has been signalled, and not waited for."""
        self.transfers: dict[Hashable, list[Any]] = defaultdict(list)
        """Copies between ranks, by the end that nothing has waited for."""
        self._random = np.random.default_rng((seed, count))
        self._condition = threading.Condition()
        self._turn = 0
        self._waiting: dict[int, Callable[[], bool]] = {}
        self._alive = set(range(count))
        self._failed: BaseException | None = None
        self._offers: dict[int, dict[int, Any]] = defaultdict(dict)
        self._offered = [0] * count

    def run(self, programs: Sequence[Callable[[], Result]]) -> list[Result]:
        """Runs a program a rank. Raises what the first that fails raises."""
        results: list[Any] = [None] * self.count
        threads = [
            threading.Thread(target=copy_context().run, args=(self._run, rank, program, results))
            for rank, program in enumerate(programs)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._failed is not None:
            raise self._failed
        if any(self.transfers.values()):
            raise AccessError("nothing waits for an end of a copy between ranks before the program ends", id="race")
        if any(self.counters.values()):
            raise AccessError("nothing waits for a signal between ranks before the program ends", id="race")
        return results

    def wait(self, rank: int, ready: Callable[[], bool] = lambda: True) -> None:
        """Lets other ranks go on, until it is this one's turn again and ``ready`` holds."""
        with self._condition:
            self._waiting[rank] = ready
            self._pass_on()
            self._until_turn(rank)
            del self._waiting[rank]

    def count_down(self, rank: int, key: Hashable, number: int = 1) -> None:
        """Waits until a counter has been raised so often, and lowers it."""
        self.wait(rank, lambda: self.counters[key] >= number)
        self.counters[key] -= number

    def exchange(self, rank: int, offer: Any) -> list[Any]:
        """What every rank offers at the same meeting, in the order of ranks."""
        number = self._offered[rank]
        self._offered[rank] += 1
        self._offers[number][rank] = offer
        self.wait(rank, lambda: len(self._offers[number]) == self.count)
        return [self._offers[number][other] for other in range(self.count)]

    def _run(self, rank: int, program: Callable[[], Any], results: list[Any]) -> None:
        try:
            with self._condition:
                self._until_turn(rank)
            results[rank] = program()
        except BaseException as error:
            self._failed = self._failed or error
        finally:
            with self._condition:
                self._alive.discard(rank)
                self._waiting.pop(rank, None)
                self._pass_on()

    def _until_turn(self, rank: int) -> None:
        while self._turn != rank and self._failed is None:
            self._condition.wait()
        if self._failed is not None:
            raise self._failed

    def _pass_on(self) -> None:
        """Draws the rank that goes on."""
        ready = [rank for rank in sorted(self._alive) if rank not in self._waiting or self._waiting[rank]()]
        if ready:
            self._turn = ready[int(self._random.integers(len(ready)))]
        elif self._alive and self._failed is None:
            ranks = ", ".join(map(str, sorted(self._alive)))
            self._failed = AccessError(
                f"ranks {ranks} wait for each other, or for one that has ended: they would hang", id="race"
            )
        self._condition.notify_all()
