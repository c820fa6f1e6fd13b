"""Device loops of the host: one launch each, whose cells run in no order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from kopt.dialects import tile
from kopt.dialects.tile import RangeType
from kopt.frontend.host_state import HostState, counts
from kopt.frontend.loops.device import DeviceLoop, is_computed, undefined
from kopt.frontend.open_shapes import extent_ssa
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import Undefined
from kopt.open_extents import OpenExtent, is_open

_ENDED = "it was computed in a device loop: store it in a tensor"


class GridLoop(DeviceLoop):
    """A device loop of the host: one launch."""

    def __iter__(self) -> Iterator[Any]:
        tracer = current()
        bounds = [(_static(w.lower), _static(w.upper)) for w in self.spec.walks]
        tags = [tracer.new_tag() for _ in bounds]
        types = [RangeType(tag, walk.size) for tag, walk in zip(tags, self.spec.walks, strict=True)]
        op = tile.GridOp([hi for _, hi in bounds], types, [lo for lo, _ in bounds])
        with tracer.builder.filling_grid(op) as ranges:
            tracer.depth += 1
            values = [
                self._bind(walk, range, tag, number)
                for number, (walk, range, tag) in enumerate(zip(self.spec.walks, ranges, tags, strict=True))
            ]
            yield self._variable(values)
            tracer.depth -= 1
            self._unbind()
        tracer.host.end_launch(op)

    def enter(self, names: dict[str, Any]) -> tuple[Any, ...]:
        """Values of the host that the body may read before it assigns them."""
        self.before = {name: names.get(name, undefined(name)) for name in self.names}
        self.state = HostState(names)
        current().launch_states.append(self.state)
        if not self._is_one_cell():
            current().host_states.append(self.state)
        return tuple(self.before.values())

    def leave(self, names: dict[str, Any]) -> None:
        """A grid carries nothing from cell to cell: no device values, nor numbers that Python counts."""
        self.after = {name: names.get(name, undefined(name)) for name in self.names}
        for name in self.head:
            before, after = self.before[name], self.after[name]
            if isinstance(before, Undefined):
                continue
            computed = is_computed(after)
            if computed and name.startswith("__kopt_stopped"):
                self.jump("break")
            if (computed or counts(before, after)) and not self._is_one_cell():
                unsupported(
                    f"'{name}' is carried from one visit of the outermost loop to the next",
                    "cells of the grid run in no order: loop inside the tile, or use hl.atomic_add",
                    id="loop-carried",
                )
        self._leave_objects()

    def _leave_objects(self) -> None:
        """Objects keep what Python knows of a single cell; what the device computed ends with the launch."""
        if not self._is_one_cell():
            current().host_states.remove(self.state)
            self.state.check_counts()
        for each in self.state.changed():
            if is_computed(each.value):
                each.set(Undefined(each.label, _ENDED))

    def _is_one_cell(self) -> bool:
        """Whether there is at most one element to walk in each dimension."""
        bounds = [(walk.lower, walk.upper) for walk in self.spec.walks]
        known = all(isinstance(bound, int) and not is_open(bound) for pair in bounds for bound in pair)
        return known and all(high - low <= 1 for low, high in bounds)

    def results(self) -> tuple[Any, ...]:
        """Host values; what the device computed does not leave the launch."""
        return tuple(Undefined(name, _ENDED) if is_computed(value) else value for name, value in self.after.items())


def _static(bound: Any) -> Any:
    if isinstance(bound, OpenExtent):
        return extent_ssa(bound)
    if isinstance(bound, int) and not isinstance(bound, bool):
        return int(bound)
    if isinstance(bound, torch.Tensor):
        return int(current().host.value_of(bound, lambda data: data.item()))
    unsupported("the outermost loop needs bounds that are known on the host", id="not-known-at-import")
