"""What updates at computed places become: a row for each kind of buffer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Operation

from kopt.analysis.values.gathers import Choice
from kopt.analysis.values.updates import UpdateOp, gathered
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access, GridOp
from kopt.passes.scatters.block_rmw import update_block, update_hbm_blocks
from kopt.passes.scatters.checks import checked_extents, refuse_others
from kopt.passes.scatters.compare_and_reduce import compare_and_reduce
from kopt.passes.scatters.formulation import Formulation
from kopt.passes.scatters.one_hot_product import add_product
from kopt.passes.scatters.pad_for_dma import make_movable
from kopt.passes.scatters.row_dma import update_rows_in_hbm
from kopt.passes.scatters.row_loop import update_rows
from kopt.passes.scatters.run_in_order import run_in_order
from kopt.passes.scatters.update import Update, erase, plain_update
from kopt.passes.scatters.written_operand import WrittenOperand
from kopt.walk import walk


def realise_updates(launch: LaunchOp, number: int, chosen: Mapping[Operation, Choice], tags: set[str]) -> None:
    """Writes the updates of one array by what is chosen; ``tags`` are those taken in the module."""
    target = WrittenOperand(launch, number)
    accesses = [op for op in walk(launch, Access) if op.memory is target.memory]
    scattered = [op for op in accesses if isinstance(op, UpdateOp) and gathered(op)]
    if not scattered:
        if any(op in chosen for op in accesses):
            update_hbm_blocks(target, accesses)
        return
    others = [op for op in accesses if op not in scattered]
    extents = checked_extents(target, scattered)
    plain = [plain_update(op, extents) for op in scattered]
    kinds = [chosen[op].kind for op in scattered]
    _rows_first(target, gathered(scattered[0]))
    _give_form(target, plain, kinds)
    if others and (target.has_other_form or "row_dma" in kinds):
        refuse_others(target, others[0])
    for update, kind in zip(plain, kinds, strict=True):
        REALISE[kind](Formulation(launch, target, update, tags))
        erase(update)
    for op in others:
        if isinstance(op, RmwOp | CasOp):
            update_block(op)
    for grid in [op for op in launch.body.block.ops if isinstance(op, GridOp)]:
        run_in_order(grid, target.memory, target.name)


def _rows_first(target: WrittenOperand, positions: Sequence[int]) -> None:
    """The array with the dimensions that row numbers index first, and merged."""
    target.permute([*positions, *(n for n in range(len(target.shape)) if n not in positions)])
    target.merge_first(len(positions))


def _give_form(target: WrittenOperand, updates: Sequence[Update], kinds: Sequence[str]) -> None:
    """Elements of 32 bits, rows of lanes, and room for whole blocks where DMAs move them."""
    target.widen()
    if len(target.shape) == 1 and set(kinds) != {"one_hot"}:
        target.fold()
        for update in updates:
            update.folded()
    if "row_dma" in kinds:
        for update in updates:
            make_movable(target, update)


#: What the kinds of updates become.
REALISE: dict[str, Callable[[Formulation], None]] = {
    "one_hot": lambda at: compare_and_reduce(at) if len(at.target.shape) == 1 else add_product(at),
    "row_loop": update_rows,
    "row_dma": update_rows_in_hbm,
}
