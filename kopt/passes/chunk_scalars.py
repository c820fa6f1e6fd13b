"""The pass ``chunk-scalars``: numbers of items beyond scalar memory arrive a chunk at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import AndIOp, DivSIOp
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, MemRefType, ModuleOp, UnitAttr, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.aliases import users
from kopt.analysis.layouts import scalar_words
from kopt.diagnostics import remark
from kopt.dialects.builder import Builder
from kopt.dialects.host import CallOp, LaunchOp, ReshapeOp, SliceOp
from kopt.dialects.tile import GridOp, IdOp, LoadOp, TileType, array_type, literal
from kopt.ir.atoms import BlockNumber
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.ranges import binding
from kopt.targets.budget import Budget
from kopt.walk import walk

#: Elements of a chunk: what a block of a 1-D array of any type may be on a TPU, and 4 KiB of scalar memory.
CHUNK = 1024


@dataclass(frozen=True)
class ChunkScalarsPass(ModulePass):
    """Tiles long arrays of scalars: a cell reads its own element from a chunk that it shares with its neighbours.

    Single elements are read from scalar memory, which an array of more than 512 KiB does not fit. Where cell ``i`` of a
    grid's dimension reads element ``i`` or ``i + 1``, a chunk of 1024 elements serves 1024 cells. Each distance from
    ``i`` gets an operand of its own, cut out on the host.

        host.launch @f (%o = %offsets …) { tile.grid (%i: b0=1) in (200000) {
          %at = tile.begin %i   %a = tile.load %o[%at] : memref<200001xi32> -> !tile.tile<i32> … } }
    becomes
        %s = host.slice %offsets [0] [200000] [1]   %p = pad to 200704   %c = host.reshape %p to memref<196x1024xi32>
        host.launch @f (%o = %c …) { tile.grid (%i: b0=1) in (200000) {
          %chunk = arith.divsi %at, 1024   %in = arith.andi %at, 1023   %a = tile.load %o[%chunk, %in] … } }

    It never refuses: arrays that are read in another way too stay as they are.
    """

    name = "chunk-scalars"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis = IndexAnalysis()
        for launch in walk(op, LaunchOp):
            for number, memory in enumerate(launch.body.block.args[: len(launch.inputs)]):
                if number not in launch.written and _is_long(memory):
                    _chunk(launch, number, memory, analysis)


@dataclass(frozen=True)
class _Walk:
    """Cell ``i`` of a grid's range reads element ``i + first``."""

    range: SSAValue
    first: int


def _is_long(memory: SSAValue) -> bool:
    """Whether an array of integers is beyond scalar memory, which has 32 bits for each."""
    type = array_type(memory)
    shape = type.get_shape()
    is_row = isinstance(type.element_type, IntegerType) and len(shape) == 1
    return is_row and not Budget.is_scalar_memory(scalar_words(shape))


def _chunk(launch: LaunchOp, number: int, memory: BlockArgument, analysis: IndexAnalysis) -> None:
    accesses = {*users(memory)}
    loads = [op for op in walk(launch) if op in accesses]
    walks = [_walk(load, memory, analysis) for load in loads]
    if not loads or None in walks:
        return
    for one in dict.fromkeys(walks):
        assert one is not None
        source = launch.inputs[number]
        chunks = _Chunks(launch, source, one).operand()
        operand = launch.body.block.insert_arg(chunks.type, len(launch.inputs))
        operand.name_hint = memory.name_hint
        launch.operands = [*launch.operands, chunks]
        for load, own in zip(loads, walks, strict=True):
            if own == one:
                _load(load, operand, one)  # pyright: ignore[reportArgumentType]
    remark(launch, f"'{memory.name_hint}' arrives in chunks of {CHUNK}: it is longer than scalar memory")


def _walk(load: Operation, memory: SSAValue, analysis: IndexAnalysis) -> _Walk | None:
    """Which element a load takes, where it is one and moves with a grid's range alone."""
    if not isinstance(load, LoadOp) or not isinstance(load.result.type, TileType) or load.result.type.rank:
        return None
    (entry,) = load.entries
    form = analysis.expr(entry) if isinstance(entry, SSAValue) else IndexExpr()
    first, block = form.const, (form - form.const).atom
    range = block.name if isinstance(block, BlockNumber) else None
    if not isinstance(range, SSAValue) or not isinstance(binding(range).owner, GridOp) or not isinstance(first, int):
        return None
    if (trips := binding(range).trips) is None:
        return None
    inside = first >= 0 and first + trips <= array_type(memory).get_shape()[0]
    return _Walk(range, first) if inside else None


class _Chunks:
    """An operand of chunks, made by host ops before a launch."""

    def __init__(self, launch: LaunchOp, source: SSAValue, walk: _Walk):
        self.launch, self.source, self.walk = launch, source, walk
        self.element = array_type(source).element_type

    def operand(self) -> SSAValue:
        """What the range's cells read, padded to whole chunks."""
        count = binding(self.walk.range).trips or 0
        rows = -(-count // CHUNK)
        build, hint = Builder(self.launch), self.source.name_hint
        part = build.add(SliceOp(self.source, [self.walk.first], [count], [1], self._type([count])), hint)
        pads = ArrayAttr([IntegerAttr(number, i64) for number in (0, rows * CHUNK - count)])
        arguments = [UnitAttr(), pads, literal(0, self.element)]
        pad = CallOp("aten.constant_pad_nd.default", [part], arguments, [self._type([rows * CHUNK])])
        return build.add(ReshapeOp(build.add(pad, hint), self._type([rows, CHUNK])), hint)

    def _type(self, shape: Sequence[int]) -> MemRefType:
        return MemRefType(self.element, shape)


def _load(load: LoadOp, operand: SSAValue, walk: _Walk) -> None:
    """The same element, in its chunk."""
    build = Builder(load)
    cell = build.add(IdOp(walk.range))
    chunk = build.add(DivSIOp(cell, build.index(CHUNK)))
    inside = build.add(AndIOp(cell, build.index(CHUNK - 1)))
    value = build.add(LoadOp(operand, [chunk, inside], attributes=load.attributes), load.result.name_hint)
    Rewriter.replace_op(load, [], [value])
