"""Views: arrays that share another's storage, so that writes through them are writes to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    MemRefType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.host.types import check_numbers, parse_memref
from kopt.dialects.tile.integers import int_array, ints_of, parse_ints, print_ints


def _numel(type: MemRefType) -> int:
    count = 1
    for size in type.get_shape():
        count *= size
    return count


class ViewOp(Op):
    """Base of the ops whose result shares the storage of ``source``."""

    source = operand_def(MemRefType)
    result = result_def(MemRefType)

    traits = traits_def(Pure())

    @property
    def source_type(self) -> MemRefType:
        """The source's type."""
        assert isinstance(self.source.type, MemRefType)
        return self.source.type

    @property
    def result_type(self) -> MemRefType:
        """The result's type."""
        assert isinstance(self.result.type, MemRefType)
        return self.result.type

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
        if _numel(self.source_type) != _numel(self.result_type):
            raise VerifyException(f"host.reshape keeps the elements, found {self.source_type} to {self.result_type}")


class _ListedView(ViewOp):
    """Base of the views that print one list of integers after the source."""

    @classmethod
    def _parse_parts(cls, parser: Parser, lists: int):
        source = parser.parse_unresolved_operand()
        numbers = [parse_ints(parser) for _ in range(lists)]
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source_type = parse_memref(parser)
        parser.parse_keyword("to")
        type = parse_memref(parser)
        return parser.resolve_operand(source, source_type), numbers, type, attributes

    def _print_parts(self, printer: Printer, *lists: Sequence[int]) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        for numbers in lists:
            printer.print_string(" ")
            print_ints(printer, numbers)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class PermuteOp(_ListedView):
    """Dimensions in another order: result dimension ``n`` is source dimension ``permutation[n]``.

    host.permute %x [1, 0] : memref<10x100xf32> to memref<100x10xf32, strided<[1, 100]>>
    """

    name = "host.permute"

    permutation = prop_def(DenseArrayBase)

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

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source, (order,), type, attributes = cls._parse_parts(parser, 1)
        op = cls(source, order, type)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        self._print_parts(printer, self.order)


@irdl_op_definition
class SliceOp(_ListedView):
    """A static slice of each dimension, by offset, size and stride in elements of that dimension.

    host.slice %x [0, 8] [10, 16] [1, 2] : memref<10x100xf32> to memref<10x16xf32, strided<[100, 2], offset: 8>>
    """

    name = "host.slice"

    offsets = prop_def(DenseArrayBase)
    sizes = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)

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
        return tuple(zip(ints_of(self.offsets), ints_of(self.sizes), ints_of(self.strides), strict=True))

    def verify_(self) -> None:
        self._check_element()
        check_numbers(self, self.source_type)
        for extent, (offset, size, stride) in zip(self.source_type.get_shape(), self.bounds, strict=True):
            if offset < 0 or size < 0 or stride < 1 or (size and offset + (size - 1) * stride >= extent):
                raise VerifyException(f"slice [{offset}] [{size}] [{stride}] is outside a dimension of {extent}")
        if tuple(size for _, size, _ in self.bounds) != self.result_type.get_shape():
            raise VerifyException(f"host.slice of {self.source_type} is not {self.result_type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source, (offsets, sizes, strides), type, attributes = cls._parse_parts(parser, 3)
        op = cls(source, offsets, sizes, strides, type)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        self._print_parts(printer, *map(ints_of, (self.offsets, self.sizes, self.strides)))


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
