"""Applies rewrite patterns to operations, as MLIR's ``walkAndApplyPatterns`` does: each operation is visited once.

The worklist is the operations that stand there at first and whose class has patterns. What a pattern inserts is not
visited, and an operation that an earlier pattern erased is passed over.

Where patterns make work for each other, ``canonicalize`` has xDSL's ``PatternRewriteWalker``. It wraps what a pattern
raises; here a refusal keeps its text and place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from kopt.walk import walk

#: The patterns of each class of operations, those of a class in the order in which they are tried.
Patterns = Mapping[type[Operation], Sequence[RewritePattern]]


def walk_and_apply_patterns(top: Operation, patterns: Patterns) -> None:
    """Visits operations in the order of the text; the first pattern of its class that matches one rewrites it."""
    for op in walk(top, *patterns):
        if op.parent is None:
            continue
        rewriter = PatternRewriter(op)
        for pattern in patterns[type(op)]:
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                break
