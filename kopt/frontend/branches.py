"""Branches while a kernel runs for its import: both arms of an ``if`` on a device value are recorded."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects import scf
from xdsl.ir import Block, Region, SSAValue

from kopt.frontend.host_state import HostState
from kopt.frontend.merging import MISSING, Slot, into, join, name_leaves, received
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import Undefined, condition_ssa, is_device
from kopt.trees import leaves, rebuild, same_form


class HostBranch:
    """An ``if`` whose condition Python knows."""

    device: ClassVar[bool] = False

    def __init__(self, then: bool):
        self.then, self.otherwise = then, not then


class DeviceBranch:
    """An ``if`` on a device value: both arms are recorded, and the names they assign become one value each."""

    device: ClassVar[bool] = True
    then = otherwise = True

    def __init__(self, test: Any, assigned: tuple[str, ...], merged: tuple[str, ...]):
        self.assigned, self.merged = assigned, merged
        self.location = current().location()
        self.condition = condition_ssa(test)

    def enter(self, names: dict[str, Any]) -> None:
        """Opens the first arm."""
        tracer = current()
        self.parent = tracer.block
        self.before = {name: _fresh(names.get(name, MISSING)) for name in self.assigned}
        self.state = HostState(names, self.assigned, "under a device condition")
        tracer.host_states.append(self.state)
        self.blocks = (Block(), Block())
        tracer.block = self.blocks[0]

    def switch(self, names: dict[str, Any]) -> tuple[Any, ...]:
        """Closes the first arm, opens the second with the names as they were."""
        self.state.check_containers()
        self.attributes = {each.label: each for each in self.state.changed()}
        values = names | {label: each.value for label, each in self.attributes.items()}
        self.first = {name: values.get(name, MISSING) for name in (*self.merged, *self.attributes)}
        for attribute in self.attributes.values():
            attribute.set(attribute.before)
        current().block = self.blocks[1]
        return tuple(
            Undefined(name, "one arm of the branch does not assign it") if value is MISSING else _fresh(value)
            for name, value in self.before.items()
        )

    def merge(self, names: dict[str, Any]) -> tuple[Any, ...]:
        """Closes the second arm and makes the ``scf.if``."""
        tracer = current()
        tracer.host_states.remove(self.state)
        self.state.check_containers()
        for each in self.state.changed():
            if each.label not in self.attributes:
                self.attributes[each.label], self.first[each.label] = each, each.before
        values = names | {label: each.value for label, each in self.attributes.items()}
        second = {name: values.get(name, MISSING) for name in self.first}
        plans = {name: self._plan(name, self.first[name], second[name]) for name in self.first}
        types = [slot.type for _, slots in plans.values() for slot in slots if slot is not None]
        for block, side in zip(self.blocks, (self.first, second), strict=True):
            tracer.block = block
            tracer.append(scf.YieldOp(*self._yields(plans, side)), self.location)
        tracer.block = self.parent
        op = scf.IfOp(self.condition, types, Region(self.blocks[0]), Region(self.blocks[1]))
        tracer.append(op, self.location)
        values = iter(op.results)
        out = []
        for name, (value, slots) in plans.items():
            queue = iter(slots)
            out.append(rebuild(value, lambda leaf, queue=queue: received(leaf, next(queue), values)))
            name_leaves(out[-1], name)
        for attribute, value in zip(self.attributes.values(), out[len(self.merged) :], strict=True):
            attribute.set(value)
        return tuple(out[: len(self.merged)])

    def _plan(self, name: str, a: Any, b: Any) -> tuple[Any, list[Slot | None]]:
        """A value to rebuild and the slot of each of its leaves."""
        missing = MISSING in (a, b) if not is_device(a) and not is_device(b) else a is MISSING or b is MISSING
        if missing or isinstance(a, Undefined) or isinstance(b, Undefined):
            return Undefined(name, "one arm of the branch does not assign it"), [None]
        if not same_form(a, b):
            unsupported(f"'{name}' has another structure in each arm of the branch", id="paths-differ")
        return a, [join(name, x, y) for x, y in zip(leaves(a), leaves(b), strict=True)]

    def _yields(self, plans: dict[str, tuple[Any, list[Slot | None]]], side: dict[str, Any]) -> list[SSAValue]:
        return [
            into(slot, leaf)
            for name, (value, slots) in plans.items()
            if not isinstance(value, Undefined)
            for slot, leaf in zip(slots, leaves(side[name]), strict=True)
            if slot is not None
        ]


def _fresh(value: Any) -> Any:
    """A copy of containers, so that the second arm does not see what the first did to them."""
    return rebuild(value, lambda leaf: leaf) if isinstance(value, list | dict) else value
