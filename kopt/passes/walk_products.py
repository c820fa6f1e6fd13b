"""The pass ``walk-products``: products of blocks too large for a GPU's program are summed part by part."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.aliases import root
from kopt.analysis.block_search import power_of_two
from kopt.analysis.cutting import can_be_cut, sources, taken_whole
from kopt.diagnostics import remark
from kopt.dialects.tile import DotOp, ForOp, FullOp, GridOp, LoadOp, RangeType, TileType, YieldOp
from kopt.dialects.tile.memory import WritesMemory
from kopt.passes.mosaic.building import type_of
from kopt.passes.retyping import new_tags
from kopt.runtime.targets import GPU_CHIPS

#: Rows and columns that matrix units take at least, and where the lanes of a part start.
_LEAST, _PART = 16, 128
#: Parts that are on their way at once.
_STAGES = 4


@dataclass(frozen=True)
class WalkProductsPass(ModulePass):
    """Makes a product over a whole dimension of arrays a loop over parts of it, where both blocks together are more
    than the memory that a program of the chip shares. A remark tells how many lanes a part has.

        %l = tile.load %x[%i, :] : memref<64x4096xf16> -> !tile.tile<b0=16 x 4096 x f16>
        %r = tile.load %w[:, %j] : memref<4096x64xf16> -> !tile.tile<4096 x b1=32 x f16>
        %d = tile.dot %l, %r : …
    becomes
        %d = tile.for %k: b2=128 in (0, 4096) iter(%a = %zero) -> (!tile.tile<b0=16 x b1=32 x f32>) {
          %l = tile.load %x[%i, %k] …   %r = tile.load %w[%k, %j] …   %s = tile.dot %l, %r, %a …   tile.yield %s }

    What is computed from such loads lane by lane goes with them. Products of what is not, and of arrays that the grid
    writes, stay as they are. It never refuses.
    """

    name = "walk-products"

    chip: str = "sm90"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        shared = GPU_CHIPS[self.chip].shared_bytes
        for grid in [inner for inner in op.walk() if isinstance(inner, GridOp)]:
            written = {root(inner.memory) for inner in grid.walk() if inner.has_trait(WritesMemory)}  # pyright: ignore
            for dot in [inner for inner in grid.walk() if isinstance(inner, DotOp)]:
                lhs, rhs = type_of(dot.lhs), type_of(dot.rhs)
                whole = not lhs.tags[-1] and _bytes(lhs, rhs, power_of_two(lhs.shape[-1])) > shared
                operands = ((dot.lhs, lhs.rank - 1), (dot.rhs, rhs.rank - 2))
                if whole and all(can_be_cut(value, dim, written) for value, dim in operands):
                    _walk(dot, shared)


def _bytes(lhs: TileType, rhs: TileType, lanes: int) -> int:
    """The bytes of both blocks of a product over some lanes."""
    element = lhs.element_type
    assert isinstance(element, FixedBitwidthType)
    rows = sum(max(_LEAST, power_of_two(size)) for size in (lhs.shape[-2], rhs.shape[-1]))
    return prod(lhs.shape[:-2]) * rows * lanes * max(8, element.bitwidth) // 8


def _walk(dot: DotOp, shared: int) -> None:
    lhs, rhs = type_of(dot.lhs), type_of(dot.rhs)
    lanes = _PART
    while lanes > _LEAST and _STAGES * _bytes(lhs, rhs, lanes) > shared:
        lanes //= 2
    start = dot.accumulator
    if start is None:
        start = _insert(FullOp(0, type_of(dot.result)), dot, InsertPoint.before(dot)).results[0]
    loop = ForOp(0, lhs.shape[-1], [start], RangeType(next(new_tags(dot)), lanes))
    _insert(loop, dot, InsertPoint.before(dot))
    loop.range.name_hint = "k"
    parts = _Parts(loop, dot)
    operands = parts.of(dot.lhs, lhs.rank - 1), parts.of(dot.rhs, rhs.rank - 2)
    product = DotOp(*operands, loop.body.block.args[1], precision=dot.precision and dot.precision.data)
    parts.add(product)
    parts.add(YieldOp(product.result))
    loop.results[0].name_hint = dot.result.name_hint
    Rewriter.replace_op(dot, [], [loop.results[0]])
    remark(loop, f"a product of blocks that are too large together goes in parts of {lanes}")


class _Parts:
    """Computes parts of values in a loop."""

    def __init__(self, loop: ForOp, source: Operation):
        self.loop, self.source = loop, source
        self._made: dict[tuple[SSAValue, int], SSAValue] = {}

    def add(self, op: Operation) -> None:
        """Puts an op at the end of the loop's body."""
        _insert(op, self.source, InsertPoint.at_end(self.loop.body.block))

    def of(self, value: SSAValue, dim: int) -> SSAValue:
        """The part of a value along one dimension that a visit needs."""
        if (value, dim) not in self._made:
            self._made[value, dim] = self._computed(value, dim)
        return self._made[value, dim]

    def _computed(self, value: SSAValue, dim: int) -> SSAValue:
        op, found = value.owner, sources(value, dim) or {}
        assert isinstance(op, Operation)
        operands = [self.of(old, found[n]) if n in found else old for n, old in enumerate(op.operands)]
        if isinstance(op, LoadOp):
            place, entries = taken_whole(op, dim), list(op.entries)
            mask = operands[list(op.operands).index(op.mask)] if op.mask is not None else None
            entries = [self.loop.range if n == place else entry for n, entry in enumerate(entries)]
            new: Operation = LoadOp(op.memory, entries, mask, op.other, op.pad, op.attributes)
        else:
            part = self.loop.range.type
            assert isinstance(part, RangeType)
            dims = [part.dim if n == dim else old for n, old in enumerate(type_of(value).dims.data)]
            type = type_of(value).with_dims(dims)
            new = op.create(operands=operands, properties=dict(op.properties), result_types=[type])
        new.results[0].name_hint = value.name_hint
        new.location = op.location
        Rewriter.insert_op(new, InsertPoint.at_end(self.loop.body.block))
        return new.results[0]


def _insert(op: Operation, source: Operation, at: InsertPoint) -> Operation:
    op.location = source.location
    Rewriter.insert_op(op, at)
    return op
