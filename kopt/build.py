"""Building kernel IR from a frontend: MLIR's ``OpBuilder``, and values with operators, over kopt's dialects.

    from kopt import build

    b = build.OpBuilder()
    with b.function("scaled", {"x": "f32[1000,2560]"}) as (x,):
        out = b.alloc(x.spec)
        with b.grid(1000) as (rows,), b.location_of("scaled.toy", 3, 5):
            out[rows, :] = x[rows, :] * 2.0
        b.return_(out)
    kopt.lower_module(b.module, target="pallas:interpret").compile()(data)

``docs/building.md`` explains it.
"""

from kopt.building.builder import LoopBuilder, OpBuilder
from kopt.building.handles import Array, IndexValue, Range, Value
from kopt.building.types import array_type, element_type
from kopt.errors import Location
from kopt.specs import TensorSpec

__all__ = [
    "Array",
    "IndexValue",
    "Location",
    "LoopBuilder",
    "OpBuilder",
    "Range",
    "TensorSpec",
    "Value",
    "array_type",
    "element_type",
]
