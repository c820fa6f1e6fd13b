"""The pass ``plan-accesses``: how a launch reaches its arrays and runs its loops, written into the IR."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.gpu_plans import LaunchWishes, gpu_plan
from kopt.analysis.launch_models import fixed_model
from kopt.analysis.launch_plans import launch_plans
from kopt.analysis.loop_schedules import Remarks, Wanted
from kopt.analysis.peeling import with_peeling
from kopt.analysis.pinned import GridPins, pins_of_grids
from kopt.analysis.plan_problems.problem import why_not_unrolled
from kopt.analysis.plans import GridNames, set_plan
from kopt.analysis.rare_branches import is_rare
from kopt.analysis.scope import defining_block
from kopt.diagnostics import location_of, remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import BeginOp, CountOp, EndOp, ForOp, GridOp, IdOp, tag_of
from kopt.errors import ConfigError
from kopt.ir.launch_model import LaunchModel
from kopt.passes.launches import grid_of, is_bound
from kopt.planning.candidates import with_unrolling
from kopt.planning.choice import cheapest
from kopt.plans.pins import Pins, read_options
from kopt.plans.plan import Plan
from kopt.targets.chips import CHIPS, GPU_CHIPS, TPU_CHIPS, TpuChip, chip_option
from kopt.walk import walk

_INDEX_OPS = (BeginOp, EndOp, IdOp, CountOp)


@dataclass(frozen=True)
class PlanAccessesPass(ModulePass):
    """Plans each launch: in which buffers the blocks of its arrays stand, how its loops run, the order of its grid.

    The decisions are text (``docs/plans.md``): the grid has a plan with a buffer for each array, each access names its
    buffer, each loop has its schedule. Later passes obey them and decide nothing again. Text that was edited by hand
    is obeyed as well.

    | decided | by |
    |---|---|
    | the schedules that loops may have together | `kopt.analysis.loop_schedules` |
    | how many visits of a loop are written out in one | `kopt.planning.candidates` |
    | which are taken: those clearly cheapest, else the usual ones, unrolled as pays | `kopt.planning.choice` |
    | the kind of an array's buffer | `kopt.analysis.buffer_kinds` |
    | the order of the grid | `kopt.analysis.grid_orders` |

    ``loop-type`` asks for one schedule of all loops; a loop that cannot have it says why in a remark, and gets another.

        tile.grid (%i: b0=8) in (1000) { … tile.for %k: b1=128 in (0, 600) … { %v = tile.load %x[%i, %k] … } }
    becomes
        tile.grid (%i: b0=8) in (1000) plan {order [i, k] parallel [i] @x = %x window(i, k) x2 …} {
          … tile.for %k: b1=128 in (0, 600) … schedule grid { %v = tile.load %x[%i, %k] via @x … } }

    On a GPU each array has buffers of pointers, of atomics where it is updated; ``num-warps`` and ``num-stages`` follow
    from the blocks unless given (`kopt.analysis.warps_and_stages`). Cells are shared by persistent programs where a
    GPU would take clearly longer to start one for each (`kopt.analysis.persistence`), or as ``persistent`` asks:
    ``sm-programs`` for each multiprocessor, as many as its threads allow if left out. ``group`` rows of cells run side
    by side, and threads have at most ``max-registers``.

        tile.grid (%i: b0=128) in (1000) plan {order [i] parallel [i] warps 4 stages 1 @x = %x pointer …} { … }

    What a user pins stands in the plan, and the rest follows from it; ``verify-plan`` refuses what cannot be. Accesses
    are named by their ids, loops and axes by their variables or tags (`kopt.analysis.pinned`):

        plan-accesses{accesses="k = resident","k#1 = window x2" loops="j = resident" order=i,j}

    It refuses pins with unknown names or words, and lists the known ones. A plan that the IR has already is kept. The
    grid of a `pallas.call` gets none, since its blocks are bound.
    """

    name = "plan-accesses"

    loop_type: Literal["auto", "resident", "grid", "fori", "pipeline"] = "auto"
    num_warps: int | None = None
    num_stages: int | None = None
    persistent: Literal["off", "interleaved", "blocked"] | None = None
    sm_programs: int | None = None
    group: int | None = None
    max_registers: int | None = None
    accesses: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    chip: str = chip_option(CHIPS, "tpu7x")

    def __post_init__(self) -> None:
        self.pins  # noqa: B018  # words that there are not are refused where the option stands

    @property
    def pins(self) -> Pins:
        """What is decided beforehand."""
        return read_options(self.accesses, self.loops, self.order)

    @property
    def _asked(self) -> LaunchWishes:
        """What is decided of a launch on a GPU."""
        numbers = self.num_warps, self.num_stages, self.persistent, self.sm_programs, self.group, self.max_registers
        return LaunchWishes(*numbers)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        family, kind = ("gpu", GridOp) if self.chip in GPU_CHIPS else ("tpu", LaunchOp)
        tops: list[GridOp | LaunchOp] = walk(op, kind)
        open_tops = [top for top in tops if _grid(top).plan is None and not is_bound(_grid(top))]
        pinned = pins_of_grids([_grid(top) for top in open_tops], self.pins, family)
        for top, pins in zip(open_tops, pinned, strict=True):
            if isinstance(top, LaunchOp):
                self._plan_launch(top, pins)
            else:
                known = GridNames.of(top)
                plan = gpu_plan(top, known, GPU_CHIPS[self.chip], self._asked, pins)
                _write(top, plan, pins, known, own=self._asked == LaunchWishes())

    def _plan_launch(self, launch: LaunchOp, pins: GridPins) -> None:
        grid = grid_of(launch)
        move_out(grid)
        chip = TPU_CHIPS[self.chip]
        known = GridNames.of(grid)
        if pins:
            plan, remarks = launch_plans(launch, grid, known, chip, self.loop_type, pins)[0]
        else:
            plan, remarks, _ = chosen(launch, grid, known, chip, self.loop_type)
        _check_prefetched(pins, plan)
        _write(grid, plan, pins, known)
        for at, text in remarks:
            remark(at, text)


def choices(
    launch: LaunchOp, grid: GridOp, known: GridNames, chip: TpuChip, loop_type: Wanted = "auto"
) -> tuple[list[tuple[Plan, Remarks]], LaunchModel | None]:
    """The plans that a launch may have, the usual one first, and the model that tells what they cost.

    No model where there is nothing to choose.
    """
    found = launch_plans(launch, grid, known, chip, loop_type)
    plan, _ = found[0]
    if len(found) == 1 and not any(loop.kind == "resident" for loop in plan.loops.values()):
        return found, None
    model = fixed_model(grid, known)
    rolled = [tag_of(loop.range) for loop in walk(grid, ForOp) if is_rare(loop, grid)]
    unrolled = ((each, said) for one, said in found for each in with_unrolling(model, one, rolled))
    return [pair for pair in unrolled if _can_unroll(grid, pair[0])], model


def chosen(
    launch: LaunchOp, grid: GridOp, known: GridNames, chip: TpuChip, loop_type: Wanted = "auto"
) -> tuple[Plan, Remarks, LaunchModel | None]:
    """The plan of a launch of which nothing is pinned, what is to be said of it, and the model of `choices`."""
    found, model = choices(launch, grid, known, chip, loop_type)
    return *found[0 if model is None else cheapest(model, [plan for plan, _ in found], chip)], model


def _write(grid: GridOp, plan: Plan, pins: GridPins, known: GridNames, own: bool = True) -> None:
    """Writes a plan down; loops are peeled where nobody pinned anything.

    It is kopt's ``own`` where nothing was asked for besides.
    """
    if not pins:
        plan = replace(plan, loops=with_peeling(grid, plan.loops), own=own)
    set_plan(grid, plan, known)


def _can_unroll(grid: GridOp, plan: Plan) -> bool:
    """Whether it is known how often each loop runs that a plan unrolls."""
    pairs = ((loop, plan.loops.get(tag_of(loop.range))) for loop in walk(grid, ForOp))
    schedules = ((loop, one) for loop, one in pairs if one is not None and one.unroll > 1)
    return all(why_not_unrolled(loop, one) is None for loop, one in schedules)


def _check_prefetched(pins: GridPins, plan: Plan) -> None:
    """Refuses a loop that is to prefetch where no array comes so."""
    moved = {axis for buffer in plan.buffers if buffer.kind in ("prefetch", "writeback") for axis in buffer.axes}
    for loop, schedule in pins.loops.items():
        if schedule.kind == "prefetch" and tag_of(loop.range) not in moved:
            message = "the loop has nothing to prefetch: no array that it walks comes in blocks that DMAs copy"
            raise ConfigError(message, location_of(loop), notes=["its schedule may be 'resident'"])


def _grid(top: LaunchOp | GridOp) -> GridOp:
    return grid_of(top) if isinstance(top, LaunchOp) else top


def move_out(grid: GridOp) -> None:
    """Moves index arithmetic on values from outside of loops before these: blocks are then known outside."""
    for loop in walk(grid, ForOp):
        _move_out(loop)


def _move_out(loop: ForOp) -> None:
    block = loop.body.block
    for op in list(block.ops):
        index = isinstance(op, _INDEX_OPS) or op.dialect_name() == arith.Arith.name
        if index and all(isinstance(r.type, IndexType) for r in op.results) and not _uses(op, block):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(loop))


def _uses(op: Operation, block: Block) -> bool:
    return any(defining_block(operand) is block for operand in op.operands)
