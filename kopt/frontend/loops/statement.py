"""What runs a ``for`` statement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from kopt.frontend.host_state import check_advanced
from kopt.frontend.loops.device import LoopSpec
from kopt.frontend.loops.grid import GridLoop
from kopt.frontend.loops.inner import InnerLoop
from kopt.frontend.state import current


class HostLoop:
    """A loop that Python runs: over anything but a device loop."""

    device: ClassVar[bool] = False

    def __init__(self, iterable: Any):
        self.iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def jump(self, word: str) -> None:
        """``break`` and ``continue`` are Python's own."""


def make_loop(iterable: Any, names: tuple[str, ...], head: tuple[str, ...], hints: tuple[str, ...]) -> Any:
    """What runs a ``for`` statement over ``iterable``."""
    if not isinstance(iterable, LoopSpec):
        check_advanced(iterable)
        return HostLoop(iterable)
    kind = InnerLoop if current().on_device else GridLoop
    return kind(iterable, names, head, hints)
