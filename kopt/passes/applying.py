"""Running one pass on a module, by itself."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.analysis.plans import forget_unserved
from kopt.context import make_context


def apply_pass(pass_: ModulePass, module: ModuleOp, ctx: Context | None = None) -> None:
    """Runs a pass, and drops what plans say of accesses, arrays and loops that it has taken away.

    Plans name these, and no pass sees a use in a name.
    """
    pass_.apply(ctx or make_context(), module)
    forget_unserved(module)
