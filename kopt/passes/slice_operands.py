"""The pass ``slice-operands``: arrays of which a launch gathers from a bounded part come as that part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.aliases import users
from kopt.analysis.values.form import element_bits
from kopt.diagnostics import remark
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp, SliceOp
from kopt.dialects.tile import (
    ELEMENTWISE,
    FullOp,
    LoadOp,
    TileType,
    array_type,
    is_gather,
    is_number,
    is_range,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.ir.access_relation import AccessRelation, Step
from kopt.ir.atoms import Element
from kopt.ir.from_access import relation_of
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.polynomial import Coefficient
from kopt.ir.value_range import EMPTY
from kopt.open_extents import open_extents
from kopt.passes.replacing import replacing
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES, sublanes
from kopt.walk import walk

#: A slice is a copy by the host: of less than this share of the array.
_SHARE = 2
#: One dimension's elements, from the first to below the last.
Part = tuple[int, int]


@dataclass(frozen=True)
class SliceOperandsPass(ModulePass):
    """Shrinks operands: an array that a launch only reads comes as a slice, where gathers stay in a known part of it.

    A gather brings the whole of its operand to the chip. If a kernel reads an array at ``(i * 3 + j) % 37``, 37
    elements are enough. The bounds come from the access relations, masks included. Parts begin and end at tiles of
    memory. Each slice is a remark.

        %n = host.launch @f (%a = %x) … { … %v = tile.load %a[%at] : memref<200000xf32> -> … }   // 1024 to 1060
    becomes
        %s = host.slice %x [1024] [128] [1] : memref<200000xf32> to memref<128xf32>
        %n = host.launch @f (%a = %s) … { … %v = tile.load %a[%at - 1024] : memref<128xf32> -> … }

    It never refuses. A part of more than half of an array, or of more than 1 MiB, is no slice; nor are blocks, which
    windows follow.
    """

    name = "slice-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            analysis = IndexAnalysis()
            found = [_parts(memory, analysis) for memory in launch.body.block.args[: len(launch.inputs)]]
            for number, parts in enumerate(found):
                if parts is not None and number not in launch.written:
                    _slice(launch, number, parts)


def _parts(memory: BlockArgument, analysis: IndexAnalysis) -> list[Part] | None:
    """The part of an array that is read, where it is small and no window follows the loads."""
    shape, loads = array_type(memory).get_shape(), [op for op in users(memory) if isinstance(op, LoadOp)]
    if open_extents(shape) or len(loads) < len(users(memory)) or all(_is_block(load, analysis) for load in loads):
        return None
    relations = [relation_of(load, analysis) for load in loads]
    if not any(map(_is_gathered, loads, relations)):
        return None
    parts = [_part(dim, loads, relations, _tile(memory)[dim - len(shape)]) for dim in range(len(shape))]
    count = prod(stop - start for start, stop in parts)
    is_small = count * _SHARE <= prod(shape) and not Budget.is_large(count * element_bits(memory) // 8)
    return parts if is_small else None


def _is_block(load: LoadOp, analysis: IndexAnalysis) -> bool:
    """Whether a load takes a block that a window follows."""
    values = [entry for entry in load.entries if isinstance(entry, SSAValue)]
    return not any(map(is_gather, values)) and all(analysis.first(value).is_affine for value in values)


def _is_gathered(load: LoadOp, relation: AccessRelation) -> bool:
    """Whether no window follows a load: it is no block, nor a contiguous run, that begins where one may."""
    if not load.gathers:
        return not all(index.is_affine for index in relation.indices)
    box, run = relation.box, relation.run
    if box is not None:
        return not all(_is_followed(step, extent) for step, extent in zip(box, relation.shape, strict=True))
    in_order = all(peeled.is_whole and not peeled.backward for peeled in run.dims)
    return not (in_order and relation.runs == 1 and _begins_at_multiples(run.start, run.length))


def _is_followed(step: Step, extent: Coefficient) -> bool:
    """Whether windows follow one dimension of a box: single elements, blocks that begin at their multiples, or all.

    They follow no lane of a tile.
    """
    if any(isinstance(atom, Element) for atom in step.start.atoms()):
        return False
    if step.dim is None or step.step == 1 and step.start == ZERO and step.lanes == extent:
        return True
    return step.step == 1 and _begins_at_multiples(step.start, step.lanes)


def _begins_at_multiples(start: IndexExpr, lanes: Coefficient) -> bool:
    """Whether cells of a grid begin blocks at multiples of their lanes."""
    return not start.is_constant and isinstance(lanes, int) and start.divisor % lanes == 0


def _tile(memory: SSAValue) -> tuple[int, ...]:
    """The extents of a tile of an array's memory in the last dimensions."""
    shape = array_type(memory).get_shape()
    return (*(1 for _ in shape), sublanes(element_bits(memory)), LANES)


def _part(dim: int, loads: Sequence[LoadOp], relations: Sequence[AccessRelation], tile: int) -> Part:
    """The part of one dimension that all loads stay in: whole tiles; from 0 on where blocks are counted from there."""
    extent, known = array_type(loads[0].memory).get_shape()[dim], EMPTY
    entries = [load.entries[dim] for load in loads]
    if not all(is_number(entry) or is_gather(entry) or is_range(entry) for entry in entries):
        return 0, extent
    for relation in relations:
        known = known.union(relation.domain.range_of(relation.indices[dim]))
    if known.is_empty or known.low is None or known.high is None:
        return 0, extent
    start = 0 if any(map(is_range, entries)) else max(0, min(known.low, extent)) // tile * tile
    return start, max(start, min(extent, (known.high // tile + 1) * tile))


def _slice(launch: LaunchOp, number: int, parts: Sequence[Part]) -> None:
    """Hands a part of an array to the launch."""
    source, memory = launch.inputs[number], launch.body.block.args[number]
    starts, sizes = [start for start, _ in parts], [stop - start for start, stop in parts]
    if not all(sizes):
        return
    for load in users(memory):
        assert isinstance(load, LoadOp)
        _move(load, starts)
    op = SliceOp(source, starts, sizes, [1] * len(sizes), type := _with_shape(memory, sizes))
    op.location, op.result.name_hint = launch.location, source.name_hint
    Rewriter.insert_op(op, InsertPoint.before(launch))
    launch.operands[number] = op.result
    Rewriter.replace_value_with_new_type(memory, type)
    where = ", ".join(f"{start}:{stop}" for start, stop in parts)
    remark(launch, f"'{memory.name_hint}' is sliced to [{where}]: nothing else of it is read")


def _with_shape(memory: SSAValue, sizes: Sequence[int]) -> MemRefType:
    return MemRefType(array_type(memory).element_type, sizes)


def _move(load: LoadOp, starts: Sequence[int]) -> None:
    """Lets a load count from where a part starts."""
    build = Builder(load)
    entries = [_moved(entry, start, build) for entry, start in zip(load.entries, starts, strict=True)]
    found = replacing(load, LoadOp(load.memory, entries, load.mask, load.other, load.pad, load.attributes))
    found.result.name_hint = load.result.name_hint
    Rewriter.replace_op(load, found)


def _moved(entry: Entry, start: int, build: Builder) -> Entry:
    if isinstance(entry, int):
        return entry - start
    if start == 0 or not isinstance(entry, SSAValue):
        return entry
    if isinstance(entry.type, TileType):
        return build.add(ELEMENTWISE["sub"](entry, build.add(FullOp(start, tile_type(entry)))))
    return build.add(arith.SubiOp(entry, build.index(start)))
