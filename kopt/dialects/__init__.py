"""The dialects that kopt knows, each imported when text or code first uses it.

A new dialect is one line here: its name and ``"module:attribute"`` of its xDSL ``Dialect``. Other packages bring theirs
by entry points of ``kopt.dialects``.
"""

from __future__ import annotations

from typing import Any

from kopt.plugins import PluginTable

DIALECTS: dict[str, str] = {
    # kopt's own.
    "atomic": "kopt.dialects.atomic:Atomic",
    "jagged": "kopt.dialects.jagged:Jagged",
    "symm": "kopt.dialects.symm:Symm",
    "host": "kopt.dialects.host:Host",
    "pallas": "kopt.dialects.pallas:Pallas",
    "tile": "kopt.dialects.tile:Tile",
    "triton": "kopt.dialects.triton:Triton",
    # xDSL's: scalars and indices, control flow, functions, buffers.
    "builtin": "xdsl.dialects.builtin:Builtin",
    "affine": "xdsl.dialects.affine:Affine",
    "arith": "xdsl.dialects.arith:Arith",
    "func": "xdsl.dialects.func:Func",
    "math": "xdsl.dialects.math:Math",
    "memref": "xdsl.dialects.memref:MemRef",
    "scf": "xdsl.dialects.scf:Scf",
    "test": "xdsl.dialects.test:Test",
}


def _problem(name: str, found: Any) -> str | None:
    """What is wrong with an object that is to be the dialect of a name."""
    from xdsl.ir import Dialect

    if not isinstance(found, Dialect):
        return f"a dialect is an xdsl.ir.Dialect, found {type(found).__name__}"
    return None if found.name == name else f"its name is '{found.name}'"


#: All dialects by name: those above, and those of other packages.
ALL_DIALECTS = PluginTable("kopt.dialects", "dialect", DIALECTS, _problem)
