"""What a user pinned of each grid of a module: by its accesses, loops and axes in place of their names. Pure.

An access is named by its id. A loop or an axis is named by the name of its variable in the source, which is that of its
range, or by its tag. A name may be one of several grids, and holds for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Operation, SSAValue

from kopt.analysis.streaming import written_schedule
from kopt.diagnostics import location_of
from kopt.dialects.tile import Access, ForOp, GridOp
from kopt.dialects.tile.access_ids import access_ids
from kopt.dialects.tile.plan_directive import axes
from kopt.errors import ConfigError
from kopt.ir.ranges import block_tag
from kopt.plans.kinds import KINDS, LOOPS
from kopt.plans.pins import Pin, Pins
from kopt.plans.plan import LoopSchedule
from kopt.plans.renaming import renamed_options
from kopt.registry import did_you_mean
from kopt.walk import walk


@dataclass(frozen=True)
class GridPins:
    """What is pinned of one grid; axes are tags. ``order`` is empty where it is open."""

    accesses: Mapping[Operation, Pin] = field(default_factory=dict)
    loops: Mapping[ForOp, LoopSchedule] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.accesses or self.loops or self.order)


def pins_of_grids(grids: Sequence[GridOp], pins: Pins, family: str) -> list[GridPins]:
    """The pins of each grid. Raises `ConfigError` for names that no grid has, with those that there are; and for kinds
    and schedules of another family of targets."""
    if not pins or not grids:
        return [GridPins() for _ in grids]
    names = [_Names(grid) for grid in grids]
    _check_known("accesses", pins.accesses, [id for name in names for id in name.accesses], grids)
    _check_known("loops", pins.loops, [word for name in names for word in name.words(name.loops)], grids)
    if pins.order is not None and not any({*pins.order} <= {*name.words(name.axes)} for name in names):
        _check_known("order", pins.order, [word for name in names for word in name.words(name.axes)], grids)
        raise ConfigError(
            f"no grid has all axes of the order [{', '.join(pins.order)}]", location_of(grids[0]), id="unknown-key"
        )
    found = [name.pins(pins) for name in names]
    for grid_pins in found:
        _check_family(grid_pins, family)
    return found


def _check_known(key: str, wanted: Iterable[str], known: Sequence[str], grids: Sequence[GridOp]) -> None:
    for name in wanted:
        if name not in known:
            what = {"accesses": "access", "loops": "loop", "order": "axis"}[key]
            there_are = f"there are {', '.join(dict.fromkeys(known))}" if known else "there are none"
            raise ConfigError(
                f"config key '{key}': no {what} is named '{name}'{did_you_mean(name, known)}; {there_are}",
                location_of(grids[0]),
                notes=["these are left where the plan is made: dead accesses and loops of one visit are gone"],
                id="config-value",
            )


def _check_family(pins: GridPins, family: str) -> None:
    for op, pin in pins.accesses.items():
        if family not in KINDS[pin.kind].families:
            there_are = [kind.name for kind in KINDS.values() if family in kind.families]
            message = f"a {family.upper()} has no buffers of kind '{pin.kind}'; it has {', '.join(there_are)}"
            raise ConfigError(message, location_of(op))
    for loop, schedule in pins.loops.items():
        if schedule.kind == "walk" and written_schedule(loop) != "walk":
            message = "a loop of the source is no walk: its schedule may be 'resident'"
            raise ConfigError(message, location_of(loop))
        if family not in LOOPS[schedule.kind].families:
            there_are = [kind.name for kind in LOOPS.values() if family in kind.families]
            message = f"a {family.upper()} has no loops of schedule '{schedule.kind}'; it has {', '.join(there_are)}"
            raise ConfigError(message, location_of(loop))


class _Names:
    """What the names of one grid mean."""

    def __init__(self, grid: GridOp):
        self.grid = grid
        self.accesses = {id: op for op, id in access_ids(grid).items() if isinstance(op, Access)}
        self.axes = axes(grid.body)
        loops = {loop.range: loop for loop in walk(grid, ForOp)}
        self.loops = {tag: loops[range] for tag, range in self.axes.items() if range in loops}

    def words(self, tags: Iterable[str]) -> list[str]:
        """The names by which axes go: that of the source first."""
        return [word for tag in tags for word in dict.fromkeys((self.axes[tag].name_hint, tag)) if word is not None]

    def tag(self, name: str) -> str:
        """The tag of the axis that a name names. Refuses names that several axes have."""
        if name in self.axes:
            return name
        named = [tag for tag, range in self.axes.items() if range.name_hint == name]
        if len(named) == 1:
            return named[0]
        if named:
            message = f"'{name}' names several axes of a grid: {', '.join(named)}; take their tags"
        else:
            message = f"no axis is named '{name}'; there are {', '.join(self.words(self.axes))}"
        raise ConfigError(message, _place(self.axes[named[0]] if named else None, self.grid))

    def _dimension(self, name: str) -> str:
        """The axis, or that of its blocks: where they are no power of two on a GPU, a loop over lanes has its tag."""
        tag = self.tag(name)
        return block if (block := block_tag(tag)) in self.grid.tags else tag

    def pins(self, pins: Pins) -> GridPins:
        """The pins that this grid has the names of."""
        words = {*self.words(self.axes)}
        loops = {self.tag(name): schedule for name, schedule in pins.loops.items() if name in words}
        order = pins.order if pins.order is not None and words.issuperset(pins.order) else ()
        return GridPins(
            {self.accesses[id]: self._pin(pin) for id, pin in pins.accesses.items() if id in self.accesses},
            {self.loops[tag]: schedule for tag, schedule in loops.items() if tag in self.loops},
            tuple(map(self._dimension, order)),
        )

    def _pin(self, pin: Pin) -> Pin:
        axes = None if pin.axes is None else tuple(map(self.tag, pin.axes))
        return replace(pin, axes=axes, options=renamed_options(pin.options, self.tag))


def _place(range: SSAValue | None, grid: GridOp):
    owner = None if range is None else range.owner.parent_op()  # pyright: ignore[reportAttributeAccessIssue]
    return location_of(grid if owner is None else owner)
