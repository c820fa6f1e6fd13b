"""The dialects that kopt knows, each imported when text or code first uses it.

A new dialect is one line here: its name and ``"module:attribute"`` of its xDSL ``Dialect``.
"""

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
