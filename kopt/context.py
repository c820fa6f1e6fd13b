"""The xDSL context that kopt parses and rewrites in."""

from __future__ import annotations

from functools import partial

from xdsl.context import Context

from kopt.dialects import DIALECTS
from kopt.registry import load


def make_context(*, allow_unregistered: bool = False) -> Context:
    """A context that knows every dialect of ``kopt.dialects.DIALECTS`` and loads each on first use.

    Args: ``allow_unregistered`` accepts operations of unknown dialects, in the generic syntax.
    """
    ctx = Context(allow_unregistered=allow_unregistered)
    for name, path in DIALECTS.items():
        ctx.register_dialect(name, partial(load, path))
    return ctx
