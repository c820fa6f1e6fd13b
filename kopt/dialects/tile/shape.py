"""Ops that rearrange the lanes of tiles: broadcasts, reshapes, transposes, slices, concatenation, picking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntAttr, IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.tile.integers import int_array, ints_of, parse_ints, print_ints
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import DimLike, TileType, as_dim, parse_known_types, parse_tile_type


class _Rearranging(Op):
    """Base of the ops with one input, a list of integers, and both types printed."""

    input = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure(), Canonicalized())

    @property
    def input_type(self) -> TileType:
        """The input's type."""
        assert isinstance(self.input.type, TileType)
        return self.input.type

    @property
    def result_type(self) -> TileType:
        """The result's type."""
        assert isinstance(self.result.type, TileType)
        return self.result.type

    def _check_element(self) -> None:
        if self.input_type.element_type != self.result_type.element_type:
            raise VerifyException(f"{self.name} keeps the element type, found {self.input_type} to {self.result_type}")


@irdl_op_definition
class BroadcastOp(_Rearranging):
    """Repeats lanes: input dimension ``n`` becomes result dimension ``dims[n]``; the others are new.

    A mapped dimension is equal, a plain 1 that is repeated, or a plain one of as many lanes, which takes the tag
    (lane ``n`` becomes lane ``n`` of the block). ``dims`` increases.

        %b = tile.broadcast %v dims [0] : !tile.tile<b0=128 x f32> to !tile.tile<b0=128 x 64 x f32>
    """

    name = "tile.broadcast"

    dims = prop_def(DenseArrayBase)

    def __init__(self, input: SSAValue | Operation, dims: Sequence[int], type: TileType):
        super().__init__(operands=[input], properties={"dims": int_array(dims)}, result_types=[type])

    @property
    def mapping(self) -> tuple[int, ...]:
        """The result dimension of each input dimension."""
        return ints_of(self.dims)

    def verify_(self) -> None:
        self._check_element()
        mapping, source, target = self.mapping, self.input_type.dims.data, self.result_type.dims.data
        if (
            len(mapping) != len(source)
            or list(mapping) != sorted(set(mapping))
            or any(not 0 <= d < len(target) for d in mapping)
        ):
            raise VerifyException(
                f"tile.broadcast needs one increasing result dimension an input dimension, found {list(mapping)}"
            )
        for dim, position in zip(source, mapping, strict=True):
            if dim not in (target[position], as_dim(1), as_dim(target[position].size.data)):
                raise VerifyException(f"tile.broadcast cannot repeat dimension {dim} to {target[position]}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        input = parser.parse_unresolved_operand()
        parser.parse_keyword("dims")
        dims = parse_ints(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parse_tile_type(parser)
        parser.parse_keyword("to")
        op = cls(parser.resolve_operand(input, source), dims, parse_tile_type(parser))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(" dims ")
        print_ints(printer, self.mapping)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ReshapeOp(_Rearranging):
    """The same lanes in row-major order under other dimensions, as many in all. Adds, drops, splits, merges dimensions.

    %r = tile.reshape %v : !tile.tile<b0=128 x f32> to !tile.tile<b0=128 x 1 x f32>
    """

    name = "tile.reshape"

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation, type: TileType):
        super().__init__(operands=[input], result_types=[type])

    def verify_(self) -> None:
        self._check_element()
        if math.prod(self.input_type.shape) != math.prod(self.result_type.shape):
            raise VerifyException(
                f"tile.reshape keeps the number of lanes, found {self.input_type} to {self.result_type}"
            )
        kept = [tag for tag in self.result_type.tags if tag and tag not in self.input_type.tags]
        if kept:
            raise VerifyException(f"tile.reshape cannot make a dimension tagged {kept[0]}")


@irdl_op_definition
class TransposeOp(_Rearranging):
    """Permutes dimensions: result dimension ``n`` is input dimension ``permutation[n]``.

    %t = tile.transpose %v [1, 0] : !tile.tile<b0=128 x 64 x f32>
    """

    name = "tile.transpose"

    permutation = prop_def(DenseArrayBase)

    def __init__(self, input: SSAValue | Operation, permutation: Sequence[int]):
        input = SSAValue.get(input)
        assert isinstance(input.type, TileType)
        dims = [input.type.dims.data[position] for position in permutation]
        super().__init__(
            operands=[input],
            properties={"permutation": int_array(permutation)},
            result_types=[input.type.with_dims(dims)],
        )

    @property
    def order(self) -> tuple[int, ...]:
        """The input dimension of each result dimension."""
        return ints_of(self.permutation)

    def verify_(self) -> None:
        self._check_element()
        source, order = self.input_type.dims.data, self.order
        if sorted(order) != list(range(len(source))):
            raise VerifyException(f"{list(order)} is no permutation of {len(source)} dimensions")
        if tuple(source[position] for position in order) != self.result_type.dims.data:
            raise VerifyException(f"tile.transpose {list(order)} of {self.input_type} is not {self.result_type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        input = parser.parse_unresolved_operand()
        start = parser.pos
        order = parse_ints(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parse_tile_type(parser)
        if sorted(order) != list(range(type.rank)):
            message = f"expected a permutation of the dimensions of {type}, found {list(order)}"
            parser.raise_error(message, start, start + 1)
        op = cls(parser.resolve_operand(input, type), order)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(" ")
        print_ints(printer, self.order)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)


@irdl_op_definition
class SliceOp(_Rearranging):
    """A static slice of each dimension; a tagged dimension is taken whole.

    %s = tile.slice %v [0, 8] [128, 16] [1, 2] : !tile.tile<b0=128 x 64 x f32> to !tile.tile<b0=128 x 16 x f32>
    """

    name = "tile.slice"

    offsets = prop_def(DenseArrayBase)
    sizes = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)

    def __init__(
        self, input: SSAValue | Operation, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ):
        input = SSAValue.get(input)
        assert isinstance(input.type, TileType)
        dims: list[DimLike] = [
            dim if dim.size.data == size else size for dim, size in zip(input.type.dims.data, sizes, strict=True)
        ]
        super().__init__(
            operands=[input],
            properties={"offsets": int_array(offsets), "sizes": int_array(sizes), "strides": int_array(strides)},
            result_types=[input.type.with_dims(dims)],
        )

    @property
    def bounds(self) -> tuple[tuple[int, int, int], ...]:
        """Offset, size and stride of each dimension, in lanes."""
        return tuple(zip(ints_of(self.offsets), ints_of(self.sizes), ints_of(self.strides), strict=True))

    def verify_(self) -> None:
        self._check_element()
        if not len(self.offsets) == len(self.sizes) == len(self.strides) == self.input_type.rank:
            raise VerifyException(f"tile.slice needs three numbers for each dimension of {self.input_type}")
        for dim, (offset, size, stride) in zip(self.input_type.dims.data, self.bounds, strict=True):
            last = offset + max(size - 1, 0) * stride
            if offset < 0 or stride < 1 or size < 0 or (size and last >= dim.size.data):
                raise VerifyException(f"slice [{offset}] [{size}] [{stride}] is outside dimension {dim}")
            if dim.tag.data and (offset, size, stride) != (0, dim.size.data, 1):
                raise VerifyException(f"tile.slice takes the tagged dimension {dim} whole or not at all")
        if self.result_type.shape != tuple(size for _, size, _ in self.bounds):
            raise VerifyException(
                f"tile.slice gives {tuple(size for _, size, _ in self.bounds)}, found {self.result_type}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        input = parser.parse_unresolved_operand()
        offsets, sizes, strides = parse_ints(parser), parse_ints(parser), parse_ints(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parse_tile_type(parser)
        if not len(offsets) == len(sizes) == len(strides) == source.rank:
            parser.raise_error(f"expected an offset, a size and a stride for each dimension of {source}")
        op = cls(parser.resolve_operand(input, source), offsets, sizes, strides)
        parser.parse_keyword("to")
        parse_known_types(parser, [op.result.type])
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        for numbers in (self.offsets, self.sizes, self.strides):
            printer.print_string(" ")
            print_ints(printer, ints_of(numbers))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class DynamicSliceOp(Op):
    """The lanes of one dimension from a computed one on: lane ``n`` is the input's lane ``offset + n``.

    The result's dimension has no more lanes, and may have a tag of its own; lanes from outside the input are undefined.

        %s = tile.dynamic_slice %v from %o dim 0 : !tile.tile<b3=24 x 64 x f32> to !tile.tile<b0=16 x 64 x f32>
    """

    name = "tile.dynamic_slice"

    input = operand_def(TileType)
    offset = operand_def(IndexType())
    dim = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    def __init__(self, input: SSAValue | Operation, offset: SSAValue | Operation, dim: int, type: TileType):
        super().__init__(operands=[input, offset], properties={"dim": IntAttr(dim)}, result_types=[type])

    def verify_(self) -> None:
        source, target, dim = self.input.type, self.result.type, self.dim.data
        assert isinstance(source, TileType) and isinstance(target, TileType)
        fits = 0 <= dim < source.rank == target.rank and target.shape[dim] <= source.shape[dim]
        expected = [*source.dims.data[:dim], target.dims.data[dim], *source.dims.data[dim + 1 :]] if fits else None
        if target.dims.data != tuple(expected or ()) or source.element_type != target.element_type:
            raise VerifyException(f"tile.dynamic_slice along dimension {dim} cannot make {target} of {source}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        input = parser.parse_operand()
        parser.parse_keyword("from")
        offset = parser.parse_operand()
        parser.parse_keyword("dim")
        dim = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parse_known_types(parser, [input.type])
        parser.parse_keyword("to")
        op = cls(input, offset, dim, parse_tile_type(parser))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(" from ")
        printer.print_ssa_value(self.offset)
        printer.print_string(f" dim {self.dim.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ConcatOp(Op):
    """Joins tiles along one dimension, which becomes plain: ``tile.concat %a, %b dim 1 : A, B to R``."""

    name = "tile.concat"

    inputs = var_operand_def(TileType)
    dim = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    def __init__(self, inputs: Sequence[SSAValue | Operation], dim: int):
        values = [SSAValue.get(value) for value in inputs]
        super().__init__(operands=[values], properties={"dim": IntAttr(dim)}, result_types=[_concat(values, dim)])

    def verify_(self) -> None:
        types = [value.type for value in self.inputs if isinstance(value.type, TileType)]
        dim = self.dim.data
        if not types:
            raise VerifyException("tile.concat joins one tile at least")
        for type in types:
            others = [d for n, d in enumerate(type.dims.data) if n != dim]
            first = [d for n, d in enumerate(types[0].dims.data) if n != dim]
            if others != first or type.element_type != types[0].element_type or not 0 <= dim < type.rank:
                raise VerifyException(f"tile.concat along {dim} cannot join {types[0]} and {type}")
        if self.result.type != _concat(self.inputs, dim):
            raise VerifyException(f"tile.concat gives {_concat(self.inputs, dim)}, found {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        inputs = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_operand)
        parser.parse_keyword("dim")
        dim = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parse_known_types(parser, [value.type for value in inputs])
        if not all(isinstance(value.type, TileType) and 0 <= dim < value.type.rank for value in inputs):
            parser.raise_error(f"tile.concat joins tiles that have a dimension {dim}")
        parser.parse_keyword("to")
        op = cls(inputs, dim)
        parse_known_types(parser, [op.result.type])
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.inputs, printer.print_ssa_value)
        printer.print_string(f" dim {self.dim.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([value.type for value in self.inputs], printer.print_attribute)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


def _concat(values: Sequence[SSAValue], dim: int) -> TileType:
    types = [value.type for value in values]
    first = types[0]
    assert isinstance(first, TileType)
    total = sum(type.shape[dim] for type in types if isinstance(type, TileType))
    return first.with_dims([as_dim(total) if n == dim else d for n, d in enumerate(first.dims.data)])


@irdl_op_definition
class TakeAlongOp(Op):
    """Picks lanes along one dimension by number, as NumPy's ``take_along_axis``: both tiles have one rank.

    A number below 0 or past the last lane is an access that is wrong, where its own lane is inside its ranges.

    %t = tile.take_along %v, %idx dim 1 : !tile.tile<b0=8 x 64 x f32>, !tile.tile<b0=8 x 4 x i32>
    """

    name = "tile.take_along"

    input = operand_def(TileType)
    indices = operand_def(TileType)
    dim = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    def __init__(self, input: SSAValue | Operation, indices: SSAValue | Operation, dim: int):
        input, indices = SSAValue.get(input), SSAValue.get(indices)
        assert isinstance(input.type, TileType) and isinstance(indices.type, TileType)
        super().__init__(
            operands=[input, indices],
            properties={"dim": IntAttr(dim)},
            result_types=[indices.type.with_element(input.type.element_type)],
        )

    @property
    def rows(self) -> SSAValue | None:
        """The row numbers, where every column picks the same rows of a matrix."""
        assert isinstance(self.input.type, TileType)
        owner, first = self.indices.owner, self.input.type.rank == 2 and self.dim.data == 0
        return owner.input if first and isinstance(owner, BroadcastOp) and tuple(owner.mapping) == (0,) else None

    def verify_(self) -> None:
        source, indices = self.input.type, self.indices.type
        assert isinstance(source, TileType) and isinstance(indices, TileType)
        pairs = enumerate(zip(source.dims.data, indices.dims.data, strict=False))
        dim = self.dim.data
        if source.rank != indices.rank or not 0 <= dim < source.rank or any(a != b for n, (a, b) in pairs if n != dim):
            raise VerifyException(f"tile.take_along dim {dim} cannot pick from {source} by {indices}")
        if not isinstance(indices.element_type, IntegerType) or indices.element_type.width.data == 1:
            raise VerifyException(f"tile.take_along picks by a tile of integers, found {indices}")
        expected = indices.with_element(source.element_type)
        if self.result.type != expected:
            raise VerifyException(f"tile.take_along gives {expected}, found {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        input = parser.parse_operand()
        parser.parse_punctuation(",")
        indices = parser.parse_operand()
        parser.parse_keyword("dim")
        dim = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = [input.type, indices.type]
        parse_known_types(parser, types)
        if not all(isinstance(type, TileType) for type in types):
            parser.raise_error("tile.take_along picks from a tile by a tile of integers")
        op = cls(input, indices, dim)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list((self.input, self.indices), printer.print_ssa_value)
        printer.print_string(f" dim {self.dim.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.input.type, self.indices.type), printer.print_attribute)


OPS = (BroadcastOp, ReshapeOp, TransposeOp, SliceOp, DynamicSliceOp, ConcatOp, TakeAlongOp)
