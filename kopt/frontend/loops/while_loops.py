"""The ``while`` statement: Python's as long as its condition is known, the device's from where it is not.

Python evaluates the condition at the head of each visit. The first condition that only the device knows opens the loop;
evaluated once more after the body was run, it is the condition of the next visit.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Block, Region, SSAValue

from kopt.dialects import tile
from kopt.frontend.loops.device import LoopSpec
from kopt.frontend.loops.inner import MAX_RUNS, InnerLoop
from kopt.frontend.loops.ragged_carries import RaggedCarries
from kopt.frontend.merging import Slot
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceValue, condition_ssa


class WhileLoop:
    """What runs a ``while`` statement."""

    def __init__(self, names: tuple[str, ...], head: tuple[str, ...]):
        self.names, self.head = names, head
        self.loop: DeviceWhile | None = None

    @property
    def device(self) -> bool:
        """Whether the loop is the device's by now."""
        return self.loop is not None

    def test(self, condition: Any, names: dict[str, Any]) -> bool:
        """Whether Python runs the body (once more)."""
        if self.loop is not None:
            return self.loop.again(condition, names)
        if not isinstance(condition, DeviceValue):
            return bool(condition)
        self.loop = DeviceWhile(LoopSpec([], False), self.names, self.head, ())
        self.loop.open(condition)
        return True

    def enter(self, names: dict[str, Any]) -> tuple[Any, ...]:
        """Block arguments in place of the carried values."""
        assert self.loop is not None
        return self.loop.enter(names)

    def results(self) -> tuple[Any, ...]:
        """The carried values after the loop."""
        assert self.loop is not None
        return self.loop.results()

    def jump(self, word: str) -> None:
        """A device loop is left by its condition only; ``continue`` goes to its head, as Python does."""
        if self.loop is not None and word != "continue":
            self.loop.jump(word)


class DeviceWhile(InnerLoop):
    """A loop of the device as long as a condition holds."""

    def open(self, condition: Any) -> None:
        """Starts to record the body, after the condition of the first visit."""
        tracer = current()
        self.location = tracer.location()
        self.condition = condition_ssa(condition)
        self.parent, self.start = tracer.block, tracer.mark()
        self.slots, self.before, self.runs = {}, None, 0
        self.ragged = RaggedCarries()
        self._record()

    def _record(self) -> None:
        tracer = current()
        tracer.depth += 1
        self.levels, self.settled, self.runs = [], True, self.runs + 1
        self.block = tracer.block = Block()

    @property
    def body(self) -> Block:
        """The block that is run."""
        return self.block

    def again(self, condition: Any, names: dict[str, Any]) -> bool:
        """Ends a run of the body; whether types of carried values ask for another."""
        self.more = condition_ssa(condition)
        self.leave(names)
        if self.settled:
            return False
        if self.runs == MAX_RUNS:
            unsupported(
                "the types of this loop's carried values do not settle",
                "give them their dtype before it",
                id="paths-differ",
            )
        current().rewind(self.start)
        self._record()
        return True

    def _close(self, slots: list[Slot], yields: list[SSAValue]) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        tracer = current()
        tracer.append(tile.YieldOp(self.more, *yields))
        tracer.block = self.parent
        loop = tile.WhileOp(self.condition, self._inits(), Region(self.block))
        tracer.append(loop, self.location)
        self._end()
        self.values = loop.results
