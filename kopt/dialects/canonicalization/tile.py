"""Canonicalisations of the ``tile`` dialect but for elementwise ops and lane numbers, and the table of all.

broadcast, reshape, transpose, slice of full → full, where all tags stay     broadcast(broadcast x) → broadcast x
reshape of the same type → x    reshape(reshape x) → reshape x
transpose by the identity → x   transpose(transpose x) → transpose x
slice of everything → x         reduce of no dimension → x      mask by no range → x
splat of a constant → full      extract(splat s) → s            splat(extract t) → t
tile.for in (0, constant 8) → in (0, 8)    tile.for without visits → its initial values
tile.grid without cells, tile.when of nothing → gone
"""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import RewritePattern

from kopt.dialects.canonicalization import elementwise, memory
from kopt.dialects.canonicalization.elementwise import constant
from kopt.dialects.canonicalization.rules import Replacement, Rule, patterns
from kopt.dialects.canonicalization.validity import keeps_tags
from kopt.dialects.tile.constants import ExtractOp, FullOp, SplatOp
from kopt.dialects.tile.for_loop import ForOp
from kopt.dialects.tile.grid import GridOp
from kopt.dialects.tile.ranges import ShiftOp
from kopt.dialects.tile.reductions import MaskOp, ReduceOp
from kopt.dialects.tile.shape import BroadcastOp, ReshapeOp, SliceOp, TransposeOp
from kopt.dialects.tile.values import literal_value
from kopt.dialects.tile.when import WhenOp


def _of_constant(op: BroadcastOp | ReshapeOp | TransposeOp | SliceOp) -> Replacement:
    """Rearranged constants are constants, where no tag is dropped that told which lanes are valid."""
    source = op.input.owner
    if not isinstance(source, FullOp) or not keeps_tags(op.input_type, op.result_type):
        return None
    return FullOp(source.value, op.result_type)


def _same_type(op: BroadcastOp | ReshapeOp | SliceOp) -> Replacement:
    """An op that gives what it got: equal types leave only the identity to a broadcast, a reshape and a slice."""
    return op.input if op.input.type == op.result.type else None


def _broadcast_twice(op: BroadcastOp) -> Replacement:
    """Broadcasts one after the other are one."""
    inner = op.input.owner
    if not isinstance(inner, BroadcastOp):
        return None
    return BroadcastOp(inner.input, [op.mapping[place] for place in inner.mapping], op.result_type)


def _reshape_twice(op: ReshapeOp) -> Replacement:
    """The dimensions in between do not matter."""
    inner = op.input.owner
    return ReshapeOp(inner.input, op.result_type) if isinstance(inner, ReshapeOp) else None


def _transpose_nothing(op: TransposeOp) -> Replacement:
    """Every dimension stays where it is."""
    return op.input if op.order == tuple(range(op.input_type.rank)) else None


def _transpose_twice(op: TransposeOp) -> Replacement:
    """Permutations compose."""
    inner = op.input.owner
    if not isinstance(inner, TransposeOp):
        return None
    return TransposeOp(inner.input, [inner.order[place] for place in op.order])


def _reduce_nothing(op: ReduceOp) -> Replacement:
    """No dimension to combine."""
    return op.input if not op.dimensions else None


def _mask_nothing(op: MaskOp) -> Replacement:
    """No range limits a dimension."""
    return op.input if not op.ranges else None


def _splat_constant(op: SplatOp) -> Replacement:
    """A constant scalar in every lane."""
    owner = op.scalar.owner
    if not isinstance(owner, ConstantOp) or not isinstance(owner.value, IntegerAttr | FloatAttr):
        return None
    return FullOp(literal_value(owner.value), op.result.type)  # pyright: ignore[reportArgumentType]


def _splat_extracted(op: SplatOp) -> Replacement:
    """From a tile of rank 0 to a scalar and back."""
    owner = op.scalar.owner
    return owner.input if isinstance(owner, ExtractOp) and owner.input.type == op.result.type else None


def _extract_splat(op: ExtractOp) -> Replacement:
    """From a scalar to a tile and back, if the type is the same."""
    owner = op.input.owner
    return owner.scalar if isinstance(owner, SplatOp) and owner.scalar.type == op.result.type else None


def _extract_constant(op: ExtractOp) -> Replacement:
    """The scalar of a constant."""
    number, type = constant(op.input), op.result.type
    if number is None:
        return None
    if isinstance(number, int):
        return ConstantOp(IntegerAttr(number, type))  # pyright: ignore[reportArgumentType, reportCallIssue]
    return ConstantOp(FloatAttr(number, type))  # pyright: ignore[reportArgumentType, reportCallIssue]


def _shift_nothing(op: ShiftOp) -> Replacement:
    """A shift by 0."""
    return op.range if _index(op.offset) == 0 else None


def _never(op: ForOp) -> Replacement:
    """A loop that visits nothing passes its initial values on."""
    lower, upper = op.bounds
    if isinstance(lower, SSAValue) or isinstance(upper, SSAValue):
        return None
    return tuple(op.inits) if lower >= upper else None


def _known_bounds(op: ForOp) -> Replacement:
    """Bounds that are constants are numbers."""
    lower, upper = (bound if isinstance(bound, int) else _index(bound) for bound in op.bounds)
    if (lower, upper) == op.bounds:
        return None
    return ForOp(lower, upper, [*op.inits], op.detach_region(op.body), op.schedule, op.attributes)


def _index(value: SSAValue) -> SSAValue | int:
    """The number of a constant."""
    owner = value.owner
    if isinstance(owner, ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return value


def _no_cells(op: GridOp) -> Replacement:
    """A grid over nothing, or of nothing."""
    empty = any(lower == upper for lower, upper in op.bounds)
    return () if empty or op.body.block.first_op is op.body.block.last_op else None


def _no_body(op: WhenOp) -> Replacement:
    """A condition on nothing."""
    return () if op.body.block.first_op is None else None


RULES: dict[type[Operation], tuple[Rule, ...]] = {
    **memory.RULES,
    **{op: (*rules, *memory.RULES.get(op, ())) for op, rules in elementwise.RULES.items()},
    BroadcastOp: (_same_type, _of_constant, _broadcast_twice),
    ReshapeOp: (_same_type, _of_constant, _reshape_twice),
    TransposeOp: (_transpose_nothing, _of_constant, _transpose_twice),
    SliceOp: (_same_type, _of_constant),
    ReduceOp: (_reduce_nothing,),
    MaskOp: (_mask_nothing,),
    SplatOp: (_splat_constant, _splat_extracted),
    ExtractOp: (_extract_splat, _extract_constant),
    ShiftOp: (_shift_nothing,),
    ForOp: (_known_bounds, _never),
    GridOp: (_no_cells,),
    WhenOp: (_no_body,),
}

#: The patterns of each op, made once.
PATTERNS: dict[type[Operation], tuple[RewritePattern, ...]] = patterns(RULES)
