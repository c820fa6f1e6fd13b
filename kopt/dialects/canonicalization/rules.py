"""How canonicalisations are written: a rule looks at one op and gives what to put in its place, or None.

The replacement is a value, several values (none of them: the op is erased), or a new op, which gets the old op's place
in the source; results that it lacks must be unused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

Replacement = Operation | SSAValue | Sequence[SSAValue] | None
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
                rewriter.replace(op, [], [found] if isinstance(found, SSAValue) else list(found))
            return


def patterns(table: Mapping[type[Operation], Sequence[Rule]]) -> dict[type[Operation], tuple[RewritePattern, ...]]:
    """The patterns of each op of a table of rules."""
    return {op: (Rules(rules),) for op, rules in table.items()}
