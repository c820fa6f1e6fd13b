"""What a launch computes, by the unit of the chip that does it, its dimensions and the loops around it.

    %r = tile.for %k: b2=64 in (0, 256) iter(%a = %zero) -> (!tile.tile<b0=128 x b1=64 x f32>) { … }
    %d = tile.dot %l, %r, %a     %e = tile.exp %d     %f = tile.exp %e
becomes
    carry (b0, b1) of f32        product (b0, b2, b1) of f32        transcendental (b0, b1) of f32, twice
"""

from __future__ import annotations

from collections import Counter

from xdsl.dialects.builtin import Float8E4M3FNType, bf16, f32, i32
from xdsl.ir import Attribute, Operation

from kopt.analysis.interleaved import alternating
from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.launch_models.number_masks import Masks
from kopt.analysis.launch_models.program_points import inner_path
from kopt.analysis.launch_models.spreads import is_spread
from kopt.analysis.running_sums import Bf16Numbers, is_product, is_total
from kopt.dialects.tile import (
    ELEMENTWISE,
    ArgReduceOp,
    AssociativeReduceOp,
    AssociativeScanOp,
    BitcastOp,
    BroadcastOp,
    CarryingLoop,
    CastOp,
    ConcatOp,
    DotOp,
    DynamicSliceOp,
    MaskOp,
    PhiloxOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    SelectOp,
    SliceOp,
    SortOp,
    TakeAlongOp,
    TileType,
    TransposeOp,
    tile_type,
)
from kopt.ir.launch_model import LaneMask, Unit, Work
from kopt.ir.polynomial import Coefficient
from kopt.targets.tiling import LANES

#: Elementwise ops that take several steps of the vector unit, or a unit of their own.
TRANSCENDENTAL = (
    "pow atan2 exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal div "
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf sigmoid"
).split()
#: Those that are several of these one after the other.
_STEPS: dict[type, int] = {ELEMENTWISE["sigmoid"]: 2}
_UNITS: dict[type[Operation], Unit] = {
    **dict.fromkeys([*ELEMENTWISE.values(), SelectOp, CastOp, BitcastOp, MaskOp], "elementwise"),
    **dict.fromkeys([ELEMENTWISE[name] for name in TRANSCENDENTAL], "transcendental"),
    **dict.fromkeys([ReduceOp, ArgReduceOp, AssociativeReduceOp], "reduction"),
    **dict.fromkeys([ScanOp, AssociativeScanOp], "scan"),
    **dict.fromkeys([TransposeOp, ReshapeOp, BroadcastOp, ConcatOp, SliceOp, DynamicSliceOp, TakeAlongOp], "layout"),
    SortOp: "sort",
    PhiloxOp: "random",
    DotOp: "product",
}
_Key = tuple[Unit, tuple[tuple[str, Coefficient], ...], Attribute, tuple[str, ...], LaneMask | None, bool]
#: Whose work is that of their results: what is wider than its parts, or a part.
_OF_RESULTS = (BroadcastOp, ConcatOp, DynamicSliceOp, SelectOp, SliceOp, TakeAlongOp)


def work(launch: Launch, masks: Masks | None = None) -> tuple[Work, ...]:
    """The operations of all classes, equal ones counted; scalars and what is unlikely are left out.

    ``masks`` are those of operations.
    """
    found: Counter[_Key] = Counter()
    numbers = Bf16Numbers()
    for place in (place for place in launch.places if not place.unlikely):
        for value in place.op.inits if isinstance(place.op, CarryingLoop) else ():
            if isinstance(value.type, TileType):
                path = inner_path(place.op, place.path, place.number)
                found["carry", launch.dims(value), value.type.element_type, path, None, False] += 1
        if is_spread(place.op):
            vector = place.op.operands[0]
            dims = (*launch.dims(vector), ("", 1))
            found["spread", dims, tile_type(vector).element_type, place.path, None, False] += 1
        unit = _unit(place.op)
        if unit is None:
            continue
        of_result = isinstance(place.op, _OF_RESULTS) and unit != "selection"
        value = place.op.results[0] if of_result else place.op.operands[0]
        dims = _product(launch, place.op) if isinstance(place.op, DotOp) else launch.dims(value)
        element = tile_type(value).element_type
        if isinstance(place.op, CastOp):  # in registers of 32 bits: what is narrower is unpacked, or packed
            unit, element = _conversion(place.op)
        if isinstance(place.op, ScanOp) and is_product(place.op):
            unit, element = "running_sum", bf16 if numbers.has(value) else f32
        if isinstance(place.op, ReduceOp) and is_total(place.op):
            unit = "running_total"
        if alternating(place.op):  # a shift and an or of words
            unit, element, dims = "elementwise", i32, launch.dims(place.op.results[0])
        masked = (masks or {}).get(place.op, (None, False))
        if dims:
            found[unit, dims, element, place.path, *masked] += _STEPS.get(type(place.op), 1)
        if unit != "running_total" and len(dims) > 1 and len(dims) - 1 in _reduced(place.op):
            found["crossing", (*dims[:-1], ("", 1)), element, place.path, None, False] += 1
    dtypes = {element: str(element) for element in {element for _, _, element, *_ in found}}
    return tuple(
        Work(unit, dims, dtypes[element], path, count, mask, masks)
        for (unit, dims, element, path, mask, masks), count in found.items()
    )


def _unit(op: Operation) -> Unit | None:
    """The class of an operation, or None of one that takes nothing."""
    if isinstance(op, TakeAlongOp) and _takes_one(op):
        return "selection"
    if isinstance(op, ReshapeOp) and _keeps_lanes(op):
        return None
    if isinstance(op, ConcatOp) and any(alternating(use.operation) is op for use in op.result.uses):
        return None
    if isinstance(op, ConcatOp | ReshapeOp | TransposeOp) and _mixes_registers(op):
        return "relayout"
    return _UNITS.get(type(op))


def _conversion(op: CastOp) -> tuple[Unit, Attribute]:
    """The class of a conversion, and what it gives: some chips have no instruction for float8_e4m3fn."""
    given = tile_type(op.result).element_type
    is_of_e4m3 = any(isinstance(type, Float8E4M3FNType) for type in (tile_type(op.input).element_type, given))
    return ("conversion", given) if is_of_e4m3 else ("elementwise", f32)


def _takes_one(op: TakeAlongOp) -> bool:
    """Whether one lane is taken of all: each is compared with the wanted number."""
    return tile_type(op.indices).dims.data[op.dim.data].size.data == 1


def _reduced(op: Operation) -> tuple[int, ...]:
    """The dimensions that are combined across lanes, or rows."""
    if isinstance(op, TakeAlongOp):
        return (op.dim.data,) if _takes_one(op) else ()
    return (op.dim.data,) if isinstance(op, ArgReduceOp) else op.dimensions if isinstance(op, ReduceOp) else ()


def _product(launch: Launch, op: DotOp) -> tuple[tuple[str, Coefficient], ...]:
    """The batch dimensions, then m, k and n."""
    lhs, rhs = launch.dims(op.lhs), launch.dims(op.rhs)
    return (*lhs, rhs[-1])


def _mixes_registers(op: ConcatOp | ReshapeOp | TransposeOp) -> bool:
    """Whether rows change their places in vector registers, which hold parts of the last two dimensions.

    The last two themselves are swapped by a unit of its own, or by the product that takes them.
    """
    if isinstance(op, ConcatOp):
        return op.dim.data >= tile_type(op.result).rank - 2 and not _joins_registers(op)
    if isinstance(op, TransposeOp):
        rank, order = tile_type(op.result).rank, op.order
        return order[-1] == rank - 1 and order[-2:-1] != (rank - 2,)
    return op.input_type.shape[-2:] != op.result_type.shape[-2:]


def _joins_registers(op: ConcatOp) -> bool:
    """Whether a concatenation along lanes is one of whole vector registers."""
    lanes = [tile_type(value).shape[-1] for value in op.inputs]
    return op.dim.data == tile_type(op.result).rank - 1 and all(count % LANES == 0 for count in lanes)


def _keeps_lanes(op: ReshapeOp) -> bool:
    """Whether a reshape only adds or drops dimensions of one lane."""
    before, after = ([dim for dim in type.dims.data if dim.size.data != 1] for type in (op.input_type, op.result_type))
    return before == after
