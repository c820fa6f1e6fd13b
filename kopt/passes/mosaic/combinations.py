"""Sorts and combinations by a kernel's own function, of elements below 32 bits: lanes are moved in 32 bits."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from kopt.analysis.storage import is_narrow, wide
from kopt.dialects.builder import Builder
from kopt.dialects.tile import AssociativeOp, CastOp, SortOp, element_of, tile_type
from kopt.passes.mosaic.widening import widened


class WidenSort(RewritePattern):
    """The order of narrow numbers is that of the same numbers in 32 bits."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SortOp, rewriter: PatternRewriter, /) -> None:
        if not is_narrow(element_of(op.input)):
            return
        build = Builder(op, rewriter=rewriter)
        (value,) = widened(build, [op.input])
        sort = SortOp(value, op.dim.data, op.descending is not None)
        _replace(rewriter, build, sort)


class WidenAssociative(RewritePattern):
    """The function computes in the narrow types; what goes in and out of it is widened, which is exact."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AssociativeOp, rewriter: PatternRewriter, /) -> None:
        if not any(is_narrow(element_of(value)) for value in op.inputs):
            return
        block = op.body.block
        for argument in list(block.args):
            _take_wide(rewriter, argument)
        last = block.last_op
        assert last is not None
        yields = Builder(last, rewriter=rewriter)
        last.operands = widened(yields, last.operands)
        build = Builder(op, rewriter=rewriter)
        _replace(rewriter, build, op.with_inputs(widened(build, op.inputs), op.detach_region(op.body)))


def _take_wide(rewriter: PatternRewriter, argument: SSAValue) -> None:
    """A function's operand in 32 bits, cast to what it was where it is used."""
    narrow = element_of(argument)
    if not is_narrow(narrow):
        return
    argument = rewriter.replace_value_with_new_type(argument, tile_type(argument).with_element(wide(narrow)))
    cast = CastOp(argument, narrow)
    rewriter.replace_uses_with_if(argument, cast.result, lambda use: use.operation is not cast)
    block = argument.owner
    assert not isinstance(block, Operation)
    rewriter.insert(cast, InsertPoint.at_start(block))


def _replace(rewriter: PatternRewriter, build: Builder, new: Operation) -> None:
    """Puts an op's results, cast to what they were, in the place of the builder's."""
    op = build.op
    build.add(new)
    for made, old in zip(new.results, op.results, strict=True):
        made.name_hint = old.name_hint
        rewriter.replace_all_uses_with(old, build.cast(made, element_of(old)))
    rewriter.erase(op)
