"""Ops on elements below 32 bits that Mosaic lacks, done in 32 bits: arithmetic, comparisons, some reshapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import bf16, i1
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.analysis.storage import is_narrow, is_narrow_integer, wide
from kopt.dialects.builder import Builder
from kopt.dialects.canonicalization.elementwise import constant
from kopt.dialects.tile import (
    ArgReduceOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    ElementwiseOp,
    FullOp,
    MaskOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    SelectOp,
    SliceOp,
    TakeAlongOp,
    TransposeOp,
    element_of,
    literal,
    literal_value,
    tile_type,
)
from kopt.passes.mosaic.scalars import drop_casts_back

#: Combinations of predicates in numbers: a sum of predicates is "any".
_OF_PREDICATES = {"add": "max", "or": "max", "max": "max", "mul": "min", "and": "min", "min": "min", "xor": "xor"}
#: What puts lanes elsewhere.
Rearrangement = BroadcastOp | ConcatOp | ReshapeOp | SliceOp | TakeAlongOp | TransposeOp
#: What computes lanes from those of its operands, or leaves them where they are.
_LANE_BY_LANE = ElementwiseOp | CastOp | ReshapeOp | SelectOp | MaskOp


class WidenElementwise(RewritePattern):
    """Arithmetic and comparisons of 8-bit and 16-bit integers; those of bf16, which not all chips have."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter, /) -> None:
        if not is_narrow_integer(element := element_of(op.inputs[0])) and element != bf16:
            return
        build = Builder(op, rewriter=rewriter)
        build.replace(build.add(type(op)(*widened(build, op.inputs))))


class WidenCombination(RewritePattern):
    """Reductions and scans; of predicates those that are no any or all of a matrix."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReduceOp | ArgReduceOp | ScanOp, rewriter: PatternRewriter, /) -> None:
        element, kind = element_of(op.input), op.kind.data
        if not is_narrow(element) or (element == i1 and _reduces_predicates(op)):
            return
        build = Builder(op, rewriter=rewriter)
        (value,) = widened(build, [op.input])
        kind = _OF_PREDICATES[kind] if element == i1 else kind
        if isinstance(op, ReduceOp):
            build.replace(build.add(ReduceOp(kind, value, op.dimensions)))
        elif isinstance(op, ScanOp):
            build.replace(build.add(ScanOp(kind, value, op.dim.data, op.reverse is not None)))
        else:
            build.replace(build.add(ArgReduceOp(kind, value, op.dim.data)))


def _reduces_predicates(op: Operation) -> bool:
    """Whether Mosaic has a reduction of predicates."""
    matrix = tile_type(op.operands[0]).rank < 3 and tile_type(op.results[0]).rank > 0
    return isinstance(op, ReduceOp) and op.kind.data != "xor" and matrix


class WidenRearrangement(RewritePattern):
    """Broadcasts and reshapes to another last dimension, strided slices, picks; of predicates all of these ops."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Rearrangement, rewriter: PatternRewriter, /) -> None:
        if not is_narrow(element_of(op.operands[0])) or not _moves_lanes(op):
            return
        build = Builder(op, rewriter=rewriter)
        values = _widened(op.operands, build)
        type = tile_type(op.results[0]).with_element(element_of(values[0]))
        value = build.add(op.create(operands=values, properties=dict(op.properties), result_types=[type]))
        if not type.rank:
            drop_casts_back(op.results[0], value)
        build.replace(value)


class WidenSelection(RewritePattern):
    """Masks of narrow lanes that come of picked ones, or are a few rows or repeat one, or were just 32 bits wide, and
    selections among them: Mosaic brings no 16-bit mask to such lanes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp | MaskOp, rewriter: PatternRewriter, /) -> None:
        value, *others = op.operands[1:] if isinstance(op, SelectOp) else op.operands[:1]
        operands = (value, *others)
        numbers = is_narrow(element_of(value)) and element_of(value) != i1
        repeated = numbers and (any(map(_is_few_rows, operands)) or _are_wider(operands))
        if not repeated and not (is_narrow(element_of(value)) and any(map(_comes_of_pick, operands))):
            return
        build = Builder(op, rewriter=rewriter)
        element = wide(element_of(value))
        first, *rest = [_wider(operand) or build.cast(operand, element) for operand in operands]
        if isinstance(op, SelectOp):
            build.replace(build.add(SelectOp(op.condition, first, rest[0])))
        else:
            fill = literal(literal_value(op.fill), element)
            build.replace(build.add(MaskOp(first, op.limits, fill, tile_type(op.result).with_element(element))))


def widened(build: Builder, values: Iterable[SSAValue]) -> list[SSAValue]:
    """The values in the 32-bit types of theirs; integers that are known are constants of these."""
    return [_in_32_bits(build, value) for value in values]


def _in_32_bits(build: Builder, value: SSAValue) -> SSAValue:
    element = element_of(value)
    if is_narrow_integer(element) and (number := constant(value)) is not None:
        return build.full(number, value, wide(element))
    return build.cast(value, wide(element))


def _moves_lanes(op: Operation) -> bool:
    if isinstance(op, BroadcastOp):
        rank = tile_type(op.result).rank
        return bool(op.mapping) and rank - 1 not in op.mapping
    if isinstance(op, ReshapeOp):
        before, after = tile_type(op.input).shape, tile_type(op.result).shape
        return before[-1:] != after[-1:] or element_of(op.input) == i1 or _picked(op.input) is not None
    if isinstance(op, SliceOp):
        return any(stride > 1 and size > 1 for _, size, stride in op.bounds)
    return isinstance(op, TakeAlongOp) or element_of(op.operands[0]) == i1


def _is_few_rows(value: SSAValue) -> bool:
    """Whether a value has fewer rows than a vector register has of 32 bits, or repeats one."""
    op, rank = value.owner, tile_type(value).rank
    if rank > 1 and tile_type(value).shape[rank - 2] < 8:
        return True
    if rank < 2 or not isinstance(op, BroadcastOp):
        return False
    return dict(zip(op.mapping, tile_type(op.input).shape, strict=True)).get(rank - 2, 1) == 1


def _picked(value: SSAValue) -> SSAValue | None:
    """The 32-bit value that a narrow one was cast from, where its lanes were picked from others; else None."""
    cast = value.owner
    return cast.input if isinstance(cast, CastOp) and _is_pick(cast.input) else None


def _are_wider(values: Sequence[SSAValue]) -> bool:
    """Whether some values were 32 bits wide, and the others are numbers."""
    others = [value for value in values if _wider(value) is None]
    return len(others) < len(values) and all(isinstance(value.owner, FullOp) for value in others)


def _wider(value: SSAValue) -> SSAValue | None:
    """The value of the 32-bit type that a narrow one was cast from; else None."""
    cast = value.owner
    return cast.input if isinstance(cast, CastOp) and element_of(cast.input) == wide(element_of(value)) else None


def _is_pick(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, TakeAlongOp) or (
        isinstance(op, ReshapeOp | SelectOp | MaskOp) and any(map(_is_pick, op.operands))
    )


def _comes_of_pick(value: SSAValue) -> bool:
    """Whether a value is computed, lane by lane, from one whose lanes were picked."""
    seen: set[SSAValue] = set()
    wanted = [value]
    while wanted:
        value = wanted.pop()
        if isinstance(op := value.owner, TakeAlongOp):
            return True
        if isinstance(op, _LANE_BY_LANE) and value not in seen:
            wanted += op.operands
        seen.add(value)
    return False


def _widened(values: Iterable[SSAValue], build: Builder) -> list[SSAValue]:
    """The values in the 32-bit types of theirs, picked ones as they were."""
    pairs = [(value, _picked(value)) for value in values]
    return [build.cast(value, wide(element_of(value))) if picked is None else picked for value, picked in pairs]
