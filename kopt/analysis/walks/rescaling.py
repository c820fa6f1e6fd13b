"""Sums that are mended as a running maximum grows, the online softmax: recognised by algebra. Pure.

A sum of ``f * exp(k * (x - t))``, where ``t`` is the maximum of ``x`` and ``f`` does not depend on it, is proportional
to ``exp(-k * t)``. So a sum over some of the lanes, made with their maximum, is that with a larger one times
``exp(k * (old - new))``. No term of it is larger than its ``f`` on the way. Minima are alike, with negative ``k``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from kopt.analysis.powers import Powers
from kopt.analysis.walks.walkable import Sink
from kopt.dialects.tile import DotOp, ReduceOp, SelectOp, is_float, tile_type


@dataclass(frozen=True)
class Rescaling:
    """How a sum is mended: by ``exp(rate * (new - old))`` of what ``shift`` is for the new and the old ``top``.

    The shift is the maximum or minimum ``top`` itself; or 0 where that is infinite, if ``guarded``. ``dims`` are the
    dimensions of the sum's result that those of the shift stand along.
    """

    top: ReduceOp
    shift: SSAValue
    rate: float
    dims: tuple[int, ...]

    @property
    def guarded(self) -> bool:
        """Whether the shift is a number where the top is infinite."""
        return isinstance(self.shift.owner, SelectOp)


def rescaling(sink: Sink, top: ReduceOp) -> Rescaling | None:
    """How a reduction is mended while a maximum or minimum that it depends on changes; None where it is not."""
    op = sink.op
    summed = isinstance(op, DotOp) or isinstance(op, ReduceOp) and is_float(tile_type(op.input).element_type)
    found = Powers(top.result, top).of(op.results[0]) if summed else None
    if found is None or found.shift is None or not found.rate:
        return None
    return Rescaling(top, found.shift, found.rate, found.dims)
