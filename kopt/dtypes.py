"""The one table of element types: how each is spelt in specs, IR, NumPy, torch, JAX and Triton.

``spec`` is the name in ``f32[4096,2560]`` and in IR; ``numpy`` is the type that the reference interpreter
computes with: types that NumPy lacks are held as ``float32`` whose values are rounded to the type.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # compiled kernels run without xDSL
    from xdsl.ir import Attribute


@dataclass(frozen=True)
class DType:
    """One element type. ``kind`` is one of ``float int uint bool``; ``bits`` its width in memory."""

    spec: str
    kind: str
    bits: int
    numpy: str
    torch: str
    jax: str
    triton: str

    @property
    def bytes(self) -> int:
        """Size of one element in memory, in bytes."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")


#                spec          kind    bits numpy      torch            jax              triton
DTYPES = (
    DType("f64", "float", 64, "float64", "float64", "float64", "float64"),
    DType("f32", "float", 32, "float32", "float32", "float32", "float32"),
    DType("bf16", "float", 16, "float32", "bfloat16", "bfloat16", "bfloat16"),
    DType("f16", "float", 16, "float16", "float16", "float16", "float16"),
    DType("f8E4M3FN", "float", 8, "float32", "float8_e4m3fn", "float8_e4m3fn", "float8e4nv"),
    DType("f8E5M2", "float", 8, "float32", "float8_e5m2", "float8_e5m2", "float8e5"),
    DType("i64", "int", 64, "int64", "int64", "int64", "int64"),
    DType("i32", "int", 32, "int32", "int32", "int32", "int32"),
    DType("i16", "int", 16, "int16", "int16", "int16", "int16"),
    DType("i8", "int", 8, "int8", "int8", "int8", "int8"),
    DType("ui8", "uint", 8, "uint8", "uint8", "uint8", "uint8"),
    DType("ui16", "uint", 16, "uint16", "uint16", "uint16", "uint16"),
    DType("ui32", "uint", 32, "uint32", "uint32", "uint32", "uint32"),
    DType("ui64", "uint", 64, "uint64", "uint64", "uint64", "uint64"),
    DType("i1", "bool", 8, "bool", "bool", "bool_", "int1"),
)

BY_SPEC = {dtype.spec: dtype for dtype in DTYPES}
BY_TORCH = {dtype.torch: dtype for dtype in DTYPES}
#: Further spellings accepted in specs.
ALIASES = {"bool": "i1", "u8": "ui8", "f8e4m3fn": "f8E4M3FN", "f8e5m2": "f8E5M2"}


@cache
def to_ir(dtype: DType) -> Attribute:
    """The MLIR element type of a dtype."""
    from xdsl.dialects import builtin

    floats = {
        "f64": builtin.f64,
        "f32": builtin.f32,
        "bf16": builtin.bf16,
        "f16": builtin.f16,
        "f8E4M3FN": builtin.Float8E4M3FNType(),
        "f8E5M2": builtin.Float8E5M2Type(),
    }
    if dtype.kind == "float":
        return floats[dtype.spec]
    signedness = builtin.Signedness.UNSIGNED if dtype.kind == "uint" else builtin.Signedness.SIGNLESS
    return builtin.IntegerType(1 if dtype.kind == "bool" else dtype.bits, signedness)


@cache
def _by_ir() -> dict[Attribute, DType]:
    return {to_ir(dtype): dtype for dtype in DTYPES}


def from_ir(type: Attribute) -> DType | None:
    """The dtype of an MLIR element type, or None where kopt has no such dtype."""
    return _by_ir().get(type)


def by_name(name: str) -> DType | None:
    """The dtype of a spec name, or None."""
    return BY_SPEC.get(ALIASES.get(name, name))
