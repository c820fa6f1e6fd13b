"""Block divisibility: how large blocks may be whose begin, divided, names one row for all of their lanes.

Pure. In ``scales[tile.begin // 64]`` the lanes of a block share a row only where blocks of 64 hold theirs. Sizes are
open here: a block begins at its number times a size that is not chosen yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import SSAValue

from kopt.dialects.tile import Access, RangeType
from kopt.ir.atoms import BlockNumber
from kopt.ir.division import FloorDiv
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.polynomial import quotient
from kopt.walk import walk


def most_lanes(module: ModuleOp, analysis: IndexAnalysis) -> dict[str, int]:
    """The largest power of two, by tag, whose blocks have one quotient each, for blocks whose quotients name rows.

    ``analysis`` has their sizes open.
    """
    most: dict[str, int] = {}
    for op in walk(module, Access):
        rows = [entry for entry in op.entries if isinstance(entry, SSAValue) and isinstance(entry.type, IndexType)]
        quotients = (atom for row in rows for atom in analysis.expr(row).atoms() if isinstance(atom, FloorDiv))
        for tag, lanes in (pair for atom in quotients for pair in _lanes(atom)):
            most[tag] = min(lanes, most.get(tag, lanes))
    return most


def _lanes(atom: FloorDiv) -> Iterator[tuple[str, int]]:
    """How many lanes of the blocks that a dividend counts share a quotient.

    Blocks that do not begin where groups of so many do are left alone: their lanes share none, whatever is chosen.
    """
    by, const = atom.divisor.number, atom.dividend.const
    if by is None or not isinstance(const, int):
        return
    for block, factor in atom.dividend.terms.items():
        step = quotient(factor, block.size) if isinstance(block, BlockNumber) else None
        if not isinstance(block, BlockNumber) or not isinstance(step, int) or step < 1:
            continue
        shared = by // step if by % step == 0 else 1
        lanes = shared & -shared
        if const % (step * lanes) == 0:
            assert isinstance(block.name, SSAValue) and isinstance(block.name.type, RangeType)
            yield block.name.type.tag, lanes
