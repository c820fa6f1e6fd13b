"""The pass ``materialize-accumulators``: atomic updates accumulate in scratch memory of the chip."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, f64
from xdsl.passes import ModulePass

from kopt.analysis.atomic_targets import AtomicTarget, targets
from kopt.analysis.windows import Window, windows
from kopt.diagnostics import location_of
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import array_type, is_gather
from kopt.errors import LoweringError
from kopt.passes.accumulators.atomic_updates import Updates
from kopt.passes.accumulators.block import AccumulatorBlock, Phases
from kopt.passes.launches import drop_if_idle, grid_of
from kopt.targets.budget import Budget
from kopt.targets.chips import TPU_CHIPS, TpuChip, chip_option
from kopt.targets.tiling import window_bytes
from kopt.walk import walk


@dataclass(frozen=True)
class MaterializeAccumulatorsPass(ModulePass):
    """Privatises the targets of atomic updates: these become gets and puts of a scratch block, in 32 bits.

    A cell sees on-chip copies of memory, so cells that update one block must share one copy. The block is filled at
    the first visit of the grid's dimensions that it does not move with, and committed at the last, rounded once. It is
    filled by a load; or by the constant that a fresh array was filled with, which is then only written. All other
    accesses to the target go to the copy too. A value that is rounded right before it is added is added unrounded,
    unless previous values are used.

    Mosaic cannot index one lane, or blocks that begin anywhere. Such updates are spread over the whole dimension, and
    lanes are selected by their numbers.

        tile.grid (%i: b0=128, %k: b1=256) in (1024, 4096) reduce [1] { … atomic.rmw add %v, %out[%i, :] … }
    becomes
        %out_acc = pallas.scratch : !tile.ref<128 x 64 x f32, vmem>
        tile.grid (%i: b0=128, %k: b1=256) in (1024, 4096) reduce [1] {
          tile.when first(%k) { %o = tile.load %out[%i, :] …   tile.put %o, %out_acc[:, :] … }
          … %a = tile.get %out_acc[:, :] …   %n = tile.add %a, %v …   tile.put %n, %out_acc[:, :] …
          tile.when last(%k) { %r = tile.get %out_acc[:, :] …   tile.store %r, %out[%i, :] … }
        }

    Refuses, with the update's place, targets of 64-bit elements, updates at gathered places, and blocks that are
    larger than the chip's VMEM: `an update of 'out' needs 1,024 MiB of VMEM for a block of 16384 x 16384`.
    """

    name = "materialize-accumulators"

    chip: str = chip_option(TPU_CHIPS, "tpu7x")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            if not targets(grid_of(launch)) or drop_if_idle(launch):
                continue
            _materialize(launch, TPU_CHIPS[self.chip])


def _materialize(launch: LaunchOp, chip: TpuChip) -> None:
    grid = grid_of(launch)
    found = targets(grid)
    plans = windows(grid, [target.memory for target in found])
    phases = Phases(grid)
    for target in found:
        _check(target)
        _check_size(target, plans[target.memory], chip)
        block = AccumulatorBlock(launch, phases, target, plans[target.memory])
        Updates(block).rewrite()
        block.fill_and_commit()


def _check(target: AtomicTarget) -> None:
    type = array_type(target.memory)
    element = type.element_type
    for op in target.accesses:
        if element == f64 or isinstance(element, IntegerType) and element.width.data == 64:
            raise LoweringError(
                f"a TPU cannot update {target.name} atomically: it has no arithmetic on {element}",
                location_of(op),
                notes=["use 32-bit elements, or the target 'reference'"],
                id="update",
            )
        if any(is_gather(entry) for entry in op.entries):
            raise LoweringError(
                f"an update of {target.name} at gathered places",
                location_of(op),
                notes=["run realise-values before"],
                id="update",
            )


def _check_size(target: AtomicTarget, window: Window, chip: TpuChip) -> None:
    """Refuses a block that VMEM cannot hold where it is accumulated and on its way to memory."""
    moved, kept = window_bytes(window.block, window.bits), window_bytes(window.block, 32)
    if Budget(chip).accumulates(moved, kept):
        return
    extents = " x ".join(map(str, window.block))
    turns = target.turns
    raise LoweringError(
        f"an update of {target.name} needs {2 * moved + kept >> 20:,} MiB of VMEM for a block of {extents}: "
        f"{chip.name} has {chip.vmem_bytes >> 20} MiB",
        location_of(target.accesses[0] if turns is None else turns.op),
        notes=[
            *([f"cells take turns: {turns.reason}"] if turns is not None else []),
            f"index {target.name} by the outer loops' tiles, so that a cell updates a small block of it",
            "or update a part of it in each launch",
        ],
        id="update",
    )
