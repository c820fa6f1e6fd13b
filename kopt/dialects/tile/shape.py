"""Ops that rearrange the lanes of tiles: broadcasts, reshapes, transposes, slices, concatenation, picking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
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
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import TileType, as_dim, tile_type


class _Rearranging(Op):
    """Base of the ops with one input, a list of integers, and both types printed."""

    input = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure(), Canonicalized())

    @property
    def input_type(self) -> TileType:
        """The input's type."""
        return tile_type(self.input)

    @property
    def result_type(self) -> TileType:
        """The result's type."""
        return tile_type(self.result)

    def _check_element(self) -> None:
        if self.input_type.element_type != self.result_type.element_type:
            raise VerifyException(f"{self.name} keeps the element type, found {self.input_type} to {self.result_type}")


@irdl_op_definition
class BroadcastOp(_Rearranging):
    """Repeats lanes: input dimension ``n`` becomes result dimension ``dims[n]``; the others are new.

    A mapped dimension is one of three: the same in both types; a plain 1, which is repeated; or a plain dimension of
    as many lanes, which takes the result's tag, lane by lane. The numbers in ``dims`` increase.

        %b = tile.broadcast %v dims [0] : !tile.tile<b0=128 x f32> to !tile.tile<b0=128 x 64 x f32>
    """

    name = "tile.broadcast"

    dims = prop_def(DenseArrayBase)

    assembly_format = "$input `dims` custom<Ints>($dims) attr-dict `:` type($input) `to` type($result)"

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


@irdl_op_definition
class ReshapeOp(_Rearranging):
    """The same lanes in row-major order, with other dimensions: adds, drops, splits or merges them.

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
class TransposeOp(Infers, _Rearranging):
    """Permutes dimensions: result dimension ``n`` is input dimension ``permutation[n]``.

    %t = tile.transpose %v [1, 0] : !tile.tile<b0=128 x 64 x f32>
    """

    name = "tile.transpose"

    permutation = prop_def(DenseArrayBase)

    assembly_format = "$input custom<Ints>($permutation) attr-dict `:` type($input) custom<Infer>(type(results))"

    def __init__(self, input: SSAValue | Operation, permutation: Sequence[int]):
        input = SSAValue.get(input)
        properties = {"permutation": int_array(permutation)}
        super().__init__(operands=[input], properties=properties, result_types=self.infer([input.type], properties))

    @property
    def order(self) -> tuple[int, ...]:
        """The input dimension of each result dimension."""
        return ints_of(self.permutation)

    def verify_(self) -> None:
        self.check_results()

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, permutation = operands[0], properties["permutation"]
        assert isinstance(source, TileType) and isinstance(permutation, DenseArrayBase)
        order = ints_of(permutation)
        if sorted(order) != list(range(source.rank)):
            raise VerifyException(f"{list(order)} is no permutation of the dimensions of {source}")
        return [source.with_dims(source.dims.data[position] for position in order)]


@irdl_op_definition
class SliceOp(_Rearranging):
    """A static slice of each dimension; a tagged dimension is taken whole.

    %s = tile.slice %v [0, 8] [128, 16] [1, 2] : !tile.tile<b0=128 x 64 x f32> to !tile.tile<b0=128 x 16 x f32>
    """

    name = "tile.slice"

    offsets = prop_def(DenseArrayBase)
    sizes = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)

    assembly_format = """
        $input custom<Ints>($offsets) custom<Ints>($sizes) custom<Ints>($strides) attr-dict
        `:` type($input) `to` type($result)
    """

    def __init__(
        self, input: SSAValue | Operation, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ):
        input = SSAValue.get(input)
        super().__init__(
            operands=[input],
            properties={"offsets": int_array(offsets), "sizes": int_array(sizes), "strides": int_array(strides)},
            result_types=[_sliced(input.type, sizes)],
        )

    @property
    def bounds(self) -> tuple[tuple[int, int, int], ...]:
        """Offset, size and stride of each dimension, in lanes."""
        return tuple(zip(ints_of(self.offsets), ints_of(self.sizes), ints_of(self.strides), strict=True))

    def verify_(self) -> None:
        if not len(self.offsets) == len(self.sizes) == len(self.strides) == self.input_type.rank:
            raise VerifyException(f"tile.slice needs three numbers for each dimension of {self.input_type}")
        for dim, (offset, size, stride) in zip(self.input_type.dims.data, self.bounds, strict=True):
            last = offset + max(size - 1, 0) * stride
            if offset < 0 or stride < 1 or size < 0 or (size and last >= dim.size.data):
                raise VerifyException(f"slice [{offset}] [{size}] [{stride}] is outside dimension {dim}")
            if dim.tag.data and (offset, size, stride) != (0, dim.size.data, 1):
                raise VerifyException(f"tile.slice takes the tagged dimension {dim} whole or not at all")
        if self.result.type != (expected := _sliced(self.input.type, ints_of(self.sizes))):
            raise VerifyException(f"tile.slice gives {expected}, found {self.result.type}")


def _sliced(source: Attribute, sizes: Sequence[int]) -> TileType:
    assert isinstance(source, TileType)
    return source.with_dims(
        dim if dim.size.data == size else size for dim, size in zip(source.dims.data, sizes, strict=True)
    )


@irdl_op_definition
class DynamicSliceOp(Op):
    """The lanes of one dimension from a computed one on: lane ``n`` is the input's lane ``offset + n``.

    The result's dimension has no more lanes than the input's, and may have another tag. Lanes from outside the input
    are undefined.

        %s = tile.dynamic_slice %v from %o dim 0 : !tile.tile<b3=24 x 64 x f32> to !tile.tile<b0=16 x 64 x f32>
    """

    name = "tile.dynamic_slice"

    input = operand_def(TileType)
    offset = operand_def(IndexType())
    dim = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = """
        $input `from` $offset `dim` custom<Int>($dim) attr-dict `:` type($input) `to` type($result)
    """

    def __init__(self, input: SSAValue | Operation, offset: SSAValue | Operation, dim: int, type: TileType):
        super().__init__(operands=[input, offset], properties={"dim": IntAttr(dim)}, result_types=[type])

    def verify_(self) -> None:
        source, target, dim = tile_type(self.input), tile_type(self.result), self.dim.data
        fits = 0 <= dim < source.rank == target.rank and target.shape[dim] <= source.shape[dim]
        expected = [*source.dims.data[:dim], target.dims.data[dim], *source.dims.data[dim + 1 :]] if fits else None
        if target.dims.data != tuple(expected or ()) or source.element_type != target.element_type:
            raise VerifyException(f"tile.dynamic_slice along dimension {dim} cannot make {target} of {source}")


@irdl_op_definition
class ConcatOp(Op):
    """Joins tiles along one dimension, which becomes plain: ``tile.concat %a, %b dim 1 : A, B to R``."""

    name = "tile.concat"

    inputs = var_operand_def(TileType)
    dim = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = "$inputs `dim` custom<Int>($dim) attr-dict `:` type($inputs) `to` type($result)"

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


def _concat(values: Sequence[SSAValue], dim: int) -> TileType:
    types = [value.type for value in values]
    first = types[0]
    assert isinstance(first, TileType)
    total = sum(type.shape[dim] for type in types if isinstance(type, TileType))
    return first.with_dims([as_dim(total) if n == dim else d for n, d in enumerate(first.dims.data)])


#: Says of a `take_along` that nothing uses the lanes whose number is outside.
SPARE = "tile.spare"


@irdl_op_definition
class TakeAlongOp(Infers, Op):
    """Picks lanes along one dimension by number, as NumPy's ``take_along_axis``: both tiles have one rank.

    A valid lane of ``indices`` must hold the number of a lane of the input. With ``{tile.spare}`` any number may stand
    there: what a number outside the input picks is undefined, and nothing uses it.

    %t = tile.take_along %v, %idx dim 1 : !tile.tile<b0=8 x 64 x f32>, !tile.tile<b0=8 x 4 x i32>
    """

    name = "tile.take_along"

    input = operand_def(TileType)
    indices = operand_def(TileType)
    dim = prop_def(IntAttr)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = """
        $input `,` $indices `dim` custom<Int>($dim) attr-dict `:` type($input) `,` type($indices)
        custom<Infer>(type(results))
    """

    def __init__(self, input: SSAValue | Operation, indices: SSAValue | Operation, dim: int):
        input, indices = SSAValue.get(input), SSAValue.get(indices)
        super().__init__(
            operands=[input, indices],
            properties={"dim": IntAttr(dim)},
            result_types=self.infer((input.type, indices.type), {}),
        )

    @property
    def rows(self) -> SSAValue | None:
        """The row numbers, where every column picks the same rows of a matrix."""
        owner, first = self.indices.owner, tile_type(self.input).rank == 2 and self.dim.data == 0
        return owner.input if first and isinstance(owner, BroadcastOp) and tuple(owner.mapping) == (0,) else None

    def verify_(self) -> None:
        source, indices = tile_type(self.input), tile_type(self.indices)
        pairs = enumerate(zip(source.dims.data, indices.dims.data, strict=False))
        dim = self.dim.data
        if source.rank != indices.rank or not 0 <= dim < source.rank or any(a != b for n, (a, b) in pairs if n != dim):
            raise VerifyException(f"tile.take_along dim {dim} cannot pick from {source} by {indices}")
        if not isinstance(indices.element_type, IntegerType) or indices.element_type.width.data == 1:
            raise VerifyException(f"tile.take_along picks by a tile of integers, found {indices}")
        self.check_results()

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, indices = operands
        assert isinstance(source, TileType) and isinstance(indices, TileType)
        return [indices.with_element(source.element_type)]


OPS = (BroadcastOp, ReshapeOp, TransposeOp, SliceOp, DynamicSliceOp, ConcatOp, TakeAlongOp)
