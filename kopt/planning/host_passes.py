"""What the host does around a TPU's kernel: passes over arrays that lay them out anew, pad and slice them. Pure.

A pass takes as long as it moves bytes, but for short vectors: those that XLA pads and lays out in rows of blocks take
about a microsecond each, however short they are.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from kopt.open_extents import is_open
from kopt.planning.at_sizes import AtSizes
from kopt.planning.blocks import EXPOSED, SCALAR, SCRATCH, Blocks
from kopt.planning.padding import STREAMED
from kopt.planning.trips import Number, value
from kopt.plans.plan import Buffer, Plan
from kopt.targets.costs import VECTOR_SECONDS
from kopt.targets.tiling import LANES

#: Times that a pass of the host over an array moves it: it is read and written, of slices most is read only.
_PASSES = {"slice": 1}
_PASS = 2


def host_bytes(launch: AtSizes, plan: Plan, blocks: Blocks) -> Number:
    """The bytes that the host moves for the views of a plan, and for arrays that its blocks reach beyond."""
    passes = ((name, _PASSES.get(view, _PASS)) for name, views in plan.views.items() for view in views)
    laid_out = sum((times * blocks.array_size(name) for name, times in passes), 0)
    return laid_out + sum(_padded_bytes(buffer, launch, blocks) for buffer in plan.buffers)


def _padded_bytes(buffer: Buffer, launch: AtSizes, blocks: Blocks) -> Number:
    """Bytes that the host moves to pad the array of a buffer, and to slice it."""
    if buffer.kind not in STREAMED:
        return 0
    passes = _PASS * blocks.reads(buffer) + _PASSES["slice"] * blocks.writes(buffer)
    padded = launch.is_padded(buffer.operand, buffer.kind == "emit_pipeline")
    return padded * passes * blocks.array_size(buffer.operand)


def host_seconds(moved: Number, launch: AtSizes, plan: Plan, blocks: Blocks) -> Number:
    """Seconds in which the host moves some bytes for a plan, and lays vectors out that are padded."""
    vectors = sum((_is_padded_vector(buffer, launch, blocks) for buffer in plan.buffers), 0)
    return moved / (launch.costs.host_share * launch.costs.bytes_per_second) + VECTOR_SECONDS * vectors


def _is_padded_vector(buffer: Buffer, launch: AtSizes, blocks: Blocks) -> Number:
    """Whether XLA pads a vector and gives each block a row of its own: blocks of fewer lanes than a row has, which do
    not divide it."""
    operand, lanes = launch.model.operand(buffer.operand), [one.relation.lanes for one in blocks.accesses(buffer)]
    if buffer.kind in (*EXPOSED, *SCALAR, SCRATCH) or len(operand.shape) != 1 or {*map(len, lanes)} != {1}:
        return 0
    if is_open(extent := operand.shape[0]):
        return 0
    extent = value(extent, launch.sizes)
    size = reduce(np.maximum, (value(count, launch.sizes) for (count,) in lanes))
    return (size < np.minimum(LANES * 32 // operand.bits, extent)) & (extent % np.maximum(size, 1) != 0)
