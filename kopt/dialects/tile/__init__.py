"""The ``tile`` dialect: blocks of arrays as values, and the loops that walk them.

A kernel is a `grid` of cells over ranges; in a cell, blocks of memrefs are loaded as tiles, computed with and
stored. Dimensions are concrete and tagged with their loop (see `types`); rounding, broadcasting and masking are
explicit. Scalars and ``index`` arithmetic use ``arith``, conditions ``scf.if``.

    tile.grid (%i: b0=128) in (1000) {
      %v = tile.load %x[%i, :] : memref<1000x64xf32> -> !tile.tile<b0=128 x 64 x f32>
      %m = tile.reduce max %v [1] : !tile.tile<b0=128 x 64 x f32>
      tile.store %m, %out[%i] : !tile.tile<b0=128 x f32>, memref<1000xf32>
    }
"""

from xdsl.ir import Dialect

from kopt.dialects.tile import (
    associative,
    bodies,
    constants,
    elementwise,
    extents,
    for_loop,
    grid,
    memory,
    random,
    ranges,
    reductions,
    scaling,
    shape,
    sorting,
    validity,
    when,
    while_loop,
)
from kopt.dialects.tile.associative import AssociativeOp, AssociativeReduceOp, AssociativeScanOp, function_of
from kopt.dialects.tile.bodies import Carrying, CarryingLoop, YieldOp
from kopt.dialects.tile.constants import ArangeOp, ExtractOp, FullOp, SplatOp
from kopt.dialects.tile.elementwise import (
    COMPARISONS,
    ELEMENTWISE,
    LANEWISE,
    ROUNDED_ONCE,
    TABLE,
    BitcastOp,
    CastOp,
    ElementwiseOp,
    SelectOp,
)
from kopt.dialects.tile.extents import DimOp, ExtentOp
from kopt.dialects.tile.for_loop import ForOp
from kopt.dialects.tile.grid import GridOp
from kopt.dialects.tile.index_list import (
    ALL,
    AllAttr,
    Entry,
    IndexedDim,
    SliceAttr,
    block_axes,
    is_gather,
    is_number,
    is_range,
)
from kopt.dialects.tile.memory import EVICTIONS, Access, GetOp, LoadOp, PutOp, StoreOp, block_type
from kopt.dialects.tile.open_blocks import OpenAttr, OpenBlock, mark_open, open_blocks
from kopt.dialects.tile.plan_attr import PlanAttr, ScheduleAttr
from kopt.dialects.tile.random import PhiloxOp
from kopt.dialects.tile.ranges import (
    BeginOp,
    BlockSizeOp,
    CountOp,
    EndOp,
    IdOp,
    IndexOp,
    ShiftOp,
    ValidCountOp,
    ValidOp,
    WholeOp,
)
from kopt.dialects.tile.reductions import (
    COMBINERS,
    COMBINING_OPS,
    ArgReduceOp,
    DotOp,
    MaskOp,
    ReduceOp,
    ScanOp,
    neutral,
)
from kopt.dialects.tile.scaling import ScalingExtfOp
from kopt.dialects.tile.shape import (
    SPARE,
    BroadcastOp,
    ConcatOp,
    DynamicSliceOp,
    ReshapeOp,
    SliceOp,
    TakeAlongOp,
    TransposeOp,
)
from kopt.dialects.tile.sorting import SortOp
from kopt.dialects.tile.types import (
    DimAttr,
    RangeType,
    RefType,
    TileType,
    array_type,
    element_of,
    range_type,
    tag_of,
    tile_type,
)
from kopt.dialects.tile.validity import ValidLanesOp
from kopt.dialects.tile.values import is_float, is_same_number, literal, literal_text, literal_value
from kopt.dialects.tile.when import UNLIKELY, WhenOp
from kopt.dialects.tile.while_loop import WhileOp

__all__ = [
    "ALL",
    "COMBINERS",
    "COMBINING_OPS",
    "COMPARISONS",
    "ELEMENTWISE",
    "LANEWISE",
    "ROUNDED_ONCE",
    "TABLE",
    "Access",
    "AllAttr",
    "ArangeOp",
    "ArgReduceOp",
    "AssociativeOp",
    "AssociativeReduceOp",
    "AssociativeScanOp",
    "IndexedDim",
    "BeginOp",
    "BlockSizeOp",
    "BitcastOp",
    "BroadcastOp",
    "Carrying",
    "CarryingLoop",
    "CastOp",
    "ConcatOp",
    "CountOp",
    "DimOp",
    "ExtentOp",
    "DimAttr",
    "DotOp",
    "EVICTIONS",
    "DynamicSliceOp",
    "ElementwiseOp",
    "EndOp",
    "Entry",
    "ExtractOp",
    "ForOp",
    "FullOp",
    "GetOp",
    "GridOp",
    "IdOp",
    "IndexOp",
    "LoadOp",
    "MaskOp",
    "OpenAttr",
    "OpenBlock",
    "PhiloxOp",
    "PlanAttr",
    "PutOp",
    "RangeType",
    "ReduceOp",
    "RefType",
    "ReshapeOp",
    "ScalingExtfOp",
    "ScanOp",
    "ScheduleAttr",
    "SelectOp",
    "ShiftOp",
    "SliceAttr",
    "SliceOp",
    "SortOp",
    "SplatOp",
    "StoreOp",
    "TakeAlongOp",
    "SPARE",
    "UNLIKELY",
    "Tile",
    "TileType",
    "TransposeOp",
    "ValidCountOp",
    "ValidLanesOp",
    "ValidOp",
    "WhenOp",
    "WhileOp",
    "WholeOp",
    "YieldOp",
    "array_type",
    "block_axes",
    "block_type",
    "element_of",
    "function_of",
    "is_float",
    "is_gather",
    "is_number",
    "is_range",
    "is_same_number",
    "literal",
    "literal_text",
    "literal_value",
    "mark_open",
    "neutral",
    "open_blocks",
    "range_type",
    "tag_of",
    "tile_type",
]

Tile = Dialect(
    "tile",
    [
        *elementwise.OPS,
        *constants.OPS,
        *random.OPS,
        *shape.OPS,
        *ranges.OPS,
        *extents.OPS,
        *memory.OPS,
        *reductions.OPS,
        *scaling.OPS,
        *associative.OPS,
        *sorting.OPS,
        *validity.OPS,
        *grid.OPS,
        *for_loop.OPS,
        *bodies.OPS,
        *when.OPS,
        *while_loop.OPS,
    ],
    [DimAttr, TileType, RangeType, RefType, SliceAttr, AllAttr, OpenAttr, PlanAttr, ScheduleAttr],
)
