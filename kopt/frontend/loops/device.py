"""What device loops go over, and what all kinds of them share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from xdsl.ir import SSAValue

from kopt.dialects.builder import as_hint
from kopt.errors import Location
from kopt.frontend.open_shapes import limit_of
from kopt.frontend.source import user_place
from kopt.frontend.state import current, unsupported
from kopt.frontend.tracer import BlockInfo
from kopt.frontend.values import DeviceTensor, TileRange, Undefined, is_device
from kopt.open_extents import is_open
from kopt.trees import leaves


@dataclass
class LoopDim:
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
        if not is_open(self.upper) and isinstance(self.lower, int) and isinstance(self.upper, int):
            return max(0, int(self.upper) - int(self.lower))
        return None

    @property
    def end(self) -> int | None:
        """One past the last element, where it is a number."""
        return int(self.upper) if isinstance(self.upper, int) and not is_open(self.upper) else None


@dataclass
class LoopSpec:
    """What ``hl.tile`` and ``hl.grid`` give: a loop that only a ``for`` statement can run."""

    walks: list[LoopDim]
    unpack: bool
    names: tuple[str, ...] = ()

    def __iter__(self) -> Any:
        unsupported("hl.tile and hl.grid are run by a for statement", "write: for tile in hl.tile(…):", id="jump")


@dataclass
class DeviceLoop:
    """Base of grids and loops in the device: binds ranges, runs the body. Its ``place`` is what is iterated over."""

    spec: LoopSpec
    names: tuple[str, ...]
    head: tuple[str, ...]
    hints: tuple[str, ...]
    device: ClassVar[bool] = True
    tags: list[str] = field(default_factory=list)
    place: Location | None = field(default_factory=user_place)

    def jump(self, word: str) -> None:
        """Leaving a device loop early is refused."""
        unsupported(f"'{word}' in a device loop is not supported", "compute a mask and use torch.where", id="jump")

    def _bind(self, walk: LoopDim, range: SSAValue, tag: str, number: int) -> Any:
        """Opens a range's scope; what the kernel's loop variable is."""
        tracer = current()
        tracer.bind(tag, range, walk.block, walk.extent, walk.end, walk.lengths is not None)
        if (limit := limit_of(walk.upper)) is not None:
            tracer.open_limits[range] = limit
        self.tags.append(tag)
        if walk.block is not None and tag not in walk.block.tags:
            walk.block.tags.append(tag)
        if number < len(self.hints) and self.hints[number] != "_":
            range.name_hint = as_hint(self.hints[number])
        value = TileRange(range, tag, walk.block)
        return value.begin if walk.scalar else value

    def _unbind(self) -> None:
        for tag in self.tags:
            current().unbind(tag)
        self.tags.clear()

    def _variable(self, values: list[Any]) -> Any:
        return values[0] if self.spec.unpack else tuple(values)


def is_computed(value: Any) -> bool:
    """Whether some leaf of a value is the device's."""
    return any(map(is_device, leaves(value)))


def undefined(name: str) -> Undefined:
    """What a name stands for that the kernel has not assigned."""
    return Undefined(name, "it is not assigned before this loop")
