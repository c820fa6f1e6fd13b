"""What memory planning adds: the end of an array's life, and a new array in the memory of a dead one."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.definition.effects import effects
from kopt.dialects.tile.values import Literal, Typed


@irdl_op_definition
class ReuseOp(Op):
    """A new array in the memory of an array that is no longer used; otherwise as `host.alloc`, ``fill`` included.

    Both have one type, so size, strides, element type and allocator are the same.

        %b = host.reuse %a : memref<8x64xf32>
    """

    name = "host.reuse"

    source = operand_def(MemRefType)
    fill = opt_prop_def(Attribute)
    result = result_def(MemRefType)

    traits = traits_def(effects(alloc="result", free="source", write="source"))

    custom_directives = (Literal, Typed)
    assembly_format = """
        $source (`fill` custom<Literal>($fill)^)? attr-dict `:` type($source)
        custom<Same>(type($result), ref(type($source))) custom<Typed>(ref(type($source)))
    """

    def __init__(self, source: SSAValue | Operation, fill: Attribute | None = None):
        source = SSAValue.get(source)
        super().__init__(operands=[source], properties={"fill": fill}, result_types=[source.type])

    def verify_(self) -> None:
        if self.source.type != self.result.type:
            raise VerifyException(f"host.reuse keeps the type, found {self.source.type} and {self.result.type}")


@irdl_op_definition
class FreeOp(Op):
    """Gives back an array's memory, which nothing uses after: ``host.free %a : memref<8x64xf32>``."""

    name = "host.free"

    source = operand_def(MemRefType)

    traits = traits_def(effects(free="source", write="source"))

    assembly_format = "$source attr-dict `:` type($source)"

    def __init__(self, source: SSAValue | Operation):
        super().__init__(operands=[source])
