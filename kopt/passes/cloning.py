"""Copies of loops: a tag names one range of a function, so the loops of a copy get tags of their own."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import DimAttr
from kopt.passes.retyping import bound_tags, new_tags, replace_dims


def clone_with_new_tags(op: Operation, values: dict[SSAValue, SSAValue] | None = None) -> Operation:
    """A copy of ``op``, not yet inserted, whose ranges have tags that the function around ``op`` does not use.

    ``values`` maps operands to what the copy uses instead; the copies of inner values are added to it.
    """
    copy = op.clone(values if values is not None else {})
    free = new_tags(op)
    names = {tag: next(free) for tag in dict.fromkeys(bound_tags(copy))}

    def renamed(dim: DimAttr) -> DimAttr:
        return DimAttr(dim.size.data, names.get(dim.tag.data, dim.tag.data))

    replace_dims(copy, renamed)
    return copy
