"""What the host does around a TPU's kernel: passes over arrays that lay them out anew, pad and slice them. Pure."""

from __future__ import annotations

from kopt.planning.at_sizes import AtSizes
from kopt.planning.blocks import Blocks
from kopt.planning.padding import STREAMED
from kopt.planning.trips import Number
from kopt.plans.plan import Buffer, Plan

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
