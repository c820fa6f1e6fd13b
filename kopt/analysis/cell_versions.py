"""Loop versioning by cells: which cells of a grid have loops with the same trip counts. Pure.

tile.grid (%i: b0=512) in (2048) { … tile.for %j: b1=512 in (0, %i.begin) … }     // 0, 1, 2 and 3 visits
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from kopt.dialects.tile import ForOp, GetOp, GridOp, PutOp, YieldOp
from kopt.ir.atoms import BlockNumber, Element, Lane, Symbol
from kopt.ir.evaluation import evaluate
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.ranges import binding, visits
from kopt.planning.versions import MOST_VERSIONS, alike
from kopt.walk import walk

#: As many blocks of the grid's axis, at most, are looked at.
_MOST_BLOCKS = 4096


@dataclass(frozen=True)
class Version:
    """The blocks ``first`` to ``last`` of a grid's axis, in which loops walk so many elements each."""

    first: int
    last: int
    walked: tuple[int, ...]


@dataclass(frozen=True)
class Versions:
    """A partition of the blocks of a grid's ``range``, by what the ``loops`` walk in them."""

    range: SSAValue
    loops: tuple[ForOp, ...]
    versions: tuple[Version, ...]


def cell_versions(grid: GridOp) -> Versions | None:
    """The versions of a grid's body whose loops have known trips; None where none or too many are needed."""
    loops = [op for op in grid.body.block.ops if isinstance(op, ForOp) and binding(op.range).trips is None]
    if all(visits(loop.range) is not None for loop in loops) or not _is_plain(grid):
        return None
    analysis = IndexAnalysis()
    distances = [upper - lower for lower, upper in (map(analysis.expr, loop.bounds) for loop in loops)]
    range = _only_range(distances)
    blocks = None if range is None or range not in grid.ranges else binding(range).trips
    if range is None or blocks is None or blocks > _MOST_BLOCKS:
        return None
    numbers = np.arange(blocks)
    arrays = [np.broadcast_to(evaluate(one, {range: numbers}), numbers.shape) for one in distances]
    walked = np.maximum(np.array(arrays), 0).T.tolist()
    versions = tuple(Version(first, last - 1, tuple(walked[first])) for first, last in alike(walked))
    return Versions(range, tuple(loops), versions) if 1 < len(versions) <= MOST_VERSIONS else None


def _is_plain(grid: GridOp) -> bool:
    """Whether the body does nothing but compute, and read and write blocks of its windows."""
    plain = (ForOp, GetOp, PutOp, YieldOp)
    return (
        not grid.reduction_dims
        and not grid.ordered_dims
        and all(
            isinstance(op, plain) or (op.name.startswith(("tile.", "arith.")) and not op.regions)
            for op in walk(grid.body)
        )
    )


def _only_range(distances: Sequence[IndexExpr]) -> SSAValue | None:
    """The one range whose block number tells all distances."""
    atoms = [atom for one in distances for atom in one.atoms()]
    names = {atom.name for atom in atoms if isinstance(atom, BlockNumber)}
    if len(names) != 1 or any(isinstance(atom, Symbol | Element | Lane) for atom in atoms):
        return None
    (name,) = names
    return name if isinstance(name, SSAValue) else None
