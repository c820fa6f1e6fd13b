"""The pass ``realise-values``: what is at computed places becomes products, picks and DMAs that a TPU has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from kopt.analysis.plan_problems.tpu_values import value_problems
from kopt.analysis.plans import narrow
from kopt.analysis.values.gathers import Choice, best_choice, choices
from kopt.analysis.values.value_plan import parallel_axes, sources_of, value_buffers
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, LoadOp, tile_type
from kopt.dialects.tile.planned import forget_plan
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.realise import Realising
from kopt.passes.retyping import bound_tags
from kopt.passes.scatters.realise import realise_updates
from kopt.plans.kinds import VALUES
from kopt.plans.plan import Buffer, Plan
from kopt.targets.chips import TPU_CHIPS, TpuChip, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class RealiseValuesPass(ModulePass):
    """Lowers gathers and scatters as the plan says, a row of a table for each kind: nothing is decided here.

    | kind | what the access becomes |
    |---|---|
    | ``pick`` | of ``from`` another access, or of the array as a whole: that block, of which elements are picked |
    | ``bounded`` | the block of memory that holds all elements, of which they are picked |
    | ``places`` | the rows of memory around a number of each place, of which its lanes are picked |
    | ``runs`` | the aligned rows of memory around the lanes, which are shifted by powers of two |
    | ``one_hot`` | the matrix as a whole, of which `tile.take_along` takes rows: a product, exact for all bits |
    | ``rows`` | a load of whole rows by their numbers, each a DMA; single lanes are picked from them |
    | ``one_hot`` of updates | the product of a one-hot matrix with the values, or comparisons and a reduction |
    | ``row_loop`` | a loop that combines one row after the other, whose numbers it reads as scalars |
    | ``row_dma`` | such a loop over rows in HBM; rows that are only stored are sent together, the last of a number |

    Rows of elements below 32 bits come in groups of 8 or 32, elements of an array of one dimension in rows of 128.
    Arrays that are updated get such a form by host ops: elements of 32 bits, rows of 128. Row numbers are clamped
    to the array. Masked lanes of a load take ``other`` by a select. An update leaves out lanes that are masked,
    outside their ranges or outside the array. Where rows of an array are updated, updates of its blocks become
    loads and stores. Cells that may meet in a row run in order. Gathers that come of it, such as the rows of
    ``runs``, get the best kind that they may have (`kopt.analysis.values`).

        %v = tile.load %x[%n, %j] via @x : memref<300x200xf32> -> !tile.tile<b0=16 x b1=128 x f32>   // one_hot
    becomes
        %t = tile.load %x[:, %j] …   %w = tile.broadcast %n dims [0] …   %v = tile.take_along %t, %w dim 0 …

    The plan loses what has been realised; nothing of it is left unless it says more. Refuses, with the access's place
    and the kinds that it may have: a kind that an access cannot have; words and axes of such buffers; gathers without a
    buffer; updates of one array that do not go together. And arrays whose rows no kind updates: of 64-bit elements, by
    row numbers with other indices between them, accessed otherwise in another form, in HBM with rows too wide to move.
    """

    name = "realise-values"
    #: Blocks around elements that lie near one number may end beyond arrays; ``bind-buffers`` makes these longer.
    reads_beyond = True

    chip: str = chip_option(TPU_CHIPS, "tpu7x")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chosen: dict[Operation, Choice] = {}
        for launch in walk(op, LaunchOp):
            for grid in walk(launch, GridOp):
                if grid.plan is None or not grid.plan.data.own:
                    for problem in value_problems(launch, grid, TPU_CHIPS[self.chip]):
                        raise problem.error
                chosen |= _chosen(launch, grid, TPU_CHIPS[self.chip])
                _take_off(grid)
            _realise_loads(Realising(launch, TPU_CHIPS[self.chip]), chosen)
        tags = set(bound_tags(op))
        for launch in walk(op, LaunchOp):
            for number in launch.written:
                realise_updates(launch, number, chosen, tags)


def _chosen(launch: LaunchOp, grid: GridOp, chip: TpuChip) -> dict[Operation, Choice]:
    """What the plan of a grid says of its accesses at computed places."""
    found: dict[Operation, Choice] = {}
    for op, buffer in value_buffers(grid).items():
        found[op] = Choice(buffer.kind)
        if isinstance(op, LoadOp) and buffer.source is not None:
            found[op] = choices(op, launch, chip, SumAnalysis(), sources_of(grid, buffer))[0]
    return found


def _realise_loads(at: Realising, chosen: Mapping[Operation, Choice]) -> None:
    """Gathers and picks first, in the order of the program; then what is far, and what has been made of those."""
    known = walk(at.launch, LoadOp)
    for load in [load for load in known if load in chosen and (load.gathers or chosen[load].held is not None)]:
        is_number = isinstance(tile_type(load.result).element_type, IntegerType)
        at.realise(load, chosen[load])
        if is_number:  # what is made of them is made of other values now
            at.sums = SumAnalysis()
    at.sums, before = SumAnalysis(), {*known}
    for load in [load for load in walk(at.launch, LoadOp) if not load.gathers]:
        choice = chosen.get(load) if load in before else best_choice(load, at.launch, at.chip, at.sums)
        if choice is not None:
            at.realise(load, choice)


def _take_off(grid: GridOp) -> None:
    """The plan without what has been realised; one that says nothing else is forgotten."""
    if grid.plan is None:
        return
    plan = grid.plan.data
    done = {buffer.name for buffer in plan.buffers if buffer.kind in VALUES}
    if not done:
        return
    for op in value_buffers(grid):
        op.attributes.pop("via", None)
    rest = replace(plan, buffers=tuple(buffer for buffer in plan.buffers if buffer.name not in done))
    if all(map(_is_open, rest.buffers)) and _says_nothing(grid, rest):
        forget_plan(grid)
        return
    narrow(grid, rest)


def _is_open(buffer: Buffer) -> bool:
    """Whether a buffer is a block of which it is left open how it comes."""
    return buffer == Buffer(buffer.name, buffer.operand, "window")


def _says_nothing(grid: GridOp, plan: Plan) -> bool:
    """Whether a plan has nothing but buffers and the usual order."""
    return replace(plan, buffers=()) == Plan(grid.tags, parallel_axes(grid), (), {})
