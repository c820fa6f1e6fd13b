"""Traits of the ops of ``tile`` and its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait


@dataclass(frozen=True)
class Canonicalized(HasCanonicalizationPatternsTrait):
    """``canonicalize`` rewrites the op by what ``kopt.dialects.canonicalization.DIALECT`` says about its class."""

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        dialect = op.name.partition(".")[0]
        return import_module(f"kopt.dialects.canonicalization.{dialect}").PATTERNS.get(op, ())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """Patterns depend on the op: see `get_patterns`."""
        return ()
