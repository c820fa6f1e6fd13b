"""Device loops of the host: one launch each, whose cells run in no order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from kopt.dialects import tile
from kopt.dialects.tile import RangeType
from kopt.frontend.loops.device import DeviceLoop, undefined
from kopt.frontend.open_shapes import extent_ssa
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import Undefined, is_device
from kopt.open_extents import OpenExtent
from kopt.trees import leaves


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
        return tuple(self.before.values())

    def leave(self, names: dict[str, Any]) -> None:
        """A grid carries nothing from cell to cell: no device values, nor numbers that Python counts."""
        self.after = {name: names.get(name, undefined(name)) for name in self.names}
        for name in self.head:
            before, after = self.before[name], self.after[name]
            if isinstance(before, Undefined):
                continue
            computed = any(map(is_device, leaves(after)))
            if computed and name.startswith("__kopt_stopped"):
                self.jump("break")
            if (computed or _counts(before, after)) and not self._is_one_cell():
                unsupported(
                    f"'{name}' is carried from one visit of the outermost loop to the next",
                    "cells of the grid run in no order: loop inside the tile, or use hl.atomic_add",
                    id="loop-carried",
                )

    def _is_one_cell(self) -> bool:
        """Whether there is at most one element to walk in each dimension."""
        bounds = [(walk.lower, walk.upper) for walk in self.spec.walks]
        return all(isinstance(low, int) and isinstance(high, int) and high - low <= 1 for low, high in bounds)

    def results(self) -> tuple[Any, ...]:
        """Host values; what the device computed does not leave the launch."""
        return tuple(
            Undefined(name, "it was computed in a device loop: store it in a tensor")
            if any(map(is_device, leaves(value)))
            else value
            for name, value in self.after.items()
        )


def _counts(before: Any, after: Any) -> bool:
    """Whether a number of Python's is another one after a cell."""
    return isinstance(before, int | float) and isinstance(after, int | float) and before != after


def _static(bound: Any) -> Any:
    if isinstance(bound, OpenExtent):
        return extent_ssa(bound)
    if isinstance(bound, int) and not isinstance(bound, bool):
        return int(bound)
    if isinstance(bound, torch.Tensor):
        return int(current().host.value_of(bound, lambda data: data.item()))
    unsupported("the outermost loop needs bounds that are known on the host", id="not-known-at-import")
