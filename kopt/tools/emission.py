"""``-t pallas-py`` and ``-t triton-py``: the emitted Python module of one entry function."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from kopt.diagnostics import location_of
from kopt.errors import ConfigError


def emit_python(module: ModuleOp, entry: str | None, target: str) -> str:
    """The Python text of ``entry`` for an output target ``<family>-py``; the module must be lowered that far."""
    from kopt.lowering import emit

    return emit(module, choose_entry(module, entry), target.removesuffix("-py"))


def choose_entry(module: ModuleOp, entry: str | None) -> str:
    """The function called ``entry``, or the only one with a body; anything else is a ``kopt.ConfigError``."""
    names = [op.sym_name.data for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration]
    if entry in names or (entry is None and len(names) == 1):
        return entry or names[0]
    found = ", ".join(names) or "none"
    wanted = f"no function '{entry}' in the module" if entry else "name one function with --entry"
    raise ConfigError(f"{wanted}; functions with a body: {found}", location_of(module))
