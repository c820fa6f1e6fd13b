"""The pass ``split-dot-reduction``: a GPU's products over whole dimensions are summed part by part, in a loop."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.aliases import root
from kopt.analysis.splittable_dims import can_be_cut
from kopt.diagnostics import remark
from kopt.dialects.builder import Builder
from kopt.dialects.tile import DotOp, ForOp, GridOp, RangeType, TileType, YieldOp, tile_type
from kopt.dialects.tile.memory import WritesMemory
from kopt.ir.widths import next_power_of_two
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.parts import Parts
from kopt.passes.retyping import new_tags
from kopt.targets.budget import Budget
from kopt.targets.chips import GPU_CHIPS, chip_option
from kopt.walk import walk

#: Rows and columns that matrix units take at least, and where the lanes of a part start.
_LEAST, _PART = 16, 128
#: Parts from which on a loop has loads of later ones under way beside its products.
_MANY = 4


@dataclass(frozen=True)
class SplitDotReductionPass(ModulePass):
    """Makes a product over a whole dimension of arrays a loop over parts of it (a K loop).

    It does so where both blocks together are more than the memory that a program of the chip shares. On AMD's chips
    blocks from outside of the loop around the product have registers, and count for nothing. It does so also where no
    loop is around the product and the dimension has four parts or more: the loop is pipelined, and loads later parts
    beside the product of one. A remark tells how many lanes a part has.

        %l = tile.load %x[%i, :] : memref<64x4096xf16> -> !tile.tile<b0=16 x 4096 x f16>
        %r = tile.load %w[:, %j] : memref<4096x64xf16> -> !tile.tile<4096 x b1=32 x f16>
        %d = tile.dot %l, %r : …
    becomes
        %d = tile.for %k: b2=128 in (0, 4096) iter(%a = %zero) -> (!tile.tile<b0=16 x b1=32 x f32>) {
          %l = tile.load %x[%i, %k] …   %r = tile.load %w[%k, %j] …   %s = tile.dot %l, %r, %a …   tile.yield %s }

    What is computed from such loads lane by lane goes with them. Products of what is not, and of arrays that the grid
    writes, stay as they are. It never refuses.
    """

    name = "split-dot-reduction"
    meaning = REASSOCIATES

    chip: str = chip_option(GPU_CHIPS, "sm90")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        budget = Budget(GPU_CHIPS[self.chip])
        for grid in walk(op, GridOp):
            written = {root(inner.memory) for inner in walk(grid) if inner.has_trait(WritesMemory)}  # pyright: ignore
            for dot in walk(grid, DotOp):
                lhs, rhs = tile_type(dot.lhs), tile_type(dot.rhs)
                pays = dot.parent is grid.body.block and lhs.shape[-1] >= _MANY * _PART
                whole = not lhs.tags[-1] and (pays or not budget.shares(_shared(dot, budget)))
                operands = ((dot.lhs, lhs.rank - 1), (dot.rhs, rhs.rank - 2))
                if whole and all(can_be_cut(value, dim, written) for value, dim in operands):
                    _walk(dot, budget)


def _shared(dot: DotOp, budget: Budget) -> int:
    """The bytes of the blocks of a product that a program shares: on AMD's chips what stays for all visits has
    registers."""
    lhs, rhs = tile_type(dot.lhs), tile_type(dot.rhs)
    pairs = ((dot.lhs, _bytes(lhs, lhs.shape[-2])), (dot.rhs, _bytes(lhs, rhs.shape[-1])))
    in_registers = budget.gpu.backend == "hip"
    each = sum(size for value, size in pairs if not (in_registers and value.owner.parent is not dot.parent))
    return each * next_power_of_two(lhs.shape[-1])


def _bytes(lhs: TileType, rows: int) -> int:
    """The bytes of so many rows, or columns, for each lane that a product sums over."""
    element = lhs.element_type
    assert isinstance(element, FixedBitwidthType)
    return prod(lhs.shape[:-2]) * max(_LEAST, next_power_of_two(rows)) * max(8, element.bitwidth) // 8


def _walk(dot: DotOp, budget: Budget) -> None:
    lhs, rhs = tile_type(dot.lhs), tile_type(dot.rhs)
    each, lanes = _bytes(lhs, lhs.shape[-2]) + _bytes(lhs, rhs.shape[-1]), _PART
    while lanes > _LEAST and not budget.shares_stages(each * lanes):
        lanes //= 2
    build, start = Builder(dot), dot.accumulator
    if start is None:
        start = build.full(0, dot.result)
    loop = build.insert(ForOp(0, lhs.shape[-1], [start], RangeType(next(new_tags(dot)), lanes)))
    loop.range.name_hint = "k"
    parts = Parts(loop)
    operands = parts.of(dot.lhs, lhs.rank - 1), parts.of(dot.rhs, rhs.rank - 2)
    product = DotOp(*operands, loop.body.block.args[1], precision=dot.precision and dot.precision.data)
    parts.run(product, dot)
    parts.run(YieldOp(product.result), dot)
    loop.results[0].name_hint = dot.result.name_hint
    Rewriter.replace_op(dot, [], [loop.results[0]])
    remark(loop, f"a product over a whole dimension goes in parts of {lanes}")
