"""How canonicalisations are written: a rule looks at one op and gives what to put in its place, or None.

The replacement is a value, several values or new ops of one (none of them: the op is erased), or a new op. New ops get
the old op's place in the source; results that a new op lacks must be unused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

Replacement = Operation | SSAValue | Sequence[SSAValue | Operation] | None
Rule = Callable[[Any], Replacement]


class Rules(RewritePattern):
    """Tries rules in turn; the first that applies replaces the op."""

    def __init__(self, rules: Sequence[Rule]):
        self.rules = tuple(rules)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        for rule in self.rules:
            found = rule(op)
            if found is None:
                continue
            if isinstance(found, Operation):
                found.location = op.location
                unused = [None] * (len(op.results) - len(found.results))
                rewriter.replace(op, found, [*found.results, *unused])
            else:
                _replace(op, [found] if isinstance(found, SSAValue) else found, rewriter)
            return


def _replace(op: Operation, found: Sequence[SSAValue | Operation], rewriter: PatternRewriter) -> None:
    """Puts one value, or the value of a new op, in the place of each result."""
    new = [each for each in found if isinstance(each, Operation)]
    for each in new:
        each.location = op.location
    rewriter.replace(op, new, [each.results[0] if isinstance(each, Operation) else each for each in found])


def patterns(table: Mapping[type[Operation], Sequence[Rule]]) -> dict[type[Operation], tuple[RewritePattern, ...]]:
    """The patterns of each op of a table of rules."""
    return {op: (Rules(rules),) for op, rules in table.items()}
