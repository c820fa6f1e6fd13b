"""Cycles to pick rows and elements on a TPU: of rows that copies bring, or by number from a block. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kopt.planning.at_sizes import AtSizes
from kopt.planning.blocks import ROWS, Blocks
from kopt.planning.tpu_work import Cycles, product
from kopt.planning.trips import Number
from kopt.plans.plan import Buffer
from kopt.targets.costs import PICK_CYCLES, ROW_CYCLES, VECTOR_CYCLES
from kopt.targets.tiling import FLAT


def picked(buffer: Buffer, lanes: Sequence[Number], launch: AtSizes, blocks: Blocks) -> Cycles:
    """The cycles of one access of so many ``lanes``."""
    if buffer.kind in ROWS:
        return Cycles(vpu=PICK_CYCLES * blocks.picked(buffer) / FLAT, scalar=ROW_CYCLES * blocks.rows(buffer))
    if not lanes:
        return Cycles()
    rows = blocks.shape(buffer)[0]
    compared = Cycles(vpu=2 * VECTOR_CYCLES["elementwise"] * lanes[0] * rows / FLAT)
    if buffer.kind == "pick":
        return compared
    dtype = launch.model.operand(buffer.operand).dtype
    return compared + Cycles(mxu=product(lanes[0], rows, prod(lanes[1:]), dtype, launch.costs))
