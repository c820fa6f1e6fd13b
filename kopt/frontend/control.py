"""Loops while a kernel runs for its import.

A device loop's body runs once, with block arguments in place of what it carries; where that shows that a carried
Python number varies, or a dimension must be plain, it runs again with better types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import torch
from xdsl.ir import Block, Region, SSAValue

from kopt.dialects import jagged, tile
from kopt.dialects.tile import RangeType
from kopt.errors import UnsupportedError
from kopt.frontend.merging import MISSING, Slot, into, join, name_leaves, outof, received, slot_of
from kopt.frontend.state import current, unsupported
from kopt.frontend.tracer import BlockInfo
from kopt.frontend.trees import leaves, rebuild, same_form
from kopt.frontend.values import DeviceTensor, TileRange, Undefined, index_ssa, is_device

#: How often a body is run before its types must have settled.
MAX_RUNS = 6


class HostLoop:
    """A loop that Python runs: over anything but a device loop."""

    device: ClassVar[bool] = False

    def __init__(self, iterable: Any):
        self.iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def jump(self, word: str) -> None:
        """``break`` and ``continue`` are Python's own."""


@dataclass
class Walk:
    """One dimension of a device loop: its bounds, its block, and whether the kernel sees a number or a tile.

    A jagged one has ``lengths`` instead of an upper bound: a tensor with the end of each item.
    """

    lower: Any
    upper: Any
    size: int
    block: BlockInfo | None
    scalar: bool = False
    lengths: DeviceTensor | None = None

    @property
    def extent(self) -> int | None:
        """The number of elements walked, where it is a number."""
        if isinstance(self.lower, int) and isinstance(self.upper, int):
            return max(0, int(self.upper) - int(self.lower))
        return None

    @property
    def end(self) -> int | None:
        """One past the last element, where it is a number."""
        return int(self.upper) if isinstance(self.upper, int) else None


@dataclass
class LoopSpec:
    """What ``hl.tile`` and ``hl.grid`` give: a loop that only a ``for`` statement can run."""

    walks: list[Walk]
    unpack: bool
    names: tuple[str, ...] = ()

    def __iter__(self) -> Any:
        unsupported("hl.tile and hl.grid are run by a for statement", "write: for tile in hl.tile(…):")


@dataclass
class Level:
    """One range of a loop that is open."""

    tag: str
    block: Block
    range: SSAValue


@dataclass
class DeviceLoop:
    """Base of grids and loops in the device: binds ranges, runs the body."""

    spec: LoopSpec
    names: tuple[str, ...]
    head: tuple[str, ...]
    hints: tuple[str, ...]
    device: ClassVar[bool] = True
    tags: list[str] = field(default_factory=list)

    def jump(self, word: str) -> None:
        """Leaving a device loop early is refused."""
        unsupported(f"'{word}' in a device loop is not supported", "compute a mask and use torch.where")

    def _bind(self, walk: Walk, range: SSAValue, tag: str, number: int) -> Any:
        """Opens a range's scope; what the kernel's loop variable is."""
        tracer = current()
        tracer.bind(tag, range, walk.block, walk.extent, walk.end, walk.lengths is not None)
        self.tags.append(tag)
        if walk.block is not None and tag not in walk.block.tags:
            walk.block.tags.append(tag)
        if number < len(self.hints) and self.hints[number] != "_":
            range.name_hint = self.hints[number]
        value = TileRange(range, tag, walk.block)
        return value.begin if walk.scalar else value

    def _unbind(self) -> None:
        for tag in self.tags:
            current().unbind(tag)
        self.tags.clear()

    def _variable(self, values: list[Any]) -> Any:
        return values[0] if self.spec.unpack else tuple(values)


class GridLoop(DeviceLoop):
    """A device loop of the host: one launch."""

    def __iter__(self) -> Iterator[Any]:
        tracer = current()
        bounds = [(_static(w.lower), _static(w.upper)) for w in self.spec.walks]
        tags = [tracer.new_tag() for _ in bounds]
        types = [RangeType(tag, walk.size) for tag, walk in zip(tags, self.spec.walks, strict=True)]
        op = tile.GridOp([hi for _, hi in bounds], types, [lo for lo, _ in bounds])
        op.location = tracer.location()
        block = op.body.block
        if block.last_op is not None:
            block.last_op.detach()
        tracer.block, tracer.depth = block, tracer.depth + 1
        values = [
            self._bind(walk, range, tag, number)
            for number, (walk, range, tag) in enumerate(zip(self.spec.walks, block.args, tags, strict=True))
        ]
        yield self._variable(values)
        tracer.append(tile.YieldOp())
        tracer.block, tracer.depth = tracer.body, tracer.depth - 1
        self._unbind()
        tracer.body.add_op(op)
        tracer.host.end_launch(op)

    def enter(self, names: dict[str, Any]) -> tuple[Any, ...]:
        """Values of the host that the body may read before it assigns them."""
        self.before = {name: names.get(name, _undefined(name)) for name in self.names}
        return tuple(self.before.values())

    def leave(self, names: dict[str, Any]) -> None:
        """A grid carries nothing from cell to cell."""
        self.after = {name: names.get(name, _undefined(name)) for name in self.names}
        for name in self.head:
            if any(map(is_device, leaves(self.after[name]))) and not isinstance(self.before[name], Undefined):
                if name.startswith("__kopt_stopped"):
                    self.jump("break")
                unsupported(
                    f"'{name}' is carried from one visit of the outermost loop to the next",
                    "cells of the grid run in no order: loop inside the tile, or use hl.atomic_add",
                )

    def results(self) -> tuple[Any, ...]:
        """Host values; what the device computed does not leave the launch."""
        return tuple(
            Undefined(name, "it was computed in a device loop: store it in a tensor")
            if any(map(is_device, leaves(value)))
            else value
            for name, value in self.after.items()
        )


def _static(bound: Any) -> int:
    if isinstance(bound, int) and not isinstance(bound, bool):
        return int(bound)
    if isinstance(bound, torch.Tensor):
        return int(current().host.value_of(bound, lambda data: data.item()))
    unsupported("the outermost loop needs bounds that are known on the host")


def _undefined(name: str) -> Undefined:
    return Undefined(name, "it is not assigned before this loop")


class InnerLoop(DeviceLoop):
    """A device loop inside another: sequential, carrying values. Several dimensions are nested loops."""

    def __iter__(self) -> Iterator[Any]:
        tracer = current()
        self.location = tracer.location()
        self.parent, self.start = tracer.block, tracer.mark()
        self.bounds = [
            (_bound(w.lower), _bound(w.upper)) if w.lengths is None else w.lengths.ssa for w in self.spec.walks
        ]
        self.slots: dict[str, list[Slot | None]] = {}
        self.before: dict[str, Any] | None = None
        for _ in range(MAX_RUNS):
            self.settled = True
            yield self._open()
            if self.settled:
                return
            tracer.rewind(self.start)
        unsupported("the types of this loop's carried values do not settle", "give them their dtype before the loop")

    def _open(self) -> Any:
        tracer = current()
        tracer.depth += 1
        self.levels: list[Level] = []
        values = []
        for number, walk in enumerate(self.spec.walks):
            tag = tracer.new_tag()
            block = Block(arg_types=[RangeType(tag, walk.size)])
            self.levels.append(Level(tag, block, block.args[0]))
            tracer.block = block
            values.append((walk, block.args[0], tag, number))
        return self._variable([self._bind(*value) for value in values])

    @property
    def body(self) -> Block:
        """The block that is run."""
        return self.levels[-1].block

    def enter(self, names: dict[str, Any]) -> tuple[Any, ...]:
        """Block arguments in place of the carried values."""
        if self.before is None:
            self.before = {name: names.get(name, _undefined(name)) for name in self.names}
            self.slots = {name: [slot_of(leaf) for leaf in leaves(v)] for name, v in self.before.items()}
        self.lists = [(n, v, len(v)) for n, v in names.items() if isinstance(v, list) and n not in self.names]
        self.arguments: dict[str, list[SSAValue]] = {name: [] for name in self.names}
        body = self.body
        out = []
        for name, value in self.before.items():
            take = partial(self._argument, iter(self.slots[name]), body, name)
            out.append(rebuild(value, take))
        return tuple(out)

    def _argument(self, slots: Iterator[Slot | None], body: Block, name: str, leaf: Any) -> Any:
        slot = next(slots)
        if slot is None:
            return leaf
        argument = body.insert_arg(slot.type, len(body.args))
        argument.name_hint = name
        self.arguments[name].append(argument)
        return outof(slot, argument)

    def leave(self, names: dict[str, Any]) -> None:
        """Ends the body: yields what it carries, or asks for another run with better types."""
        assert self.before is not None
        for name, value, length in self.lists:
            if len(value) != length:
                unsupported(
                    f"'{name}' grows in a device loop: append and its kin run once, not on each visit",
                    f"carry a tensor or a tuple of one length, or use hl.static_range: {name} = {name} + […]",
                )
        after = {name: names.get(name, MISSING) for name in self.names}
        better = {name: self._joined(name, after[name]) for name in self.names}
        if better != self.slots:
            self.slots, self.settled = better, False
            self._discard()
            return
        pairs = [
            (slot, leaf)
            for name in self.names
            for slot, leaf in zip(self.slots[name], leaves(after[name]), strict=True)
            if slot is not None
        ]
        yields = [into(slot, leaf) for slot, leaf in pairs]
        self._close([slot for slot, _ in pairs], yields)

    def _joined(self, name: str, after: Any) -> list[Slot | None]:
        """The slots of one name; a value that the body never looked at may be replaced by one of another type."""
        assert self.before is not None
        if isinstance(self.before[name], Undefined):
            return self._joined_undefined(name, after)
        try:
            return self._joined_leaves(name, self.before[name], after)
        except UnsupportedError:
            if any(argument.uses for argument in self.arguments[name]):
                raise
        self.before[name] = Undefined(name, "it belongs to one visit of a loop that has ended")
        return self._joined_undefined(name, after)

    def _joined_leaves(self, name: str, before: Any, after: Any) -> list[Slot | None]:
        if after is MISSING or not same_form(before, after):
            unsupported(f"'{name}' changes its structure in the loop", "carry tuples of one length, without append")
        out: list[Slot | None] = []
        for slot, old, new in zip(self.slots[name], leaves(before), leaves(after), strict=True):
            reference = old if slot is None else _Typed.of(slot)
            out.append(join(name, reference, new))
        return out

    def _joined_undefined(self, name: str, after: Any) -> list[Slot | None]:
        """A name that only the body assigns: carried when it is one device value."""
        found = list(leaves(after))
        if len(found) != 1 or isinstance(after, list | tuple | dict) or name in self.head:
            return [None]
        slot = slot_of(after)
        if slot is not None and self._escapes(slot):
            return [None]
        return [slot]

    def _escapes(self, slot: Slot) -> bool:
        """Whether a type names this loop's own ranges, which end with it."""
        mine = {level.tag for level in self.levels}
        return any(tag in mine for tag in getattr(slot.type, "tags", ()))

    def _discard(self) -> None:
        tracer = current()
        self._end()
        region = Region(self.body)
        region.drop_all_references()
        tracer.block = self.parent

    def _end(self) -> None:
        self._unbind()
        current().depth -= 1

    def _close(self, slots: Sequence[Slot], yields: Sequence[SSAValue]) -> None:
        """Makes the loop ops from the inside out."""
        tracer = current()
        tracer.append(tile.YieldOp(*yields))
        types = [slot.type for slot in slots]
        for outer in self.levels[:-1]:
            for type in types:
                outer.block.insert_arg(type, len(outer.block.args))
        results: Sequence[SSAValue] = ()
        for number in reversed(range(len(self.levels))):
            tracer.block = self.levels[number - 1].block if number else self.parent
            inits = tracer.block.args[1:] if number else self._inits()
            bounds, body = self.bounds[number], Region(self.levels[number].block)
            if isinstance(bounds, SSAValue):
                loop = jagged.ForOp(bounds, list(inits), body)
            else:
                loop = tile.ForOp(*bounds, list(inits), body)
            tracer.append(loop, self.location)
            results = loop.results
            if number:
                tracer.append(tile.YieldOp(*results))
        self._end()
        self.values = results

    def _inits(self) -> list[SSAValue]:
        assert self.before is not None
        return [
            into(slot, leaf)
            for name, value in self.before.items()
            for slot, leaf in zip(self.slots[name], leaves(value), strict=True)
            if slot is not None
        ]

    def results(self) -> tuple[Any, ...]:
        """The carried values after the loop."""
        assert self.before is not None
        values = iter(self.values)
        out = []
        for name, value in self.before.items():
            slots = iter(self.slots[name])
            after = rebuild(value, lambda leaf, slots=slots: received(leaf, next(slots), values))
            if isinstance(after, Undefined):
                after = Undefined(name, "it belongs to one visit of a loop that has ended")
            else:
                name_leaves(after, name)
            out.append(after)
        return tuple(out)


class _Typed:
    """A stand-in for a value of a slot, to join types with."""

    @staticmethod
    def of(slot: Slot) -> Any:
        return outof(slot, Block(arg_types=[slot.type]).args[0])


def _bound(bound: Any) -> SSAValue | int:
    if isinstance(bound, int) and not isinstance(bound, bool):
        return int(bound)
    return index_ssa(bound)


def make_loop(iterable: Any, names: tuple[str, ...], head: tuple[str, ...], hints: tuple[str, ...]) -> Any:
    """What runs a ``for`` statement over ``iterable``."""
    if not isinstance(iterable, LoopSpec):
        return HostLoop(iterable)
    kind = InnerLoop if current().on_device else GridLoop
    return kind(iterable, names, head, hints)
