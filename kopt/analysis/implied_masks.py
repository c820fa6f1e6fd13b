"""Masks that other masks imply: of two nested selects with one fill, the condition that is enough. Pure.

%a = tile.select %window, %x, %fill   %b = tile.select %inside, %a, %fill     // %window holds only where %inside does
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.dialects.tile import FullOp, SelectOp
from kopt.ir.condition import known_where
from kopt.ir.from_ssa import IndexAnalysis


def implied_choice(outer: SelectOp, analysis: IndexAnalysis) -> tuple[SSAValue, SSAValue] | None:
    """The condition and the value of one select in place of two nested ones; None where neither implies the other."""
    inner = outer.on_true.owner
    if not isinstance(inner, SelectOp) or not _are_same(inner.on_false, outer.on_false):
        return None
    here, before = analysis.condition(outer.condition), analysis.condition(inner.condition)
    if known_where(here, before):
        return inner.condition, inner.on_true
    return (outer.condition, inner.on_true) if known_where(before, here) else None


def _are_same(first: SSAValue, second: SSAValue) -> bool:
    """Whether two fills are one value, or the same constant."""
    if first is second:
        return True
    one, other = first.owner, second.owner
    return isinstance(one, FullOp) and isinstance(other, FullOp) and one.value == other.value
