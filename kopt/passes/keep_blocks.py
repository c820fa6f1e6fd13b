"""The pass ``keep-blocks``: what two loops of a cell walk comes from memory once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.kept_blocks import KeptBlocks, shared_reads
from kopt.analysis.launch_loops import LaunchLoops
from kopt.analysis.launch_models import fixed_model
from kopt.analysis.plans import GridNames
from kopt.clone import cloned
from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.host.launch import ints_of
from kopt.dialects.tile import LoadOp, StoreOp
from kopt.passes.launches import grid_of
from kopt.passes.plan_accesses import chosen, move_out
from kopt.passes.replacing import replacing
from kopt.planning.choice import fits
from kopt.planning.cost import costs
from kopt.targets.budget import Budget
from kopt.targets.chips import TPU_CHIPS, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class KeepBlocksPass(ModulePass):
    """Keeps the blocks that a loop loads for later loops of the cell over the same blocks, in an array of the launch.

    Only the cells see this array, so that it is scratch memory. Blocks are kept where the launch takes less time by
    the cost model (`kopt.planning.cost`): mostly rows that fit VMEM once, but not twice, as a double-buffered window
    needs. Without this pass each loop brings such rows from memory again, by pipelines or DMAs.

        %out = host.launch @softmax (%x = …) writes [] yields (%out : …) … {
          tile.for %k: b1=512 in (0, 65536) … { %v = tile.load %x[%i, %k] … }
          tile.for %l: b2=512 in (0, 65536) … { %w = tile.load %x[%i, %l] … } }
    becomes
        %out, %unused = host.launch @softmax (%x = …) writes [] yields (%out : …, %kept_x : …) … {
          tile.for %k: b1=512 in (0, 65536) … { %v = tile.load %x[%i, %k] …   tile.store %v, %kept_x[%i, %k] … }
          tile.for %l: b2=512 in (0, 65536) … { %w = tile.load %kept_x[%i, %l] … } }

    ``loop-type`` is the configuration's. A remark says what is kept. It never refuses.
    """

    name = "keep-blocks"

    chip: str = chip_option(TPU_CHIPS, "tpu7x")
    loop_type: Literal["auto", "resident", "grid", "fori", "pipeline"] = "auto"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for number, launch in enumerate(walk(op, LaunchOp)):
            if found := self._worth_keeping(op, number):
                for one in found:
                    _say(one)
                _kept(launch, found)

    def _worth_keeping(self, module: ModuleOp, number: int) -> list[KeptBlocks]:
        """What fits beside a cell's blocks, of a module's launch that takes less time with it."""
        launch = walk(module, LaunchOp)[number]
        found = [] if grid_of(launch).plan is not None else self._fitting(launch)
        return found if found and self._pays(module, number) else []

    def _fitting(self, launch: LaunchOp) -> list[KeptBlocks]:
        """What fits beside a cell's blocks."""
        grid, budget = grid_of(launch), Budget(TPU_CHIPS[self.chip])
        memory = LaunchLoops(launch, grid).memory
        given = {*launch.body.block.args[: len(launch.inputs)]}
        windows = [window for array, window in memory.windows.items() if array in given]
        kept: list[KeptBlocks] = []
        for one in shared_reads(grid, windows):
            more = [*kept, one]
            left = {load for each in more for load in each.again}
            if budget.keeps(sum(each.bytes for each in more), memory.of_blocks(left)):
                kept = more
        return kept

    def _pays(self, module: ModuleOp, number: int) -> bool:
        """Whether a launch takes less time with what is kept; where no plan tells, whether its windows do not fit."""
        usual, kept = (walk(cloned(module), LaunchOp)[number] for _ in range(2))
        least = self._seconds(usual)
        if least is None:
            memory = LaunchLoops(usual, grid_of(usual)).memory
            return not Budget(TPU_CHIPS[self.chip]).holds_windows(memory.of_windows())
        found = self._seconds(_kept(kept, self._fitting(kept)))
        return found is not None and found < least

    def _seconds(self, launch: LaunchOp) -> float | None:
        """What a launch takes with the plan that it will have, None where nothing tells."""
        grid, chip = grid_of(launch), TPU_CHIPS[self.chip]
        move_out(grid)
        known = GridNames.of(grid)
        plan, _, model = chosen(launch, grid, known, chip, self.loop_type)
        (cost,) = costs(model or fixed_model(grid, known), {}, [plan], chip)
        return None if cost.counted_seconds is None or not fits(cost, chip) else float(cost.counted_seconds)


def _kept(launch: LaunchOp, found: Sequence[KeptBlocks]) -> LaunchOp:
    """The launch that keeps what was found, in the place of the one that does not."""
    block = launch.body.block
    for one in found:
        memory = one.first.memory
        array = block.insert_arg(memory.type, len(block.args))
        array.name_hint = f"kept_{memory.name_hint}" if memory.name_hint else "kept"
        _through(one, array)
    body = Rewriter.move_region_contents_to_new_regions(launch.body)
    name, writes = launch.sym_name.data, ints_of(launch.writes)
    new = LaunchOp(name, launch.inputs, writes, body, launch.attributes, donates=launch.donated)
    new.location = launch.location
    for before, after in zip(launch.outputs, new.outputs, strict=False):
        after.name_hint = before.name_hint
    Rewriter.insert_op(new, InsertPoint.before(launch))
    Rewriter.replace_op(launch, [], new.outputs[: len(launch.outputs)])
    return new


def _say(blocks: KeptBlocks) -> None:
    name, count = blocks.first.memory.name_hint or "an array", len(blocks.again)
    remark(blocks.first, f"blocks of '{name}' are kept for {count} later loop{'s' if count > 1 else ''}")


def _through(blocks: KeptBlocks, array: SSAValue) -> None:
    """The first load is stored as it comes, and the others read that."""
    store = StoreOp(blocks.first.result, array, blocks.first.entries)
    store.location = blocks.first.location
    Rewriter.insert_op(store, InsertPoint.after(blocks.first))
    for load in blocks.again:
        own = replacing(load, LoadOp(array, load.entries))
        own.result.name_hint = load.result.name_hint
        Rewriter.replace_op(load, own)
