"""The pass ``plan-values``: how what is at computed places is reached, written into the IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from kopt.analysis.pinned import pins_of_grids
from kopt.analysis.plans import set_plan
from kopt.analysis.store_to_load import seen_writes
from kopt.analysis.values.gathers import Choice, best_choice, choices, of_kind
from kopt.analysis.values.update_kinds import best_kinds, choice_remarks
from kopt.analysis.values.value_plan import value_plan
from kopt.diagnostics import location_of, remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access, GridOp, LoadOp
from kopt.dialects.tile.access_ids import access_ids
from kopt.errors import ConfigError, LoweringError
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.sums import SumAnalysis
from kopt.plans.kinds import VALUES
from kopt.plans.pins import Pin, Pins, read_options
from kopt.targets.chips import TPU_CHIPS, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class PlanValuesPass(ModulePass):
    """Plans gathers and scatters: how accesses at computed places, and rows of arrays in HBM, reach their arrays.

    The decision is text: the grid has a plan with a buffer for each such access. `realise-values` obeys it, edited by
    hand as well. The kinds, and which of them an access may have, are in `kopt.analysis.values`. What is picked
    ``from`` the block of another access names the buffer of that; it is a ``window`` until `plan-accesses` says how it
    comes. Ordinary blocks are left to `plan-accesses`. Updates get the kind that is estimated to take the fewest
    cycles, as a remark says. Updates of an array that half of VMEM does not hold stay in HBM.

        %n = tile.load %ids[%i]     %v = tile.load %x[%n, :] : memref<300x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    becomes
        tile.grid (%i: b0=16) in (40) plan {order [i] parallel [i] @x = %x one_hot} {
          %n = tile.load %ids[%i]     %v = tile.load %x[%n, :] via @x … }

    ``accesses`` are pins, by ids of accesses: ``plan-values{accesses="x = rows"}``. What is pinned to be of a kind that
    `plan-accesses` decides is left to it. ``prefer`` names kinds: an access that may have one of them gets it.

    Refuses, with the access's place, gathers from an array that the same launch may have written by then: by stores,
    by updates, or by copies from other ranks. A plan that the IR has already is kept.
    """

    name = "plan-values"

    chip: str = chip_option(TPU_CHIPS, "tpu7x")
    accesses: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.pins  # noqa: B018  # words that there are not are refused where the option stands
        if unknown := [kind for kind in self.prefer if kind not in VALUES]:
            raise ConfigError(f"'{unknown[0]}' is no kind of what is at computed places; there are {', '.join(VALUES)}")

    @property
    def pins(self) -> Pins:
        """What is decided beforehand."""
        return read_options(self.accesses, (), ())

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        open_ones = [launch for launch in walk(op, LaunchOp) if all(grid.plan is None for grid in walk(launch, GridOp))]
        pairs = [(launch, grid) for launch in open_ones for grid in walk(launch, GridOp)]
        wanted = {id: pin for id, pin in self.pins.accesses.items() if pin.kind in VALUES}
        pinned = pins_of_grids([grid for _, grid in pairs], Pins(wanted), "tpu")
        for launch in open_ones:
            own = [pins.accesses for (other, _), pins in zip(pairs, pinned, strict=True) if other is launch]
            self._plan(launch, {op: pin for pins in own for op, pin in pins.items()})

    def _plan(self, launch: LaunchOp, pins: Mapping[Operation, Pin]) -> None:
        chosen: dict[Operation, Choice] = {**self._loads(launch, pins), **self._updates(launch, pins)}
        for grid in walk(launch, GridOp):
            inside: dict[Operation, Choice] = {op: chosen[op] for op in walk(grid, Access) if op in chosen}
            if inside:
                set_plan(grid, replace(value_plan(grid, inside, pins), own=not {*pins} & {*inside}))

    def _loads(self, launch: LaunchOp, pins: Mapping[Operation, Pin]) -> dict[Operation, Choice]:
        """What loads are given that are no ordinary blocks, or are pinned to be none."""
        left = {id for id, pin in self.pins.accesses.items() if pin.kind not in VALUES}
        blocks = {op for grid in walk(launch, GridOp) for op, id in access_ids(grid).items() if id in left}
        chip, sums = TPU_CHIPS[self.chip], SumAnalysis()
        found: dict[Operation, Choice] = {}
        for load in walk(launch, LoadOp):
            if (pin := pins.get(load)) is not None:
                found[load] = of_kind([pin.kind], choices(load, launch, chip, sums)) or Choice(pin.kind)
            elif load.gathers or load not in blocks:
                choice = best_choice(load, launch, chip, sums, self.prefer)
                if choice is not None:
                    found[load] = choice
                elif load.gathers:
                    _refuse(load)
        return found

    def _updates(self, launch: LaunchOp, pins: Mapping[Operation, Pin]) -> dict[Operation, Choice]:
        """What stores and updates are given that are no ordinary blocks, or are pinned to be none."""
        chip, pinned = TPU_CHIPS[self.chip], {op: pin.kind for op, pin in pins.items()}
        found: dict[Operation, Choice] = {}
        for number in launch.written:
            memory = launch.body.block.args[number]
            accesses = [op for op in walk(launch, Access) if op.memory is memory]
            kinds = best_kinds(accesses, launch, chip, self.prefer, pinned)
            found |= {op: Choice(kind) for op, kind in kinds.items()}
            for at, text in choice_remarks(kinds, chip):
                remark(at, text)
        return found


def _refuse(load: LoadOp) -> NoReturn:
    writes = seen_writes(load, IndexAnalysis())
    places = dict.fromkeys(str(place) for write in writes if (place := location_of(write)) is not None)
    raise LoweringError(
        "an array is read by computed numbers after the same loop writes it",
        location_of(load),
        notes=[
            *(f"it is written at {place}" for place in places),
            "what is gathered comes from the array as it is before the loop",
            "read it by hl.arange, a tile or a slice, or write it in a loop or kernel before",
        ],
        id="aliasing",
    )
