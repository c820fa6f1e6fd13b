"""Ops on loop bindings: a range's numbers, its lane indices, its validity, and shifted ranges.

%b = tile.begin %i : !tile.range<b0=128>          // index: first element of the block
%x = tile.index %i : !tile.range<b0=128>          // !tile.tile<b0=128 x i32>: begin + 0 … 127
%s = tile.shift %i by %n : !tile.range<b0=128>    // the same lanes, n elements further
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntAttr, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Pure, Resource
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats import Infers
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import RangeType, TileType, range_type


class RangeNumberOp(Op):
    """Base of the ops that give a number (``index``) of a range."""

    range = operand_def(RangeType)
    result = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "$range attr-dict `:` type($range)"

    def __init__(self, range: SSAValue | Operation):
        super().__init__(operands=[range], result_types=[IndexType()])


@irdl_op_definition
class BeginOp(RangeNumberOp):
    """The first element of the block, in elements of the array that the range walks."""

    name = "tile.begin"


@irdl_op_definition
class EndOp(RangeNumberOp):
    """One past the last valid element of the block: ``min(begin + size, limit)``."""

    name = "tile.end"


@irdl_op_definition
class IdOp(RangeNumberOp):
    """The number of the block in its loop, from 0."""

    name = "tile.id"


@irdl_op_definition
class CountOp(RangeNumberOp):
    """The number of blocks of the loop."""

    name = "tile.count"


@irdl_op_definition
class BlockSizeOp(RangeNumberOp):
    """The size of the range's blocks, valid lanes or not. A constant once block sizes are chosen."""

    name = "tile.block_size"


@irdl_op_definition
class ValidCountOp(RangeNumberOp):
    """How many lanes of the block are valid: ``tile.end - tile.begin``. At most the block size."""

    name = "tile.valid_count"


class RangeLanesOp(Infers, Op):
    """Base of the ops that give a number to each lane of a range."""

    ELEMENT_TYPE: ClassVar[Attribute]

    range = operand_def(RangeType)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = "$range attr-dict `:` type($range) custom<Infer>(type(results))"

    def __init__(self, range: SSAValue | Operation):
        range = SSAValue.get(range)
        super().__init__(operands=[range], result_types=self.infer([range.type], {}))

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        range = operands[0]
        assert isinstance(range, RangeType)
        return [TileType([range.dim], cls.ELEMENT_TYPE)]

    def verify_(self) -> None:
        self.check_results()


@irdl_op_definition
class IndexOp(RangeLanesOp):
    """The element number of each lane, as i32: ``begin + lane``. Lanes past the limit count on."""

    name = "tile.index"
    ELEMENT_TYPE: ClassVar[Attribute] = i32


@irdl_op_definition
class ValidOp(RangeLanesOp):
    """Whether each lane is inside its range: ``begin + lane < limit``."""

    name = "tile.valid"
    ELEMENT_TYPE: ClassVar[Attribute] = i1


@irdl_op_definition
class ShiftOp(Op):
    """The same lanes, ``offset`` elements further: begin and limit both move. Validity of lanes does not change."""

    name = "tile.shift"

    range = operand_def(RangeType)
    offset = operand_def(IndexType())
    result = result_def(RangeType)

    traits = traits_def(Pure(), Canonicalized())

    assembly_format = "$range `by` $offset attr-dict `:` type($range) custom<Same>(type($result), ref(type($range)))"

    def __init__(self, range: SSAValue | Operation, offset: SSAValue | Operation):
        range = SSAValue.get(range)
        super().__init__(operands=[range, offset], result_types=[range.type])

    def verify_(self) -> None:
        if self.result.type != self.range.type:
            raise VerifyException(f"tile.shift keeps the range's type, found {self.result.type}")


class _Tags(Resource):
    """The tags that types may name."""

    def name(self) -> str:
        return "Tags"


class _BindsTag(MemoryEffect):
    """A range that no op uses is still there for the types that name its tag: they say which lanes are undefined."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.WRITE, resource=_Tags())}


@irdl_op_definition
class WholeOp(Op):
    """A range over a whole plain extent, wider than it: ``%w = tile.whole 2560 : !tile.range<w0=4096>``.

    It begins at 0, and its limit is ``extent``. Passes make it where a target wants blocks of a power of two. Without
    uses it is kept until ``insert-masks``, since types may name its tag.
    """

    name = "tile.whole"

    extent = prop_def(IntAttr)
    result = result_def(RangeType)

    traits = traits_def(_BindsTag())

    assembly_format = "custom<Int>($extent) attr-dict `:` type($result)"

    def __init__(self, extent: int, type: RangeType):
        super().__init__(properties={"extent": IntAttr(extent)}, result_types=[type])

    def verify_(self) -> None:
        if not 0 <= self.extent.data <= range_type(self.result).size:
            raise VerifyException(f"{self.extent.data} elements do not fit {range_type(self.result)}")


OPS = (BeginOp, EndOp, IdOp, BlockSizeOp, CountOp, ValidCountOp, IndexOp, ValidOp, ShiftOp, WholeOp)
