"""The ``host`` dialect: what runs around the kernels: allocations, views, library calls and launches.

Values are memrefs. Ops that write do so in place until ``functionalise-host`` gives every written memref a new
version for each launch. A view shares its source's storage; writes through it are writes to the source.

    %out = host.alloc fill 0.0 : memref<1000xf32>
    %flat = host.reshape %x : memref<10x100xf32> to memref<1000xf32>
    %s = host.call "aten.exp.default"(%x) args [unit] : (memref<10x100xf32>) -> (memref<10x100xf32>)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    IntegerType,
    MemRefType,
    NoneAttr,
    NoneType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    IsolatedFromAbove,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryEffectKind,
    NoMemoryEffect,
    NoTerminator,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.tile.shape import int_array, ints_of, parse_ints, parse_untyped_literal, print_ints
from kopt.dialects.tile.types import parse_known_types
from kopt.dialects.tile.values import literal, print_literal


def _numel(type: MemRefType) -> int:
    count = 1
    for size in type.get_shape():
        count *= size
    return count


def _parse_memref(parser: Parser) -> MemRefType:
    """A memref type; a parse error says what stands there instead."""
    start = parser.pos
    type = parser.parse_type()
    if not isinstance(type, MemRefType):
        parser.raise_error(f"expected a memref type, found {type}", start, parser.pos)
    return type


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A new array; its elements are unspecified, or all ``fill``: ``host.alloc fill 0.0 : memref<1000xf32>``."""

    name = "host.alloc"

    fill = opt_prop_def(Attribute)
    result = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect())

    def __init__(self, type: MemRefType, fill: Attribute | float | int | None = None):
        attr = literal(fill, type.element_type) if isinstance(fill, float | int) else fill
        super().__init__(properties={"fill": attr}, result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        fill = parse_untyped_literal(parser) if parser.parse_optional_keyword("fill") else None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = _parse_memref(parser)
        if fill is not None and isinstance(type.element_type, IntegerType) and not float(fill).is_integer():
            parser.raise_error(f"host.alloc cannot fill {type} with {fill}", start, parser.pos)
        op = cls(type, fill)
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        type = self.result.type
        assert isinstance(type, MemRefType)
        if self.fill is not None and getattr(self.fill, "type", None) != type.element_type:
            raise VerifyException(f"host.alloc cannot fill {type} with {self.fill}")

    def print(self, printer: Printer) -> None:
        if self.fill is not None:
            printer.print_string(" fill ")
            print_literal(printer, self.fill)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


class ViewOp(IRDLOperation):
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


def _check_numbers(op: SliceOp | InsertOp, type: MemRefType) -> None:
    """An offset, a size and a stride for each dimension of ``type``."""
    if any(len(numbers) != type.get_num_dims() for numbers in (op.offsets, op.sizes, op.strides)):
        raise VerifyException(f"{op.name} needs three numbers for each dimension of {type}")


class _ListedView(ViewOp):
    """Base of the views that print one list of integers after the source."""

    @classmethod
    def _parse_parts(cls, parser: Parser, lists: int):
        source = parser.parse_unresolved_operand()
        numbers = [parse_ints(parser) for _ in range(lists)]
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source_type = _parse_memref(parser)
        parser.parse_keyword("to")
        type = _parse_memref(parser)
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
        _check_numbers(self, self.source_type)
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


@irdl_op_definition
class CallOp(IRDLOperation):
    """A call of a torch operator on the host, by its ATen name, that gives new arrays.

    ``arguments`` lists the positional arguments: ``unit`` stands for the next operand, anything else is a literal
    (numbers, booleans, strings, ``none``) or a list.

        %s = host.call "aten.sum.dim_IntList"(%x) args [unit, [1], false] : (memref<10x100xf32>) -> (memref<10xf32>)
    """

    name = "host.call"

    inputs = var_operand_def(MemRefType)
    callee = prop_def(StringAttr)
    arguments = prop_def(ArrayAttr)
    outputs = var_result_def(MemRefType)

    traits = traits_def(Pure())

    assembly_format = (
        "$callee `(` $inputs `)` `args` $arguments attr-dict `:` `(` type($inputs) `)` `->` `(` type($outputs) `)`"
    )

    def __init__(
        self,
        callee: str,
        inputs: Sequence[SSAValue],
        arguments: Sequence[Attribute],
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[inputs],
            properties={"callee": StringAttr(callee), "arguments": _readable(arguments)},
            result_types=[result_types],
        )

    def verify_(self) -> None:
        slots = _slots(self.arguments)
        if slots != len(self.inputs):
            raise VerifyException(f"host.call has {len(self.inputs)} operands for {slots} places in its arguments")


def _readable(arguments: Sequence[Attribute]) -> ArrayAttr[Attribute]:
    """Arguments as text reads back: ``none`` is the type of that name, whichever attribute was meant."""
    return ArrayAttr(
        [
            _readable(argument.data) if isinstance(argument, ArrayAttr) else argument
            for argument in (NoneType() if isinstance(argument, NoneAttr) else argument for argument in arguments)
        ]
    )


def _slots(argument: Attribute) -> int:
    """How many operands an argument of a call stands for: those of a list stand in it."""
    if isinstance(argument, ArrayAttr):
        return sum(map(_slots, argument.data))
    return int(isinstance(argument, UnitAttr))


class _CopyEffects(MemoryEffect):
    @classmethod
    def get_effects(cls, op: Operation):
        return {
            EffectInstance(MemoryEffectKind.READ, op.operands[0]),
            EffectInstance(MemoryEffectKind.WRITE, op.operands[1]),
        }


@irdl_op_definition
class CopyOp(IRDLOperation):
    """Writes one array's elements into another of the same shape, converting them: ``host.copy %a to %b : A, B``."""

    name = "host.copy"

    source = operand_def(MemRefType)
    target = operand_def(MemRefType)

    traits = traits_def(_CopyEffects())

    assembly_format = "$source `to` $target attr-dict `:` type($source) `,` type($target)"

    def __init__(self, source: SSAValue | Operation, target: SSAValue | Operation):
        super().__init__(operands=[source, target])

    def verify_(self) -> None:
        source, target = self.source.type, self.target.type
        assert isinstance(source, MemRefType) and isinstance(target, MemRefType)
        if source.get_shape() != target.get_shape():
            raise VerifyException(f"host.copy needs one shape, found {source} and {target}")


@irdl_op_definition
class InsertOp(IRDLOperation):
    """The array that results from writing ``value`` into a slice of ``base``; ``base`` itself is unchanged.

    %new = host.insert %value into %base [0, 8] [10, 16] [1, 2] : memref<10x16xf32>, memref<10x100xf32>
    """

    name = "host.insert"

    value = operand_def(MemRefType)
    base = operand_def(MemRefType)
    offsets = prop_def(DenseArrayBase)
    sizes = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)
    result = result_def(MemRefType)

    traits = traits_def(Pure())

    def __init__(
        self,
        value: SSAValue | Operation,
        base: SSAValue | Operation,
        offsets: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int],
    ):
        base = SSAValue.get(base)
        properties = {"offsets": int_array(offsets), "sizes": int_array(sizes), "strides": int_array(strides)}
        super().__init__(operands=[value, base], properties=properties, result_types=[base.type])

    @property
    def bounds(self) -> tuple[tuple[int, int, int], ...]:
        """Offset, size and stride of each dimension of the slice."""
        return tuple(zip(ints_of(self.offsets), ints_of(self.sizes), ints_of(self.strides), strict=True))

    def verify_(self) -> None:
        value, base = self.value.type, self.base.type
        assert isinstance(value, MemRefType) and isinstance(base, MemRefType)
        _check_numbers(self, base)
        fits = all(
            offset >= 0 and size >= 0 and stride >= 1 and (not size or offset + (size - 1) * stride < extent)
            for extent, (offset, size, stride) in zip(base.get_shape(), self.bounds, strict=True)
        )
        if not fits or value.get_shape() != ints_of(self.sizes) or value.element_type != base.element_type:
            lists = " ".join(str(list(ints_of(numbers))) for numbers in (self.offsets, self.sizes, self.strides))
            raise VerifyException(f"host.insert of {value} into {base} does not fit {lists}")
        if self.result.type != base:
            raise VerifyException(f"host.insert gives {base}, found {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_operand()
        parser.parse_keyword("into")
        base = parser.parse_operand()
        lists = [parse_ints(parser) for _ in range(3)]
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parse_known_types(parser, [value.type, base.type])
        op = cls(value, base, *lists)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" into ")
        printer.print_ssa_value(self.base)
        for attr in (self.offsets, self.sizes, self.strides):
            printer.print_string(" ")
            print_ints(printer, ints_of(attr))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.value.type, self.base.type), printer.print_attribute)


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """One launch of a device body in functional form: the written memrefs come back as new versions.

    The body sees the operands as its own arguments. ``writes`` lists the operands that it writes; each has one
    result, in that order. An operand that is only written need not be given a meaning before the launch.

        %new = host.launch @name (%a = %x, %b = %out) writes [1] : (memref<…>, memref<…>) -> (memref<…>) {
          tile.grid … { … }
        }
    """

    name = "host.launch"

    inputs = var_operand_def(MemRefType)
    sym_name = prop_def(StringAttr)
    writes = prop_def(DenseArrayBase)
    outputs = var_result_def(MemRefType)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), NoMemoryEffect())

    def __init__(
        self,
        name: str,
        inputs: Sequence[SSAValue],
        writes: Sequence[int],
        body: Region | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        types = [value.type for value in inputs]
        super().__init__(
            operands=[inputs],
            properties={"sym_name": StringAttr(name), "writes": int_array(writes)},
            regions=[body or Region(Block(arg_types=types))],
            result_types=[[types[number] for number in writes]],
            attributes=attributes,
        )

    @property
    def written(self) -> tuple[int, ...]:
        """The operands that the body writes, by number."""
        return ints_of(self.writes)

    def verify_(self) -> None:
        types = [value.type for value in self.inputs]
        if sorted(set(self.written)) != list(self.written) or any(not 0 <= n < len(types) for n in self.written):
            raise VerifyException(f"host.launch writes operands by increasing number, found {list(self.written)}")
        if [arg.type for arg in self.body.block.args] != types:
            raise VerifyException("host.launch gives its operands to the body as they are")
        if [value.type for value in self.outputs] != [types[number] for number in self.written]:
            raise VerifyException("host.launch gives back the operands that it writes")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_binding(parser))
        parser.parse_keyword("writes")
        writes = parse_ints(parser)
        types = [value.type for _, value in pairs]
        if any(not 0 <= number < len(types) for number in writes):
            parser.raise_error(f"host.launch writes operands by number, found {writes} of {len(types)}")
        parser.parse_punctuation(":")
        parse_known_types(parser, [FunctionType.from_lists(types, [types[number] for number in writes])])
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region([arg.resolve(value.type) for arg, value in pairs])
        if not region.blocks:
            region.add_block(Block())
        return cls(name, [value for _, value in pairs], writes, region, attributes.data if attributes else None)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" (")
        printer.print_list(
            zip(self.body.block.args, self.inputs, strict=True), lambda pair: _print_binding(printer, *pair)
        )
        printer.print_string(") writes ")
        print_ints(printer, self.written)
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _parse_binding(parser: Parser) -> tuple[Parser.UnresolvedArgument, SSAValue]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_operand()


def _print_binding(printer: Printer, name: SSAValue, value: SSAValue) -> None:
    printer.print_ssa_value(name)
    printer.print_string(" = ")
    printer.print_ssa_value(value)


Host = Dialect(
    "host",
    [AllocOp, ReshapeOp, PermuteOp, SliceOp, ExpandOp, CallOp, CopyOp, InsertOp, LaunchOp],
)
