"""Lowerings: from `pallas.call` and `triton.launch` to Python modules that people read."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from kopt.errors import ConfigError
from kopt.lowering.unused import drop_unused
from kopt.registry import load

#: The printer of each family.
PRINTERS = {
    "pallas": "kopt.lowering.pallas:print_module",
    "triton": "kopt.lowering.triton:print_module",
    "torch": "kopt.lowering.torch:print_module",
    "jax": "kopt.lowering.jax:print_module",
}


def emit(module: ModuleOp, entry: str, family: str) -> str:
    """The self-contained Python module of a function that has been converted to a target's dialect.

    Args: ``entry`` the function's name; ``family`` is ``pallas``, ``triton``, or ``torch`` and ``jax`` (host programs).
    Raises `ConfigError` for another family, `LoweringError` for ops that the target's printer does not know.
    """
    if family not in PRINTERS:
        raise ConfigError(f"no printer for '{family}'", notes=[f"printers: {', '.join(PRINTERS)}"])
    return drop_unused(load(PRINTERS[family])(module, entry))
