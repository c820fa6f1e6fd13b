"""Lowerings: from `pallas.call` and `triton.launch` to Python modules that people read."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from kopt.diagnostics import extents_placed, location_of
from kopt.errors import LoweringError
from kopt.registry import load
from kopt.walk import walk

#: The printer of each family.
PRINTERS = {
    "pallas": "kopt.lowering.pallas:print_module",
    "triton": "kopt.lowering.triton:print_module",
    "torch": "kopt.lowering.torch:print_module",
    "jax": "kopt.lowering.jax:print_module",
}


def emit(module: ModuleOp, entry: str, family: str, allow_inline: bool = False) -> str:
    """The self-contained Python module of a function that has been converted to a target's dialect.

    Args: ``entry`` the function's name; ``family`` is ``pallas``, ``triton``, or ``torch`` and ``jax`` (host programs);
    ``allow_inline`` whether code that the IR brings along may be emitted: it runs as it is, so only for IR that is
    trusted. The function is called by its `public_name`.
    Raises `LoweringError` for code in the IR that is not allowed. Printers refuse nothing:
    `kopt.passes.pipelines.printable` has the passes that have seen all else.
    """
    if not allow_inline:
        _refuse_inline(module)
    with extents_placed():
        return load(PRINTERS[family])(module, entry)


def _refuse_inline(module: ModuleOp) -> None:
    """IR is data: what it brings along as Python is emitted only where the caller says that it is trusted."""
    for op in walk(module):
        if op.name == "triton.inline":
            message = "IR brings Triton code of its own, which would run as it is"
            note = "if you trust where it comes from: kopt --allow-inline, kopt.lower_module(…, allow_inline=True)"
            raise LoweringError(message, location_of(op), notes=[note])
