"""Canonicalisations of the ``host`` dialect.

%w = call "aten.cumsum…"(%x) : i64   copy %w to %a : i64, i32  →  the sums in i32: they wrap, as the copy does
%new = launch (%a = %x) writes [0] { }  →  %x
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, MemRefType, StringAttr, i64
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from kopt.dialects.canonicalization.rules import Replacement, Rule, patterns
from kopt.dialects.formats.integers import ints_of
from kopt.dialects.host.calls import CallOp, keywords_of
from kopt.dialects.host.launch import LaunchOp
from kopt.dialects.host.storage import AllocOp, CopyOp
from kopt.dialects.tile.types import array_type

#: Sums and products of integers, which wrap: low bits of a result follow from low bits of the operands.
_WRAPPING = ("aten.cumprod.default", "aten.cumsum.default", "aten.sum.default", "aten.sum.dim_IntList")


def _narrowed(op: CallOp) -> Replacement:
    """Sums in 64 bits of which only fewer are kept."""
    if op.callee.data not in _WRAPPING or keywords_of(op) or op.outputs[0].type.element_type != i64:
        return None
    kept = {_kept(use.operation) for use in op.outputs[0].uses}
    element = kept.pop() if len(kept) == 1 else None
    if element is None or not isinstance(array_type(op.inputs[0]).element_type, IntegerType):
        return None
    type = MemRefType(element, op.outputs[0].type.get_shape())
    return CallOp(op.callee.data, op.inputs, [*op.arguments, StringAttr(str(element))], [type], ["dtype"])


def _kept(user: Operation) -> IntegerType | None:
    """The narrower integers that a copy converts to; a boolean is not what is left of a number."""
    element = array_type(user.target).element_type if isinstance(user, CopyOp) else None
    return element if isinstance(element, IntegerType) and 1 < element.width.data < i64.width.data else None


def _idle(op: LaunchOp) -> Replacement:
    """A launch that has no grid any more: what it writes stays as it was, and what it yields is unspecified."""
    if op.body.block.first_op is not None:
        return None
    return [*(op.inputs[number] for number in ints_of(op.writes)), *(AllocOp(array_type(new)) for new in op.yielded)]


RULES: dict[type[Operation], tuple[Rule, ...]] = {CallOp: (_narrowed,), LaunchOp: (_idle,)}

#: The patterns of each op, made once.
PATTERNS: dict[type[Operation], tuple[RewritePattern, ...]] = patterns(RULES)
