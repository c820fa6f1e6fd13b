"""Elements of an array of one dimension that all lie near one number, as their index tells. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from kopt.analysis.values.form import GatherForm, element_bits
from kopt.dialects.tile import LoadOp, array_type
from kopt.ir.access_relation import settled
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.nearness import near
from kopt.ir.to_ssa import IndexWriter
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES

#: Elements of the block that come for one that is picked, at most.
_FETCHED = 64


@dataclass(frozen=True)
class Bounded:
    """All elements are in ``rows`` × 128 that follow one another from ``first`` on."""

    first: IndexExpr
    rows: int


def bounded(load: LoadOp, analysis: IndexAnalysis) -> Bounded | None:
    """The block that has all elements of a load; None where nothing bounds them, or it is much for what is picked."""
    (entry,) = load.entries if len(load.entries) == 1 else (None,)
    if not isinstance(entry, SSAValue) or element_bits(load.memory) > 32:
        return None
    extent, (shape,) = array_type(load.memory).get_shape()[0], GatherForm.of(load.memory, load.entries).parts
    if not isinstance(shape, tuple):
        return None
    found, count = near(settled(analysis.expr(entry), extent)), prod(shape)
    if found is None or not IndexWriter.can_write(found.base) or (size := found.distance.size) is None:
        return None
    rows = -(-size // LANES)
    if not Budget.picks(count, prod(shape[1:])) or size > count * _FETCHED or rows * LANES > extent:
        return None
    return Bounded(found.base + (found.distance.low or 0), rows)
