"""Which steps of an axis may overlap a copy that is started and waited for at once: of a loop, or of the grid.

Pure. A block may be fetched a step ahead where nothing writes the array, and where the step before can tell where it
is. A block may leave while the next step computes where nothing else in the loop touches the array.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.copies import Copy, is_only_read, kept_lanes, others_touching, refs_of_array
from kopt.analysis.pipelining import is_pipelined
from kopt.analysis.rematerialisation import Rematerialisation
from kopt.analysis.revisit_order import fastest, grid_of
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import ForOp, GridOp, PutOp
from kopt.ir.ranges import binding
from kopt.targets.chips import TpuChip
from kopt.walk import walk

#: The number of buffers that a copy has which steps overlap.
DEPTH = 2


def why_not_overlapped(copy: Copy, call: CallOp, chip: TpuChip) -> str | None:
    """Why no steps of its axis may overlap a copy; None where they may."""
    overlap = copy.start.overlap
    assert overlap is not None
    if overlap.depth != DEPTH:
        return f"copies have {DEPTH} buffers, not {overlap.depth}"
    if not copy.is_fetch:
        return _why_not_behind(copy, overlap.axis, call)
    if is_of_cells(overlap.axis):
        return _why_not_ahead_of_cells(copy, overlap.axis, call, chip)
    return _why_not_ahead(copy, overlap.axis, call)


def is_of_cells(axis: SSAValue) -> bool:
    """Whether the steps of an axis are cells of the grid, not visits of a loop."""
    return isinstance(binding(axis).owner, GridOp)


def _why_not_ahead(copy: Copy, axis: SSAValue, call: CallOp) -> str | None:
    """Of a fetch in a loop."""
    if not _is_in_loop(copy, axis):
        return "it is in a loop, or under a condition, of its own"
    if not is_only_read(call, copy.array):
        return "the kernel writes the array"
    if not all(map(Rematerialisation(frozenset({axis})).can, copy.entries)):
        return "where the next block is, this visit cannot tell"
    return None


def _why_not_ahead_of_cells(copy: Copy, axis: SSAValue, call: CallOp, chip: TpuChip) -> str | None:
    """Of a fetch outside of loops."""
    if copy.start.parent is not _body(axis):
        return "it is in a loop, or under a condition"
    if (reason := why_not_following(axis, call, chip)) is not None:
        return reason
    if not is_only_read(call, copy.array):
        return "the kernel writes the array"
    if not all(map(Rematerialisation(frozenset({axis})).can, copy.entries)):
        return "where the next cell's block is, this cell cannot tell"
    return None


def _why_not_behind(copy: Copy, axis: SSAValue, call: CallOp) -> str | None:
    """Of a send in a loop."""
    if not _is_in_loop(copy, axis):
        return "it is in a loop, or under a condition, of its own"
    kept = kept_lanes(copy)
    own = [*copy.ops, *(() if kept is None else kept.fetch.ops)]
    if others_touching(walk(_body(axis)), refs_of_array(call, copy.array), own):
        return "other accesses of the loop touch the array"
    return None


def _is_in_loop(copy: Copy, axis: SSAValue) -> bool:
    """Whether a copy is in the loop itself of an axis, every visit of which makes it."""
    loop = _body(axis).parent_op()
    return copy.start.parent is _body(axis) and isinstance(loop, ForOp) and not is_pipelined(loop)


def following_cells(call: CallOp, chip: TpuChip) -> SSAValue | None:
    """The range along which cells follow one another on one core: the one that moves fastest, unless cores share it."""
    grid = grid_of(call)
    number = fastest(grid)
    if number is None or call.semantics.data[number].data == "parallel" and chip.cores > 1:
        return None
    return grid.ranges[number]


def why_not_following(axis: SSAValue, call: CallOp, chip: TpuChip) -> str | None:
    """Why the next cell of a core is not the next one along an axis; None where it is."""
    following = following_cells(call, chip)
    if following is axis:
        return None
    return "cores share the cells" if following is None else "the next cell is along another axis"


def knows_first_block(copy: Copy, *cells: SSAValue) -> bool:
    """Whether the place of a loop's first block is known in front of it; of that of ``cells``, in the cell before."""
    loop = copy.start.parent_op()
    assert isinstance(loop, ForOp)
    scope = Rematerialisation(frozenset({loop.range, *cells}), loop.body.block)
    return all(map(scope.can, [*copy.entries, *(loop.bounds if cells else ())]))


def crosses(copy: Copy, cell: SSAValue) -> bool:
    """Whether the first block of a loop can be fetched in the last visit of the cell before: of the first loop
    of a cell that computes."""
    loop, grid = copy.start.parent_op(), _body(cell).parent_op()
    assert isinstance(loop, ForOp)
    if loop.parent_op() is not grid or loop is not next(op for op in _body(cell).ops if op is loop or _computes(op)):
        return False
    return knows_first_block(copy) and knows_first_block(copy, cell)


def _computes(op: Operation) -> bool:
    """Whether an op is a loop that does more than start copies, or wait for them."""
    return isinstance(op, ForOp) and (len(op.results) > 0 or any(isinstance(inner, PutOp) for inner in walk(op)))


def _body(axis: SSAValue) -> Block:
    """The block whose steps an axis counts."""
    assert isinstance(axis.owner, Block)
    return axis.owner
