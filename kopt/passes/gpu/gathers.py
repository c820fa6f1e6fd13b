"""What rewrites for GPUs share that pick lanes by number: Triton's ``tl.gather`` is `tile.take_along`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from kopt.diagnostics import location_of
from kopt.dialects import tile
from kopt.dialects.builder import Builder
from kopt.errors import LoweringError
from kopt.ir.ranges import always_full, ranges_in_scope

#: Says that every lane number of a gather is inside its input, once both have powers of two as sizes.
INSIDE = "triton.inside"


def gather(op: Operation, value: SSAValue, numbers: SSAValue, dim: int, inside: bool) -> SSAValue:
    """The lanes of a value along one dimension by number; ``inside``: none is outside, else nothing uses such lanes."""
    gather = tile.TakeAlongOp(value, numbers, dim)
    gather.attributes[INSIDE if inside else tile.SPARE] = UnitAttr()
    return Builder(op).add(gather)


def refuse_ragged(op: Operation, tags: Sequence[str]) -> None:
    """Refuses to move lanes of a block that may be ragged to where masks no longer find them."""
    scope = ranges_in_scope(op)
    for tag in tags:
        if tag and tag in scope and not always_full(scope[tag]):
            raise LoweringError(
                f"'{op.name}' moves lanes of {tag}, whose last block may be ragged: Triton has no form for it",
                location_of(op),
                notes=[f"choose a block size for {tag} that divides the distance walked"],
                id="gpu-block",
            )
