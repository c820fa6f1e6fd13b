"""The ``activation`` dialect: functions of neural networks that kopt has no op for.

%r = activation.relu6 %v : !tile.tile<b0=128 x f32>
"""

from typing import ClassVar

from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import BaseAttr, IRDLOperation, VarConstraint, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from kopt.dialects.tile import TileType


@irdl_op_definition
class Relu6Op(IRDLOperation):
    """``min(max(v, 0), 6)`` of each lane."""

    name = "activation.relu6"

    T: ClassVar = VarConstraint("T", BaseAttr(TileType))

    input = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input)"

    def __init__(self, input: SSAValue):
        super().__init__(operands=[input], result_types=[input.type])


Activation = Dialect("activation", [Relu6Op], [])
