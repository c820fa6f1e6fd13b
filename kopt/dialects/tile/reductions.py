"""Ops that combine lanes of a dimension: `reduce`, `argreduce`, `scan`, and the `mask` that makes them safe.

Lanes outside their range are undefined. Before lanes are combined, the pass ``insert-masks`` gives these the neutral
value of the combination. Printers add no masks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FixedBitwidthType,
    IntAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats import Infers
from kopt.dialects.formats.integers import int_array, ints_of
from kopt.dialects.tile.limits import Limits, join_limits, split_limits
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import DimAttr, RangeType, TileType, range_type, tile_type
from kopt.dialects.tile.values import Literal, Typed, is_float, literal, literal_value

#: How lanes are combined, and the value that changes nothing (floats, then integers by width).
COMBINERS = ("add", "mul", "max", "min", "and", "or", "xor")
#: The elementwise op that combines two values as each kind does.
COMBINING_OPS = {kind: {"max": "maximum", "min": "minimum"}.get(kind, kind) for kind in COMBINERS}


def neutral(kind: str, type: Attribute) -> float | int:
    """The value that a combination ignores, for an element type: 0 for add, -inf for max of floats, …"""
    if is_float(type):
        return {"add": 0.0, "mul": 1.0, "max": -float("inf"), "min": float("inf")}[kind]
    assert isinstance(type, IntegerType)
    low, high = _limits(type)
    return {"add": 0, "mul": 1, "max": low, "min": high, "and": -1 if low < 0 else high, "or": 0, "xor": 0}[kind]


def _limits(type: IntegerType) -> tuple[int, int]:
    width = type.width.data
    if type == i1 or type.signedness.data.name == "UNSIGNED":
        return 0, (1 << width) - 1
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def _without(dims: Sequence[DimAttr], dropped: Sequence[int]) -> list[DimAttr]:
    return [dim for position, dim in enumerate(dims) if position not in dropped]


class _Combining(Infers, Op):
    """Shared checks of the combining ops."""

    def _check_kind(self, kind: str, kinds: Sequence[str], type: Attribute) -> None:
        if kind not in kinds:
            raise VerifyException(f"{self.name} knows {', '.join(kinds)}, found '{kind}'")
        if not isinstance(type, FixedBitwidthType):
            raise VerifyException(f"{self.name} combines integers or floats, found {type}")
        if kind in ("and", "or", "xor") and is_float(type):
            raise VerifyException(f"{self.name} {kind} needs integers, found {type}")


@irdl_op_definition
class ReduceOp(_Combining):
    """Combines all lanes of some dimensions, which disappear. ``max`` and ``min`` of floats propagate NaN.

    %s = tile.reduce add %v [1] : !tile.tile<b0=128 x 64 x f32>      // -> !tile.tile<b0=128 x f32>
    """

    name = "tile.reduce"

    input = operand_def(TileType)
    kind = prop_def(StringAttr)
    dims = prop_def(DenseArrayBase)
    result = result_def(TileType)

    traits = traits_def(Pure(), Canonicalized())

    assembly_format = """
        custom<Keyword>($kind) $input custom<Ints>($dims) attr-dict `:` type($input) custom<Infer>(type(results))
    """

    def __init__(self, kind: str, input: SSAValue | Operation, dims: Sequence[int]):
        input = SSAValue.get(input)
        properties = {"kind": StringAttr(kind), "dims": int_array(dims)}
        super().__init__(operands=[input], properties=properties, result_types=self.infer([input.type], properties))

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The dimensions that disappear."""
        return ints_of(self.dims)

    def verify_(self) -> None:
        source = tile_type(self.input)
        self._check_kind(self.kind.data, COMBINERS, source.element_type)
        dims = self.dimensions
        if sorted(set(dims)) != list(dims) or any(not 0 <= dim < source.rank for dim in dims):
            raise VerifyException(f"tile.reduce needs increasing dimensions of {source}, found {list(dims)}")
        self.check_results()

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, dims = operands[0], properties["dims"]
        assert isinstance(source, TileType) and isinstance(dims, DenseArrayBase)
        return [source.with_dims(_without(source.dims.data, ints_of(dims)))]


class _AlongOneDimension(_Combining):
    """Base of the ops ``name kind %v dim n : type``."""

    input = operand_def(TileType)
    kind = prop_def(StringAttr)
    dim = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    def __init__(self, kind: str, input: SSAValue | Operation, dim: int):
        input = SSAValue.get(input)
        properties = {"kind": StringAttr(kind), "dim": IntAttr(dim)}
        super().__init__(operands=[input], properties=properties, result_types=self.infer([input.type], properties))

    def _verify_along(self, kinds: Sequence[str]) -> None:
        source = tile_type(self.input)
        self._check_kind(self.kind.data, kinds, source.element_type)
        if not 0 <= self.dim.data < source.rank:
            raise VerifyException(f"{source} has no dimension {self.dim.data}")
        self.check_results()


@irdl_op_definition
class ArgReduceOp(_AlongOneDimension):
    """The lane number (i32) of the largest (``max``) or smallest (``min``) lane; the first of equals; NaN wins.

    %n = tile.argreduce max %v dim 1 : !tile.tile<b0=128 x 64 x f32>   // -> !tile.tile<b0=128 x i32>
    """

    name = "tile.argreduce"

    assembly_format = """
        custom<Keyword>($kind) $input `dim` custom<Int>($dim) attr-dict `:` type($input) custom<Infer>(type(results))
    """

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, dim = operands[0], properties["dim"]
        assert isinstance(source, TileType) and isinstance(dim, IntAttr)
        return [TileType(_without(source.dims.data, [dim.data]), IntegerType(32))]

    def verify_(self) -> None:
        self._verify_along(("max", "min"))


@irdl_op_definition
class ScanOp(_AlongOneDimension):
    """Running combination along one dimension, inclusive, from the first lane: ``add`` is a cumulative sum.

    With ``reverse`` it runs from the last lane.

        %c = tile.scan add %v dim 1 : !tile.tile<b0=128 x 64 x f32>        // -> the same type
        %r = tile.scan add %v dim 1 reverse : !tile.tile<b0=128 x 64 x f32>
    """

    name = "tile.scan"

    reverse = opt_prop_def(UnitAttr)

    assembly_format = """
        custom<Keyword>($kind) $input `dim` custom<Int>($dim) (`reverse` $reverse^)? attr-dict `:` type($input)
        custom<Infer>(type(results))
    """

    def __init__(self, kind: str, input: SSAValue | Operation, dim: int, reverse: bool = False):
        super().__init__(kind, input, dim)
        if reverse:
            self.reverse = UnitAttr()

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        return operands

    def verify_(self) -> None:
        self._verify_along(COMBINERS)


@irdl_op_definition
class MaskOp(Op):
    """Gives lanes outside their range a value. One entry a dimension: the range that limits it, or ``_``.

    A range may limit a dimension of its size that has another tag: gathers and offsets keep lanes under a new tag.
    The result may drop the tags of masked dimensions, since all of their lanes are then defined.

        %m = tile.mask %v in (%i, _) else 0.0 : !tile.tile<b0=128 x 64 x f32>
        %p = tile.mask %v in (%i, _) else 0.0 : !tile.tile<b0=128 x 64 x f32> to !tile.tile<128 x 64 x f32>
    """

    name = "tile.mask"

    input = operand_def(TileType)
    ranges = var_operand_def(RangeType)
    layout = prop_def(ArrayAttr)
    fill = prop_def(Attribute)
    result = result_def(TileType)

    traits = traits_def(Pure(), Canonicalized())

    custom_directives = (Limits, Literal, Typed)
    assembly_format = """
        $input `in` custom<Limits>($ranges, type($ranges), $layout) `else` custom<Literal>($fill) attr-dict
        `:` custom<Change>(type($input), type($result)) custom<Typed>(ref(type($input)))
    """

    def __init__(
        self,
        input: SSAValue | Operation,
        ranges: Sequence[SSAValue | None],
        fill: Attribute | float | int,
        type: TileType | None = None,
    ):
        input = SSAValue.get(input)
        attr = fill if isinstance(fill, Attribute) else literal(fill, tile_type(input).element_type)
        operands, layout = split_limits(ranges)
        super().__init__(
            operands=[input, operands],
            properties={"layout": layout, "fill": attr},
            result_types=[type or tile_type(input)],
        )

    @property
    def limits(self) -> tuple[SSAValue | None, ...]:
        """The range that limits each dimension, or None."""
        return join_limits(self.ranges, self.layout)

    @property
    def fill_number(self) -> float | int:
        """The fill as a Python number."""
        return literal_value(self.fill)

    def verify_(self) -> None:
        source, target = tile_type(self.input), tile_type(self.result)
        slots = sum(isinstance(attr, UnitAttr) for attr in self.layout.data)
        if len(self.layout.data) != source.rank or slots != len(self.ranges):
            raise VerifyException(f"tile.mask needs one range or '_' for each dimension of {source}")
        if getattr(self.fill, "type", None) != source.element_type or target.element_type != source.element_type:
            raise VerifyException(f"tile.mask keeps the element type {source.element_type}")
        if target.rank != source.rank:
            raise VerifyException(f"tile.mask keeps the dimensions, found {source} to {target}")
        for limit, before, after in zip(self.limits, source.dims.data, target.dims.data, strict=True):
            self._verify_dim(limit, before, after)

    def _verify_dim(self, limit: SSAValue | None, before: DimAttr, after: DimAttr) -> None:
        if limit is not None:
            if range_type(limit).size != before.size.data:
                raise VerifyException(f"{range_type(limit)} cannot limit dimension {before}")
        if after != before and (limit is None or after != DimAttr(before.size.data)):
            raise VerifyException(f"tile.mask can drop the tag of a masked dimension only, found {before} to {after}")


#: How a dot rounds its operands: exact for their type, to one number of tf32 or bf16, or to the sum of two.
PRECISIONS = ("ieee", "tf32", "bf16", "tf32x3", "bf16x3")


@irdl_op_definition
class DotOp(Op):
    """Matrix product over leading batch dimensions, plus an accumulator if given.

    ``[…, M, K] x […, K, N] -> […, M, N]``; K has one size and one tag on both sides. The result's element type is
    the accumulator's: f32 for floats (f64 for f64), i32 for integers (i64 for 64 bits). Operands may be narrower, of
    one type, and no values of ``index``. ``precision`` says how f32 operands may be rounded; left out it is the
    target's default.

        %d = tile.dot %l, %r, %acc precision ieee : !tile.tile<…>, !tile.tile<…> -> !tile.tile<…>
    """

    name = "tile.dot"

    lhs = operand_def(TileType)
    rhs = operand_def(TileType)
    acc = var_operand_def(TileType)
    precision = opt_prop_def(StringAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = """
        $lhs `,` $rhs (`,` custom<Known>($acc, type($acc))^)? (`precision` custom<Keyword>($precision)^)?
        attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
    """

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        acc: SSAValue | None = None,
        element_type: Attribute | None = None,
        precision: str | None = None,
    ):
        lhs, rhs = SSAValue.get(lhs), SSAValue.get(rhs)
        element_type = element_type or (
            acc.type.element_type if acc is not None and isinstance(acc.type, TileType) else None
        )
        assert element_type is not None, "a dot needs an accumulator or an element type"
        super().__init__(
            operands=[lhs, rhs, [acc] if acc is not None else []],
            properties={"precision": StringAttr(precision) if precision else None},
            result_types=[_dot_type(lhs.type, rhs.type, element_type)],
        )

    @property
    def accumulator(self) -> SSAValue | None:
        """The accumulator, or None."""
        return self.acc[0] if self.acc else None

    def verify_(self) -> None:
        lhs, rhs, result = tile_type(self.lhs), tile_type(self.rhs), tile_type(self.result)
        if lhs.rank < 2 or lhs.rank != rhs.rank or lhs.element_type != rhs.element_type:
            raise VerifyException(f"tile.dot needs two matrices of one rank and element type, found {lhs} and {rhs}")
        if not isinstance(lhs.element_type, FixedBitwidthType):
            raise VerifyException(f"tile.dot multiplies integers or floats, found {lhs} and {rhs}")
        if lhs.dims.data[-1] != rhs.dims.data[-2] or lhs.dims.data[:-2] != rhs.dims.data[:-2]:
            raise VerifyException(f"tile.dot cannot contract {lhs} with {rhs}")
        if result != _dot_type(lhs, rhs, result.element_type):
            raise VerifyException(f"tile.dot gives {_dot_type(lhs, rhs, result.element_type)}, found {result}")
        if result.element_type != (sums := _sums_of(lhs.element_type)):
            raise VerifyException(f"tile.dot adds products of {lhs.element_type} in {sums}, found {result}")
        if len(self.acc) > 1 or any(acc.type != result for acc in self.acc):
            raise VerifyException(f"the accumulator of tile.dot must be {result}, found {self.acc[0].type}")
        if self.precision is not None and self.precision.data not in PRECISIONS:
            raise VerifyException(f"precision is one of {', '.join(PRECISIONS)}, found '{self.precision.data}'")


def _sums_of(type: FixedBitwidthType) -> Attribute:
    """What products of an element type are added in: 32 bits, or 64 where it has these."""
    narrow, wide = (f32, f64) if is_float(type) else (i32, i64)
    return wide if type.bitwidth == 64 else narrow


def _dot_type(lhs: Attribute, rhs: Attribute, element_type: Attribute) -> TileType:
    assert isinstance(lhs, TileType) and isinstance(rhs, TileType)
    return TileType([*lhs.dims.data[:-1], rhs.dims.data[-1]], element_type)


OPS = (ReduceOp, ArgReduceOp, ScanOp, MaskOp, DotOp)
