"""Sorts and combinations by a kernel's own function, of elements below 32 bits: lanes are moved in 32 bits."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.tile import AssociativeOp, CastOp, SortOp
from kopt.passes.mosaic.building import Builder, element_of, is_narrow, type_of, wide


def widen_sort(op: Operation) -> None:
    """The order of narrow numbers is that of the same numbers in 32 bits."""
    assert isinstance(op, SortOp)
    if not is_narrow(element_of(op.input)):
        return
    build = Builder(op)
    (value,) = build.widened([op.input])
    sort = SortOp(value, op.dim.data, op.descending is not None)
    _replace(build, sort, op)


def widen_associative(op: Operation) -> None:
    """The function computes in the narrow types; what goes in and out of it is widened, which is exact."""
    assert isinstance(op, AssociativeOp)
    if not any(is_narrow(element_of(value)) for value in op.inputs):
        return
    block = op.body.block
    for argument in list(block.args):
        _take_wide(argument)
    last = block.last_op
    assert last is not None
    yields = Builder(last)
    last.operands = yields.widened(last.operands)
    build = Builder(op)
    _replace(build, op.with_inputs(build.widened(op.inputs), op.detach_region(op.body)), op)


def _take_wide(argument: SSAValue) -> None:
    """A function's operand in 32 bits, cast to what it was where it is used."""
    narrow = element_of(argument)
    if not is_narrow(narrow):
        return
    argument = Rewriter.replace_value_with_new_type(argument, type_of(argument).with_element(wide(narrow)))
    cast = CastOp(argument, narrow)
    argument.replace_uses_with_if(cast.result, lambda use: use.operation is not cast)
    block = argument.owner
    assert not isinstance(block, Operation)
    Rewriter.insert_op(cast, InsertPoint.at_start(block))


def _replace(build: Builder, new: Operation, op: Operation) -> None:
    """Puts an op's results, cast to what they were, in the place of another's."""
    build.add(new)
    for made, old in zip(new.results, op.results, strict=True):
        made.name_hint = old.name_hint
        old.replace_all_uses_with(build.cast(made, element_of(old)))
    Rewriter.erase_op(op)
