"""Device loops inside others.

The body runs once, with block arguments in place of what it carries; where that shows that a carried Python number
varies, or a dimension must be plain, it runs again with better types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from xdsl.ir import Block, Region, SSAValue

from kopt.dialects import jagged, tile
from kopt.dialects.builder import as_hint
from kopt.dialects.tile import DimAttr, RangeType, TileType
from kopt.errors import UnsupportedError
from kopt.frontend.host_state import Attribute, HostState
from kopt.frontend.loops.device import DeviceLoop, is_computed, undefined
from kopt.frontend.loops.ragged_carries import RaggedCarries
from kopt.frontend.merging import MISSING, Slot, into, join, name_leaves, outof, received, slot_of
from kopt.frontend.open_shapes import extent_ssa
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, Undefined, index_ssa
from kopt.open_extents import OpenExtent, is_open
from kopt.trees import leaves, rebuild, refilled, same_form

#: How often a body is run before its types must have settled.
MAX_RUNS = 6
_ENDED = "it belongs to one visit of a loop that has ended"
_OTHER = "it is of another type before a loop, which may visit nothing"


@dataclass
class Level:
    """One range of a loop that is open."""

    tag: str
    block: Block
    range: SSAValue


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
        self.ragged = RaggedCarries()
        for _ in range(MAX_RUNS):
            self.settled = True
            yield self._open()
            if self.settled:
                return
            tracer.rewind(self.start)
        unsupported(
            "the types of this loop's carried values do not settle",
            "give them their dtype before the loop",
            id="paths-differ",
        )

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
            self.before = {name: names.get(name, undefined(name)) for name in self.names}
            #: Names that have no value before the loop, and why they have none after it where they are not carried.
            self.unassigned = {name: _ENDED for name, value in self.before.items() if isinstance(value, Undefined)}
            self.slots = {name: [slot_of(leaf) for leaf in leaves(v)] for name, v in self.before.items()}
            self.attributes: dict[str, Attribute] = {}
            self.state = HostState(names, self.names)
        current().host_states.append(self.state)
        self.arguments: dict[str, list[SSAValue]] = {name: [] for name in self.names}
        body = self.body
        out = []
        for name, value in self.before.items():
            take = partial(self._argument, iter(self.slots[name]), body, name)
            out.append(rebuild(value, take))
        self.entered = dict(zip(self.before, out, strict=True))
        return self._handed(out)

    def _handed(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Gives attributes their values, and the loop's names theirs."""
        count = len(self.names) - len(self.attributes)
        for attribute, value in zip(self.attributes.values(), values[count:], strict=True):
            attribute.set(value)
        return tuple(values[:count])

    def _argument(self, slots: Iterator[Slot | None], body: Block, name: str, leaf: Any) -> Any:
        slot = next(slots)
        if slot is None:
            return leaf
        argument = body.insert_arg(slot.type, len(body.args))
        argument.name_hint = as_hint(name)
        self.ragged.enter(name, len(self.arguments[name]), leaf, argument)
        self.arguments[name].append(argument)
        return outof(slot, argument)

    def leave(self, names: dict[str, Any]) -> None:
        """Ends the body: yields what it carries, or asks for another run with better types.

        What cannot be carried is an error of the loop, not of the body's last statement.
        """
        try:
            self._leave(names)
        except UnsupportedError as error:
            error.location = self.place or error.location
            raise

    def _leave(self, names: dict[str, Any]) -> None:
        assert self.before is not None
        current().host_states.remove(self.state)
        self.state.check_containers()
        if self._carries_more():
            self.settled = False
            self._discard()
            return
        names = names | {label: attribute.value for label, attribute in self.attributes.items()}
        after = {name: names.get(name, MISSING) for name in self.names}
        better = {name: self._joined(name, after[name]) for name in self.names}
        if better != self.slots:
            self.slots, self.settled = better, False
            self._discard()
            return
        pairs = [
            (slot, leaf)
            for name in self.names
            if any(self.slots[name])
            for slot, leaf in zip(self.slots[name], leaves(after[name]), strict=True)
            if slot is not None
        ]
        yields = [into(slot, leaf) for slot, leaf in pairs]
        if not self._same_lanes(yields):
            self.settled = False
            self._discard()
            return
        self.changed = {name for name, value in self.entered.items() if names.get(name) is value}
        self._close([slot for slot, _ in pairs], yields)

    def _carries_more(self) -> bool:
        """Whether the body changed attributes that are not carried yet; another run carries them too.

        Those that it made are of one visit.
        """
        assert self.before is not None
        found = [each for each in self.state.changed() if each.label not in self.attributes]
        for each in found:
            if each.before is not MISSING:
                self.attributes[each.label] = each
                self.before[each.label] = each.before
                self.slots[each.label] = [slot_of(leaf) for leaf in leaves(each.before)]
                self.names = (*self.names, each.label)
        return any(each.before is not MISSING for each in found)

    def _same_lanes(self, yields: Sequence[SSAValue]) -> bool:
        """Whether the lanes that are valid were told when the body began; if not, another run knows them."""
        arguments = [(name, n, each) for name in self.names for n, each in enumerate(self.arguments[name])]
        known = [self.ragged.leave(*each, value, self._tags()) for each, value in zip(arguments, yields, strict=True)]
        return all(known)

    def _joined(self, name: str, after: Any) -> list[Slot | None]:
        """The slots of one name; a value that the body never looked at may be replaced by one of another type."""
        assert self.before is not None
        if name in self.unassigned:
            return self._joined_undefined(name, after)
        try:
            return self._joined_leaves(name, self.before[name], after)
        except UnsupportedError:
            if any(argument.uses for argument in self.arguments[name]):
                raise
        self.unassigned[name] = _ENDED if self._visits() else _OTHER
        return self._joined_undefined(name, after)

    def _visits(self) -> bool:
        """Whether the loop is known to visit something."""
        return bool(self.spec.walks) and all(walk.extent or is_open(walk.upper) for walk in self.spec.walks)

    def _joined_leaves(self, name: str, before: Any, after: Any) -> list[Slot | None]:
        if after is MISSING or not same_form(before, after):
            unsupported(
                f"'{name}' changes its structure in the loop",
                "carry tuples of one length, without append",
                id="paths-differ",
            )
        out: list[Slot | None] = []
        for slot, old, new in zip(self.slots[name], leaves(before), leaves(after), strict=True):
            reference = old if slot is None else _Typed.of(slot)
            out.append(self._carried(join(name, reference, new)))
        return out

    def _joined_undefined(self, name: str, after: Any) -> list[Slot | None]:
        """The slots of a name that only the body assigns: it is carried where no visit reads what one before left."""
        assert self.before is not None
        why = self.unassigned[name]
        self.before[name] = Undefined(name, why)
        if after is MISSING or name in self.head or why is _OTHER:
            return [None]
        self.before[name] = rebuild(after, lambda _: Undefined(name, why))
        return [None if slot is None or self._escapes(slot) else slot for slot in map(slot_of, leaves(after))]

    def _carried(self, slot: Slot | None) -> Slot | None:
        """A slot without this loop's own ranges, of which the next visit has another block."""
        if slot is None or not self._escapes(slot) or not isinstance(slot.type, TileType):
            return slot
        mine, dims = self._tags(), slot.type.dims.data
        return Slot(slot.type.with_dims([DimAttr(d.size.data) if d.tag.data in mine else d for d in dims]))

    def _escapes(self, slot: Slot) -> bool:
        """Whether a type names this loop's own ranges, which end with it."""
        return not self._tags().isdisjoint(getattr(slot.type, "tags", ()))

    def _tags(self) -> set[str]:
        return {level.tag for level in self.levels}

    def _discard(self) -> None:
        tracer = current()
        self._end()
        for attribute in self.state.changed():
            attribute.set(attribute.before)
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
                after = Undefined(name, self.unassigned[name])
            else:
                name_leaves(after, name)
            out.append(refilled(value, after) if name in self.changed else after)
        for attribute in self.state.changed():
            if attribute.before is MISSING and is_computed(attribute.value):
                attribute.set(Undefined(attribute.label, _ENDED))
        return self._handed(out)


class _Typed:
    """A stand-in for a value of a slot, to join types with."""

    @staticmethod
    def of(slot: Slot) -> Any:
        return outof(slot, Block(arg_types=[slot.type]).args[0])


def _bound(bound: Any) -> SSAValue | int:
    """A number of elements; one that is computed in floats (``torch.ceil(n / 16)``) is cut off."""
    if isinstance(bound, int) and not isinstance(bound, bool):
        return extent_ssa(bound) if isinstance(bound, OpenExtent) else int(bound)
    if isinstance(bound, DeviceTensor) and not bound.rank and bound.dtype.is_floating_point:
        bound = bound.to(torch.int32)
    return index_ssa(bound)
