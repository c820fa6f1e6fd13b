"""The pass ``canonicalize``: every operation in its simplest form."""

from __future__ import annotations

from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.folder import Folder
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.traits import ConstantLike, HasCanonicalizationPatternsTrait, HasFolder

from kopt.analysis.effects import is_trivially_dead
from kopt.passes.dce import eliminate


class CanonicalizePass(ModulePass):
    """Applies all canonicalization patterns and folds until nothing changes. Dead operations go.

    It does what xDSL's pass does, and looks up the patterns of each class of operations once.

        %b = arith.addi %a, %zero : index     %c = tile.load %x[%b]
    becomes
        %c = tile.load %x[%a]

    It never refuses.
    """

    name = "canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(Simplest(ctx), post_walk_func=eliminate).rewrite_module(op)


class Simplest(RewritePattern):
    """Erases an operation that is dead, folds it, or applies the first of its patterns that matches."""

    def __init__(self, ctx: Context):
        self.folder = Folder(ctx)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if is_trivially_dead(op):
            rewriter.erase(op)
            return
        if _folds(type(op)) and (folded := self.folder.try_fold(op)) is not None:
            values, constants = folded
            rewriter.replace(op, constants, values)
            return
        for pattern in _patterns(type(op)):
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return


@cache
def _folds(cls: type[Operation]) -> bool:
    """Whether operations of a class fold; constants would become constants for ever."""
    return cls.has_trait(HasFolder, value_if_unregistered=False) and not cls.has_trait(ConstantLike)


@cache
def _patterns(cls: type[Operation]) -> tuple[RewritePattern, ...]:
    traits = cls.get_traits_of_type(HasCanonicalizationPatternsTrait)
    return tuple(pattern for trait in traits for pattern in trait.get_patterns(cls))
