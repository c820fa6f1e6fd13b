"""Functional collectives: each gives a new array."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.definition.effects import effects
from kopt.dialects.symm.checks import check_collective, check_parts, check_reduction, check_same


class CollectiveOp(Op):
    """Base of the collectives: ``name %x group "tp" : memref<…> to memref<…>``, one element type throughout."""

    input = operand_def(MemRefType)
    group = prop_def(StringAttr)
    result = result_def(MemRefType)

    traits = traits_def(effects(read="input", alloc="result", fence=True))

    assembly_format = "$input `group` $group attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation, group: str, type: MemRefType):
        super().__init__(operands=[input], properties={"group": StringAttr(group)}, result_types=[type])

    def verify_(self) -> None:
        check_collective(self, self.group, self.input.type, self.result.type)
        self.check_shapes()

    def check_shapes(self) -> None:
        """How the result's shape follows from the input's."""
        check_same(self, self.input.type, self.result.type)


@irdl_op_definition
class AllReduceOp(Op):
    """The combination of all ranks' arrays, the same on each: ``add``, ``max``, ``min`` or ``avg``.

    ``by`` names an algorithm that reads the other ranks' symmetric memory, in which the input then must lie:
    ``one_shot``, ``multimem`` (by the switch), or ``two_shot``, which leaves its input unspecified.

        %s = symm.all_reduce add %x group "tp" by one_shot : memref<8x64xf32> to memref<8x64xf32>
    """

    name = "symm.all_reduce"

    input = operand_def(MemRefType)
    kind = prop_def(StringAttr)
    group = prop_def(StringAttr)
    algorithm = opt_prop_def(StringAttr)
    result = result_def(MemRefType)

    traits = traits_def(effects(read="input", alloc="result", fence=True))

    assembly_format = """
        custom<Keyword>($kind) $input `group` custom<String>($group) (`by` custom<Keyword>($algorithm)^)?
        attr-dict `:` type($input) `to` type($result)
    """

    def __init__(
        self, kind: str, input: SSAValue | Operation, group: str, type: MemRefType, algorithm: str | None = None
    ):
        properties = {"kind": StringAttr(kind), "group": StringAttr(group)}
        super().__init__(
            operands=[input],
            properties={**properties, "algorithm": StringAttr(algorithm) if algorithm else None},
            result_types=[type],
        )

    def verify_(self) -> None:
        check_collective(self, self.group, self.input.type, self.result.type)
        check_same(self, self.input.type, self.result.type)
        check_reduction(self, self.kind, self.algorithm, self.input.type)


@irdl_op_definition
class AllGatherOp(CollectiveOp):
    """All ranks' arrays, in the order of ranks, one after the other along dimension 0."""

    name = "symm.all_gather"

    def check_shapes(self) -> None:
        check_parts(self, self.input.type, self.result.type)


@irdl_op_definition
class ReduceScatterOp(CollectiveOp):
    """The sum of all ranks' arrays, of which each rank gets its part along dimension 0."""

    name = "symm.reduce_scatter"

    def check_shapes(self) -> None:
        check_parts(self, self.result.type, self.input.type)


@irdl_op_definition
class AllToAllOp(CollectiveOp):
    """Part ``n`` along dimension 0 goes to rank ``n``; the parts that come are in the order of ranks."""

    name = "symm.all_to_all"
