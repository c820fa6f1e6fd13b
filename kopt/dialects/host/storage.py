"""Allocations, copies, and the functional form of a write into a slice."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import (
    MemoryAllocEffect,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.definition.effects import effects
from kopt.dialects.formats.integers import int_array, ints_of
from kopt.dialects.host.types import check_numbers
from kopt.dialects.tile import array_type
from kopt.dialects.tile.values import Literal, Typed, literal


@irdl_op_definition
class AllocOp(Op):
    """A new array; its elements are unspecified, or all ``fill``: ``host.alloc fill 0.0 : memref<1000xf32>``.

    A ``persistent`` array is the same memory in every call of the function, known by an id that is unique in the
    module. At the start of a call its elements are unspecified, as those of any other array.

        %h = host.alloc persistent "model.0" : memref<8x64xf32, #symm.space<"tp">>
    """

    name = "host.alloc"

    fill = opt_prop_def(Attribute)
    id = opt_prop_def(StringAttr)
    result = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect())

    custom_directives = (Literal, Typed)
    assembly_format = """
        (`persistent` custom<String>($id)^)? (`fill` custom<Literal>($fill)^)? attr-dict `:` type($result)
        custom<Typed>(ref(type($result)))
    """

    def __init__(self, type: MemRefType, fill: Attribute | float | int | None = None, id: str | None = None):
        attr = literal(fill, type.element_type) if isinstance(fill, float | int) else fill
        super().__init__(
            properties={"fill": attr, "id": StringAttr(id) if id is not None else None}, result_types=[type]
        )

    def verify_(self) -> None:
        if self.id is not None and not self.id.data:
            raise VerifyException("a persistent array needs an id")
        type = array_type(self.result)
        if self.fill is not None and getattr(self.fill, "type", None) != type.element_type:
            raise VerifyException(f"host.alloc cannot fill {type} with {self.fill}")


@irdl_op_definition
class CopyOp(Op):
    """Writes one array's elements into another of the same shape, converting them: ``host.copy %a to %b : A, B``."""

    name = "host.copy"

    source = operand_def(MemRefType)
    target = operand_def(MemRefType)

    traits = traits_def(effects(read="source", write="target"))

    assembly_format = "$source `to` $target attr-dict `:` type($source) `,` type($target)"

    def __init__(self, source: SSAValue | Operation, target: SSAValue | Operation):
        super().__init__(operands=[source, target])

    def verify_(self) -> None:
        source, target = array_type(self.source), array_type(self.target)
        if source.get_shape() != target.get_shape():
            raise VerifyException(f"host.copy needs one shape, found {source} and {target}")


@irdl_op_definition
class InsertOp(Op):
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

    assembly_format = """
        $value `into` $base custom<Ints>($offsets) custom<Ints>($sizes) custom<Ints>($strides) attr-dict
        `:` type($value) `,` type($base) custom<Same>(type($result), ref(type($base)))
    """

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
        value, base = array_type(self.value), array_type(self.base)
        check_numbers(self, base)
        fits = all(
            offset >= 0 and size >= 0 and stride >= 1 and (not size or offset + (size - 1) * stride < extent)
            for extent, (offset, size, stride) in zip(base.get_shape(), self.bounds, strict=True)
        )
        if not fits or value.get_shape() != ints_of(self.sizes) or value.element_type != base.element_type:
            lists = " ".join(str(list(ints_of(numbers))) for numbers in (self.offsets, self.sizes, self.strides))
            raise VerifyException(f"host.insert of {value} into {base} does not fit {lists}")
        if self.result.type != base:
            raise VerifyException(f"host.insert gives {base}, found {self.result.type}")
