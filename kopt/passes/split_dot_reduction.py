"""The pass ``split-dot-reduction``: a GPU's products over whole dimensions are summed part by part, in a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.aliases import root
from kopt.analysis.gpu_blocks import summed_lanes
from kopt.analysis.splits import chosen_sizes
from kopt.analysis.splittable_dims import can_be_cut
from kopt.diagnostics import remark
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    DotOp,
    ForOp,
    GridOp,
    OpenBlock,
    RangeType,
    TileType,
    YieldOp,
    mark_open,
    range_type,
    tag_of,
    tile_type,
)
from kopt.dialects.tile.memory import WritesMemory
from kopt.ir.widths import next_power_of_two
from kopt.passes.dce import eliminate
from kopt.passes.meaning import REASSOCIATES
from kopt.passes.parts import Parts
from kopt.passes.retyping import new_tags
from kopt.passes.set_blocks import resize
from kopt.targets.budget import Budget
from kopt.targets.chips import GPU_CHIPS, GpuChip, chip_option
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
    beside the product of one. A part has as many lanes as cost the least by the model; a remark tells how many.

        %l = tile.load %x[%i, :] : memref<64x4096xf16> -> !tile.tile<b0=16 x 4096 x f16>
        %r = tile.load %w[:, %j] : memref<4096x64xf16> -> !tile.tile<4096 x b1=32 x f16>
        %d = tile.dot %l, %r : …
    becomes
        %d = tile.for %k: b2=128 in (0, 4096) iter(%a = %zero) -> (!tile.tile<b0=16 x b1=32 x f32>) {
          %l = tile.load %x[%i, %k] …   %r = tile.load %w[%k, %j] …   %s = tile.dot %l, %r, %a …   tile.yield %s }

    What is computed from such loads lane by lane goes with them. Products of what is not, and of arrays that the grid
    writes, stay as they are. It never refuses.

    With ``open-blocks``, while block sizes are not chosen, it makes loops of those products alone that are loops at any
    sizes. The loops are marked ``tile.open``: models then take the part that is the best for each choice of sizes.
    """

    name = "split-dot-reduction"
    meaning = REASSOCIATES

    chip: str = chip_option(GPU_CHIPS, "sm90")
    open_blocks: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        budget = Budget(GPU_CHIPS[self.chip])
        for grid in walk(op, GridOp):
            written = {root(inner.memory) for inner in walk(grid) if inner.has_trait(WritesMemory)}  # pyright: ignore
            loops = []
            for dot in walk(grid, DotOp):
                lhs, rhs = tile_type(dot.lhs), tile_type(dot.rhs)
                operands = ((dot.lhs, lhs.rank - 1), (dot.rhs, rhs.rank - 2))
                if self._is_walked(dot, budget) and all(can_be_cut(value, dim, written) for value, dim in operands):
                    loops.append(_walk(dot, budget))
            if loops:
                eliminate(grid.body)  # what was loaded whole takes registers in models
            if loops and not self.open_blocks:
                _choose(grid, loops, budget.gpu)

    def _is_walked(self, dot: DotOp, budget: Budget) -> bool:
        """Whether a product over a whole dimension goes in parts: at any sizes of blocks, where these are open."""
        lhs = tile_type(dot.lhs)
        pays = isinstance(dot.parent_op(), GridOp) and lhs.shape[-1] >= _MANY * _PART
        return not lhs.tags[-1] and (pays or not budget.shares(_shared(dot, budget, self.open_blocks)))


def _shared(dot: DotOp, budget: Budget, least: bool) -> int:
    """The bytes of the blocks of a product that a program shares, or the ``least`` that they may be: on AMD's chips
    what stays for all visits has registers."""
    in_registers = budget.gpu.backend == "hip"
    pairs = zip((dot.lhs, dot.rhs), _bytes(dot, least), strict=True)
    each = sum(size for value, size in pairs if not (in_registers and value.owner.parent is not dot.parent))
    return each * next_power_of_two(tile_type(dot.lhs).shape[-1])


def _bytes(dot: DotOp, least: bool = False) -> tuple[int, int]:
    """The bytes of rows and columns for each lane that a product sums over; blocks have one of them at ``least``."""
    lhs, rhs = tile_type(dot.lhs), tile_type(dot.rhs)
    rows, columns = ([1 if least and dim.tag.data else dim.size.data for dim in type.dims.data] for type in (lhs, rhs))
    element = prod(rows[:-2]) * max(8, _bits(lhs)) // 8
    left, right = (element * max(_LEAST, next_power_of_two(lanes)) for lanes in (rows[-2], columns[-1]))
    return left, right


def _bits(type: TileType) -> int:
    assert isinstance(type.element_type, FixedBitwidthType)
    return type.element_type.bitwidth


def _walk(dot: DotOp, budget: Budget) -> ForOp:
    """Makes a product a loop, whose block is open; its size is one with which a program shares what is on its way."""
    lhs, rhs = tile_type(dot.lhs), tile_type(dot.rhs)
    each, lanes = sum(_bytes(dot)), _PART
    while lanes > _LEAST and not budget.shares_stages(each * lanes):
        lanes //= 2
    build, start = Builder(dot), dot.accumulator
    if start is None:
        start = build.full(0, dot.result)
    loop = build.insert(ForOp(0, lhs.shape[-1], [start], RangeType(next(new_tags(dot)), lanes)))
    least, most = summed_lanes(lhs.shape[-1], _bits(lhs) >= 32)
    mark_open(loop, [OpenBlock((tag_of(loop.range),), least, most)])
    loop.range.name_hint = "k"
    parts = Parts(loop)
    operands = parts.of(dot.lhs, lhs.rank - 1), parts.of(dot.rhs, rhs.rank - 2)
    product = DotOp(*operands, loop.body.block.args[1], precision=dot.precision and dot.precision.data)
    parts.run(product, dot)
    parts.run(YieldOp(product.result), dot)
    loop.results[0].name_hint = dot.result.name_hint
    Rewriter.replace_op(dot, [], [loop.results[0]])
    return loop


def _choose(grid: GridOp, loops: Sequence[ForOp], chip: GpuChip) -> None:
    """Gives open loops of a grid the sizes that cost the least."""
    resize(grid, chosen_sizes(grid, chip))
    for loop in loops:
        mark_open(loop, ())
        remark(loop, f"a product over a whole dimension goes in parts of {range_type(loop.range).size}")
