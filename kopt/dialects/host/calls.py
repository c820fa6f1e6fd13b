"""Calls of torch operators on the host."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    MemRefType,
    NoneAttr,
    NoneType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    Pure,
)
from xdsl.utils.exceptions import VerifyException


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
