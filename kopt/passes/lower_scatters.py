"""The pass ``lower-scatters``: updates of computed rows become products, reductions or loops that a TPU has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.diagnostics import remark
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access, FullOp, GridOp, StoreOp
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.counted import counts, store_counted
from kopt.passes.mosaic.building import type_of
from kopt.passes.retyping import bound_tags
from kopt.passes.scatters.access import (
    UpdateOp,
    as_blocks,
    gathered,
    is_by_element,
    previous_of,
    values_of,
    with_numbers,
)
from kopt.passes.scatters.alike import alike
from kopt.passes.scatters.blocks import update_block
from kopt.passes.scatters.building import Builder
from kopt.passes.scatters.checks import checked_extents, refuse_others
from kopt.passes.scatters.cost import Sizes, candidates, fits
from kopt.passes.scatters.far import update_far_blocks
from kopt.passes.scatters.formulations import Formulation
from kopt.passes.scatters.movable import make_movable
from kopt.passes.scatters.order import run_in_order
from kopt.passes.scatters.target import Target
from kopt.passes.scatters.update import Update, erase, plain_update
from kopt.targets.chips import TPU_CHIPS, TpuChip
from kopt.walk import walk

Strategy = Literal["auto", "one-hot", "rows", "dma"]


@dataclass(frozen=True)
class LowerScattersPass(ModulePass):
    """Rewrites each store and atomic update with a tile among its indices into one that Mosaic can do.

    * an index that is a range's own lane numbers is the range: an ordinary block; where all stores of an array count
      lanes from scalars on, along one dimension or several that count together, each is one of a block that begins
      there;
    * where some stores of an array also count lanes along a dimension that others take whole, they are masked stores of
      all of it;
    * where every lane has an element of its own, numbers beside tiles become tiles: elements of a flat array;
    * ``one-hot``: sums of floats are the product of a one-hot matrix with the values; other updates that commute, of
      an array of one dimension, compare each lane with each element and reduce. An infinity or NaN among the values
      of a product would reach every row, so then rows are added one after the other instead;
    * ``rows``: the array stays in VMEM, and a loop combines one row after the other, whose numbers it reads as scalars;
    * ``dma``: the array stays in HBM, and the loop fetches and sends back each row by a DMA. Whole rows that are only
      stored are sent together, of those with one number the last.

    ``auto`` takes ``dma`` where the array does not fit half of VMEM, else what is estimated to take the fewest cycles;
    a remark says which. Previous values, ``xchg``, ``cas`` and stores need the rows' order: the last lane wins. Cells
    that may meet in a row run in order. Elements below 32 bits are widened, arrays of one dimension folded to rows of
    128, by host ops. Lanes that are masked, outside their ranges or outside the array update nothing.

        atomic.rmw add %v, %out[%n, %j] : !tile.tile<b0=16 x b1=128 x f32>, memref<300x200xf32>
    becomes
        %hot = … %n equal to 0, 1, 2, … …   %d = tile.dot %hot, %v precision ieee : …
        %old = tile.load %out[:, %j] : …   %new = tile.add %old, %d : …   tile.store %new, %out[:, %j] : …

    Blocks that loops of computed bounds update in an array that does not fit are fetched and sent back by DMAs too.

    Refuses, with the access's place: 64-bit elements, tiles of row numbers with other indices between them, arrays
    that are also accessed otherwise and need another form, and rows in HBM too wide to move whole for a block of them.
    """

    name = "lower-scatters"

    chip: str = "tpu7x"
    strategy: Strategy = "auto"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tags = set(bound_tags(op))
        for launch in walk(op, LaunchOp):
            for number in launch.written:
                self._lower(launch, number, tags)

    def _lower(self, launch: LaunchOp, number: int, tags: set[str]) -> None:
        target = Target(launch, number)
        updates = [as_blocks(op) if gathered(op) else op for op in _accesses(target) if isinstance(op, UpdateOp)]
        sums = SumAnalysis()
        scattered = _unless_blocks([op for op in updates if gathered(op)], sums)
        if not scattered:
            update_far_blocks(target, _accesses(target), TPU_CHIPS[self.chip])
            return
        if all(map(is_by_element, scattered)):
            scattered = [with_numbers(op) for op in scattered]
        scattered = alike(scattered, sums)
        others = [op for op in _accesses(target) if op not in scattered]
        extents = checked_extents(target, scattered)
        if 0 in target.shape or any(0 in type_of(value).shape for op in scattered for value in values_of(op)):
            for op in scattered:
                _erase_idle(op)
            return
        plain = [plain_update(op, extents) for op in scattered]
        before = target.type
        positions = gathered(scattered[0])
        target.permute([*positions, *(n for n in range(len(target.shape)) if n not in positions)])
        target.merge_first(len(positions))
        names = self._choose(target, plain)
        _give_form(target, plain, names)
        if others and (target.type != before or "dma" in names):
            refuse_others(target, others[0])
        self._write(target, plain, names, others, tags)

    def _choose(self, target: Target, updates: Sequence[Update]) -> list[str]:
        """The formulation of each update, all in HBM or none."""
        chip = TPU_CHIPS[self.chip]
        if self.strategy == "dma" or not all(fits(update, target.shape, chip) for update in updates):
            names = ["dma"] * len(updates)
        else:
            names = [self._cheapest(target, update, chip) for update in updates]
        if len(target.shape) == 1 and set(names) != {"one-hot"} and "one-hot" in names:
            names = ["rows"] * len(names)  # an array of one dimension is folded for all or none
        return names

    def _cheapest(self, target: Target, update: Update, chip: TpuChip) -> str:
        costs = candidates(Sizes.of(update, target.shape), chip)
        name = self.strategy if self.strategy in costs else min(costs, key=costs.__getitem__)
        others = [f"{cost:.0f} by {other}" for other, cost in costs.items() if other != name]
        against = f", against {', '.join(others)}" if others else ", the only way"
        remark(update.op, f"'{target.name}' is updated by {name}: about {costs[name]:.0f} cycles a cell{against}")
        return name

    def _write(
        self,
        target: Target,
        updates: Sequence[Update],
        names: Sequence[str],
        others: Sequence[Access],
        tags: set[str],
    ) -> None:
        for update, name in zip(updates, names, strict=True):
            _formulate(Formulation(target.launch, target, update, tags), name)
            erase(update)
        for op in others:
            if isinstance(op, RmwOp | CasOp):
                update_block(op)
        for grid in [op for op in target.launch.body.block.ops if isinstance(op, GridOp)]:
            run_in_order(grid, target.memory, target.name)


def _unless_blocks(scattered: Sequence[UpdateOp], sums: SumAnalysis) -> list[UpdateOp]:
    """Those that remain: none, where all of them are stores of blocks that begin at scalars."""
    stores = [op for op in scattered if isinstance(op, StoreOp) and counts(op, sums)]
    if len(stores) < len(scattered):
        return list(scattered)
    for store in stores:
        store_counted(store, sums)
    return []


def _give_form(target: Target, updates: Sequence[Update], names: Sequence[str]) -> None:
    """Elements of 32 bits, rows of lanes, and room for whole blocks where DMAs move them."""
    target.widen()
    if len(target.shape) == 1 and set(names) != {"one-hot"}:
        target.fold()
        for update in updates:
            update.folded()
    if "dma" in names:
        for update in updates:
            make_movable(target, update)


def _formulate(formulation: Formulation, name: str) -> None:
    if name == "one-hot":
        flat = len(formulation.target.shape) == 1
        formulation.reduction() if flat else formulation.product()
    elif name == "rows":
        formulation.rows()
    else:
        sent = formulation.update.is_sent
        how = "its rows are sent together" if sent else "each of its rows is fetched and sent back"
        remark(formulation.update.op, f"'{formulation.target.name}' stays in HBM: {how} by DMAs")
        formulation.send() if sent else formulation.rows("hbm")


def _accesses(target: Target) -> list[Access]:
    return [op for op in walk(target.launch, Access) if op.memory is target.memory]


def _erase_idle(op: UpdateOp) -> None:
    """Removes an update of no elements; its previous ones are undefined."""
    if (previous := previous_of(op)) is not None:
        previous.replace_all_uses_with(Builder(op).add(FullOp(0, type_of(previous))))
    Rewriter.erase_op(op)
