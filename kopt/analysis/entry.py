"""Which function of a module is meant."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from kopt.diagnostics import location_of
from kopt.errors import ConfigError


def entry_function(module: ModuleOp, entry: str | None = None) -> FuncOp:
    """The function called ``entry``, or the only one with a body. Raises `ConfigError` that lists the functions."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration}
    if entry in functions:
        return functions[entry]
    if entry is None and len(functions) == 1:
        return next(iter(functions.values()))
    found = ", ".join(functions) or "none"
    wanted = f"no function '{entry}' in the module" if entry else "name one function with --entry"
    raise ConfigError(f"{wanted}; functions with a body: {found}", location_of(module), id="unknown-function")
