"""The pass ``permute-array-layout``: arrays stand so that the rows that a loop fetches follow one another."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.aliases import users
from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Entry, GridOp, LoadOp, RangeType, StoreOp, array_type, is_gather, is_number
from kopt.ir.atoms import Atom, BlockNumber
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding
from kopt.passes.permuting import permute
from kopt.walk import walk


@dataclass(frozen=True)
class PermuteArrayLayoutPass(ModulePass):
    """Permutes dimensions: those indexed by single elements go in front of those that unaligned blocks walk.

    A tile of memory holds 8 rows of the second-last dimension; each row of another dimension is a tile of its own. The
    array is transposed on the host, and a result back, with a remark.

        tile.for %k: b0=64 in (%lo, %hi) { %v = tile.load %q[%k, %head, :] : memref<9999x4x128xf32> -> … }
    becomes
        %r = host.permute %q [1, 0, 2]
        tile.for %k: b0=64 in (%lo, %hi) { %v = tile.load %r[%head, %k, :] : memref<4x9999x128xf32> -> … }

    Arrays that anything but loads and stores of blocks touches stay as they are.
    """

    name = "permute-array-layout"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            for number, memory in enumerate(launch.body.block.args):
                order = _order(memory, IndexAnalysis())  # the array before this one may have other accesses now
                if order is not None:
                    name = memory.name_hint or f"operand {number}"
                    remark(
                        launch, f"'{name}' is transposed to {order}: blocks of rows that begin anywhere are tiles then"
                    )
                    permute(launch, number, order)


def _order(memory: SSAValue, analysis: IndexAnalysis) -> list[int] | None:
    """The order of an array's dimensions that brings its rows together; None where they are, or cannot be."""
    accesses = users(memory)
    rank = array_type(memory).get_num_dims()
    if rank < 3 or not accesses or not all(isinstance(op, LoadOp | StoreOp) for op in accesses):
        return None
    columns = list(zip(*(op.entries for op in accesses), strict=True))  # pyright: ignore
    if any(is_gather(entry) for column in columns for entry in column):
        return None
    picked = [dim for dim, column in enumerate(columns) if all(map(is_number, column))]
    kept = [dim for dim in range(rank) if dim not in picked]
    walked = [dim for dim in kept if any(_begins_anywhere(entry, analysis) for entry in columns[dim])]
    if len(kept) < 2 or not walked or not any(walked[0] < dim and dim >= rank - 2 for dim in picked):
        return None
    return [*picked, *kept]


def _begins_anywhere(entry: Entry, analysis: IndexAnalysis) -> bool:
    """Whether blocks begin at elements that are only known when the kernel runs."""
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, RangeType):
        return False
    first = analysis.begin(entry)
    return not all(map(_is_told_by_grid, first.terms)) and first.divisor % binding(entry).size != 0


def _is_told_by_grid(atom: Atom) -> bool:
    range = atom.name if isinstance(atom, BlockNumber) else None
    return isinstance(range, SSAValue) and isinstance(binding(range).owner, GridOp)
