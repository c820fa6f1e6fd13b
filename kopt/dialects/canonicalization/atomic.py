"""Canonicalisations of the ``atomic`` dialect.

an unused previous value → dropped
no lanes, or a mask of false → gone; its previous value, all undefined, → full 0        a mask of true → no mask
add 0, or 0, xor 0, and -1, max of the least, min of the largest → gone, if relaxed and without a previous value
add -0.0, max of -inf, min of inf → gone likewise: x + 0.0 is not x where x is -0.0
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, i1
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.canonicalization.elementwise import constant, is_number
from kopt.dialects.canonicalization.memory import every_lane
from kopt.dialects.canonicalization.rules import Replacement, Rule, patterns
from kopt.dialects.tile.constants import FullOp
from kopt.dialects.tile.reductions import neutral
from kopt.dialects.tile.types import TileType, tile_type
from kopt.dialects.tile.values import is_float


def _no_lanes(op: RmwOp | CasOp) -> Replacement:
    """Nothing is updated."""
    type = op.operands[0].type
    assert isinstance(type, TileType) and isinstance(op.memory.type, MemRefType)
    masked = op.mask is not None and constant(op.mask) == 0
    if not masked and 0 not in type.shape and 0 not in op.memory.type.get_shape():
        return None
    return FullOp(0, type) if op.results else ()


def _unused(op: RmwOp) -> Replacement:
    """A previous value that nobody reads."""
    if not op.previous or op.previous[0].uses:
        return None
    return RmwOp(op.kind.data, op.value, op.memory, op.entries, op.mask, op.ordering.data, False, op.attributes)


def _changes_nothing(op: RmwOp) -> Replacement:
    """Every element is combined with what its kind ignores."""
    if op.previous or op.kind.data == "xchg" or op.ordering.data != "relaxed":
        return None
    element = tile_type(op.value).element_type
    ignored = -0.0 if op.kind.data == "add" and is_float(element) else neutral(op.kind.data, element)
    same = bool(constant(op.value)) if element == i1 and ignored else is_number(op.value, ignored)
    return () if same else None


RULES: dict[type[Operation], tuple[Rule, ...]] = {
    RmwOp: (_no_lanes, _unused, every_lane, _changes_nothing),
    CasOp: (_no_lanes, every_lane),
}

#: The patterns of each op, made once.
PATTERNS: dict[type[Operation], tuple[RewritePattern, ...]] = patterns(RULES)
