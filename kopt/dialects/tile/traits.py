"""Traits of the ``tile`` dialect's ops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait


@dataclass(frozen=True)
class Canonicalized(HasCanonicalizationPatternsTrait):
    """``canonicalize`` rewrites the op by what ``kopt.dialects.canonicalization.tile`` says about its class."""

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        from kopt.dialects.canonicalization.tile import PATTERNS

        return PATTERNS.get(op, ())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """Patterns depend on the op: see `get_patterns`."""
        return ()
