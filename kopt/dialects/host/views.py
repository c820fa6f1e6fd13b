"""Views: arrays that share another's storage, so that writes through them are writes to it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import (
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats.integers import int_array, ints_of
from kopt.dialects.host.types import check_numbers
from kopt.dialects.tile.types import array_type
from kopt.open_extents import elements, is_open


class ViewOp(Op):
    """Base of the ops whose result shares the storage of ``source``."""

    source = operand_def(MemRefType)
    result = result_def(MemRefType)

    traits = traits_def(Pure())

    @property
    def source_type(self) -> MemRefType:
        """The source's type."""
        return array_type(self.source)

    @property
    def result_type(self) -> MemRefType:
        """The result's type."""
        return array_type(self.result)

    def _check_element(self) -> None:
        if self.source_type.element_type != self.result_type.element_type:
            raise VerifyException(f"{self.name} keeps the element type, found {self.source_type} to {self.result_type}")


@irdl_op_definition
class ReshapeOp(ViewOp):
    """The same elements in row-major order under another shape: ``host.reshape %x : memref<…> to memref<…>``."""

    name = "host.reshape"

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue | Operation, type: MemRefType):
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        self._check_element()
        if elements(self.source_type.get_shape()) != elements(self.result_type.get_shape()):
            raise VerifyException(f"host.reshape keeps the elements, found {self.source_type} to {self.result_type}")


@irdl_op_definition
class PermuteOp(ViewOp):
    """Dimensions in another order: result dimension ``n`` is source dimension ``permutation[n]``.

    host.permute %x [1, 0] : memref<10x100xf32> to memref<100x10xf32, strided<[1, 100]>>
    """

    name = "host.permute"

    permutation = prop_def(DenseArrayBase)

    assembly_format = "$source custom<Ints>($permutation) attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue | Operation, permutation: Sequence[int], type: MemRefType):
        super().__init__(operands=[source], properties={"permutation": int_array(permutation)}, result_types=[type])

    @property
    def order(self) -> tuple[int, ...]:
        """The source dimension of each result dimension."""
        return ints_of(self.permutation)

    def verify_(self) -> None:
        self._check_element()
        shape = self.source_type.get_shape()
        if sorted(self.order) != list(range(len(shape))):
            raise VerifyException(f"{list(self.order)} is no permutation of {len(shape)} dimensions")
        if tuple(shape[d] for d in self.order) != self.result_type.get_shape():
            raise VerifyException(f"host.permute {list(self.order)} of {self.source_type} is not {self.result_type}")


@irdl_op_definition
class SliceOp(ViewOp):
    """A static slice of each dimension, by offset, size and stride in elements of that dimension.

    host.slice %x [0, 8] [10, 16] [1, 2] : memref<10x100xf32> to memref<10x16xf32, strided<[100, 2], offset: 8>>
    """

    name = "host.slice"

    offsets = prop_def(DenseArrayBase)
    sizes = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)

    assembly_format = """
        $source custom<Ints>($offsets) custom<Ints>($sizes) custom<Ints>($strides) attr-dict
        `:` type($source) `to` type($result)
    """

    def __init__(
        self,
        source: SSAValue | Operation,
        offsets: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int],
        type: MemRefType,
    ):
        properties = {"offsets": int_array(offsets), "sizes": int_array(sizes), "strides": int_array(strides)}
        super().__init__(operands=[source], properties=properties, result_types=[type])

    @property
    def bounds(self) -> tuple[tuple[int, int, int], ...]:
        """Offset, size and stride of each dimension."""
        return tuple(zip(ints_of(self.offsets), self._sizes, ints_of(self.strides), strict=True))

    @property
    def _sizes(self) -> list[int]:
        """The sizes, of which those that differ from call to call are in the result's type."""
        pairs = zip(ints_of(self.sizes), self.result_type.get_shape(), strict=True)
        return [extent if size == DYNAMIC_INDEX else size for size, extent in pairs]

    def verify_(self) -> None:
        self._check_element()
        check_numbers(self, self.source_type)
        if self.result_type.get_num_dims() != self.source_type.get_num_dims():
            raise VerifyException(f"host.slice of {self.source_type} is not {self.result_type}")
        for extent, (offset, size, stride) in zip(self.source_type.get_shape(), self.bounds, strict=True):
            if is_open(size) and (offset, stride) == (0, 1):  # the elements that blocks of it begin with
                continue
            if offset < 0 or size < 0 or stride < 1 or (size and offset + (size - 1) * stride >= extent):
                raise VerifyException(f"slice [{offset}] [{size}] [{stride}] is outside a dimension of {extent}")
        if tuple(size for _, size, _ in self.bounds) != self.result_type.get_shape():
            raise VerifyException(f"host.slice of {self.source_type} is not {self.result_type}")


@irdl_op_definition
class ExpandOp(ViewOp):
    """Dimensions of 1 repeated, and new ones in front, without copying: it may only be read.

    host.expand %x : memref<1x100xf32> to memref<4x10x100xf32, strided<[0, 0, 1]>>
    """

    name = "host.expand"

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue | Operation, type: MemRefType):
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        self._check_element()
        source, target = self.source_type.get_shape(), self.result_type.get_shape()
        tail = target[len(target) - len(source) :]
        if len(source) > len(target) or any(a not in (1, b) for a, b in zip(source, tail, strict=True)):
            raise VerifyException(f"host.expand cannot repeat {self.source_type} to {self.result_type}")
