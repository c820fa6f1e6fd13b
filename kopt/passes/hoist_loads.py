"""The pass ``hoist-loads``: what loops read again and again is read before them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.aliases import root
from kopt.analysis.effects import is_side_effect_free
from kopt.analysis.scope import ancestors, defining_block
from kopt.analysis.streaming import is_computed, stays_inside_array
from kopt.analysis.windows import Accesses
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access, DotOp, ForOp, GridOp, LoadOp, RangeType, TransposeOp
from kopt.dialects.tile.memory import WritesMemory
from kopt.dialects.tile.types import tile_type
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding, visits
from kopt.walk import walk

#: Lanes of a vector that registers hold while a loop runs: 32 of each thread of four warps.
_VECTOR_LANES = 4096


@dataclass(frozen=True)
class HoistLoadsPass(ModulePass):
    """Loop-invariant code motion of loads: out of loops that they do not move with, inside of loops of computed bounds.

    DMAs copy the blocks of a loop of computed bounds. A hoisted block is copied once, and a visit ahead. A load stays
    where its array is written in the loop, where it is masked, and where its block might lie outside its array if the
    loop visits nothing.

        tile.for %i: b0=16 in (%lo, %hi) { tile.for %j: b1=16 in (%lo, %hi) {
          %q = tile.load %x[%i, :] …   %k = tile.load %y[%j, :] … } }
    becomes
        tile.for %i: b0=16 in (%lo, %hi) { %q = tile.load %x[%i, :] …
          tile.for %j: b1=16 in (%lo, %hi) { %k = tile.load %y[%j, :] … } }

    With ``operands``, for GPUs, the blocks of all loops move that are operands of products as they are loaded: a
    program shares such a block once, and not for each stage of the loop. So do vectors of up to 4,096 lanes, which
    registers hold, out of loops that store: out of others Triton moves them. All stay where the loop may visit nothing.

    It never refuses.
    """

    name = "hoist-loads"

    operands: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis = IndexAnalysis()
        if self.operands:
            for loop in reversed(walk(op, ForOp)):  # inner ones first: what leaves one may leave the next
                _hoist_operands(loop)
            return
        for launch in walk(op, LaunchOp):
            for loop in [inner for inner in walk(launch, ForOp) if is_computed(inner)]:
                for inner in reversed(walk(loop.body, ForOp)):
                    _hoist(inner, analysis)


def _hoist(loop: ForOp, analysis: IndexAnalysis) -> None:
    """Moves what can be out of a loop: loads, and the numbers and places that they are found by."""
    written = {op.memory for op in walk(loop) if isinstance(op, Accesses) and not isinstance(op, LoadOp)}
    for op in list(loop.body.block.ops):
        if any(defining_block(operand) is loop.body.block for operand in op.operands):
            continue
        if _is_place(op) or isinstance(op, LoadOp) and op.memory not in written and _is_safe(op, loop, analysis):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(loop))


def _is_place(op: Operation) -> bool:
    """Whether an op computes numbers or ranges, and nothing else."""
    found = [isinstance(value.type, IndexType | RangeType) for value in op.results]
    return bool(found) and all(found) and is_side_effect_free(op)


def _is_safe(load: LoadOp, loop: ForOp, analysis: IndexAnalysis) -> bool:
    """Whether a load may run though the loop makes no visit."""
    return load.mask is None and (bool(binding(loop.range).trips) or stays_inside_array(load, analysis))


def _hoist_operands(loop: ForOp) -> None:
    """Moves blocks out of a loop that nothing in the launch writes: operands of its products; vectors, if it stores."""
    body = loop.body.block
    grid = next((op for op in ancestors(loop) if isinstance(op, GridOp)), None)
    if grid is None or not _visits(loop):
        return
    written = {root(op.memory) for op in walk(grid, Access) if op.has_trait(WritesMemory)}
    stores = any(op.has_trait(WritesMemory) for op in walk(loop, Access))
    for op in list(body.ops):
        if not isinstance(op, LoadOp) or any(defining_block(operand) is body for operand in op.operands):
            continue
        if op.mask is None and root(op.memory) not in written and (_is_multiplied(op) or stores and _is_vector(op)):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(loop))


def _is_multiplied(load: LoadOp) -> bool:
    """Whether all that a block is used for are products, as it is or with its dimensions in another order."""
    users = [use.operation for use in load.result.uses]
    turned = [use.operation for op in users if isinstance(op, TransposeOp) for use in op.results[0].uses]
    straight = [op for op in users if not isinstance(op, TransposeOp)]
    return bool(users) and all(isinstance(op, DotOp) for op in (*turned, *straight))


def _is_vector(load: LoadOp) -> bool:
    """Whether a load is of one dimension, with few enough lanes to stand in registers while a loop runs."""
    shape = tile_type(load.result).shape
    return sum(size > 1 for size in shape) == 1 and prod(shape) <= _VECTOR_LANES


def _visits(loop: ForOp) -> bool:
    """Whether a loop makes a visit wherever it stands: a loop around it with the same bounds makes one."""
    around = (op for op in ancestors(loop.parent_op()) if isinstance(op, ForOp))
    return bool(visits(loop.range)) or any(op.bounds == loop.bounds for op in around)
