"""The ``symm`` dialect: collectives between the devices of a group, and the memory that all of them can address.

A symmetric buffer's allocator is part of its type: ``memref<1024xf32, #symm.space<"tp">>`` lies at the same place on
every rank of the group ``tp``. Collectives here are functional: each gives a new array.

    %sum = symm.all_reduce add %x group "tp" : memref<8x64xf32> to memref<8x64xf32>
    %all = symm.all_gather %x group "tp" : memref<8x64xf32> to memref<32x64xf32>
    symm.barrier group "tp"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

#: How ranks' elements are combined.
KINDS = ("add", "max", "min", "avg")
#: How an all-reduce moves data; left out, a pass or the target chooses.
ALGORITHMS = ("one_shot", "two_shot", "multimem")


@irdl_attr_definition
class SpaceAttr(ParametrizedAttribute):
    """The memory space of buffers that every rank of a group can address: ``#symm.space<"tp">``."""

    name = "symm.space"

    group: StringAttr

    def __init__(self, group: str):
        super().__init__(StringAttr(group))

    def verify(self) -> None:
        if not self.group.data:
            raise VerifyException("a group needs a name")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_str_literal("the group's name"))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.group.data)


class _Collective(MemoryEffect):
    """Reads its input, gives a new array, and meets the other ranks: it stays where it is, even if nobody reads it."""

    @classmethod
    def get_effects(cls, op: Operation):
        return {
            EffectInstance(MemoryEffectKind.READ, op.operands[0]),
            EffectInstance(MemoryEffectKind.ALLOC, op.results[0]),
            EffectInstance(MemoryEffectKind.WRITE),
        }


class CollectiveOp(IRDLOperation):
    """Base of the collectives: ``name %x group "tp" : memref<…> to memref<…>``, one element type throughout."""

    input = operand_def(MemRefType)
    group = prop_def(StringAttr)
    result = result_def(MemRefType)

    traits = traits_def(_Collective())

    assembly_format = "$input `group` $group attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation, group: str, type: MemRefType):
        super().__init__(operands=[input], properties={"group": StringAttr(group)}, result_types=[type])

    def _shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The input's and the result's shape, checked for what all collectives need."""
        source, target = self.input.type, self.result.type
        assert isinstance(source, MemRefType) and isinstance(target, MemRefType)
        if not self.group.data:
            raise VerifyException(f"{self.name} needs the name of its group")
        if source.element_type != target.element_type:
            raise VerifyException(f"{self.name} keeps the element type, found {source} to {target}")
        space = source.memory_space
        if isinstance(space, SpaceAttr) and space.group != self.group:
            raise VerifyException(f"{self.name} in group {self.group} takes a buffer of another group, {space}")
        return source.get_shape(), target.get_shape()

    def _verify_parts(self, part: Sequence[int], whole: Sequence[int]) -> None:
        """``whole`` is some parts, one after the other along the first dimension."""
        if len(part) != len(whole) or not part or part[1:] != whole[1:] or (part[0] and whole[0] % part[0]):
            raise VerifyException(f"{self.name} joins parts along dimension 0, found {list(part)} and {list(whole)}")


@irdl_op_definition
class AllReduceOp(IRDLOperation):
    """The combination of all ranks' arrays, the same on each: ``add``, ``max``, ``min`` or ``avg``.

    %s = symm.all_reduce add %x group "tp" by one_shot : memref<8x64xf32> to memref<8x64xf32>
    """

    name = "symm.all_reduce"

    input = operand_def(MemRefType)
    kind = prop_def(StringAttr)
    group = prop_def(StringAttr)
    algorithm = opt_prop_def(StringAttr)
    result = result_def(MemRefType)

    traits = traits_def(_Collective())

    _shapes = CollectiveOp._shapes

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
        source, target = self._shapes()
        if source != target:
            raise VerifyException(f"symm.all_reduce keeps the shape, found {list(source)} and {list(target)}")
        if self.kind.data not in KINDS:
            raise VerifyException(f"symm.all_reduce knows {', '.join(KINDS)}, found '{self.kind.data}'")
        if self.algorithm is not None and self.algorithm.data not in ALGORITHMS:
            raise VerifyException(f"symm.all_reduce goes by {', '.join(ALGORITHMS)}, found '{self.algorithm.data}'")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_identifier()
        input = parser.parse_unresolved_operand()
        parser.parse_keyword("group")
        group = parser.parse_str_literal("the group's name")
        algorithm = parser.parse_identifier() if parser.parse_optional_keyword("by") else None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        start = parser.pos
        type = parser.parse_type()
        if not isinstance(type, MemRefType):
            parser.raise_error(f"expected a memref type, found {type}", start, parser.pos)
        op = cls(kind, parser.resolve_operand(input, source), group, type, algorithm)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_ssa_value(self.input)
        printer.print_string(" group ")
        printer.print_string_literal(self.group.data)
        if self.algorithm is not None:
            printer.print_string(f" by {self.algorithm.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class AllGatherOp(CollectiveOp):
    """All ranks' arrays, in the order of ranks, one after the other along dimension 0."""

    name = "symm.all_gather"

    def verify_(self) -> None:
        part, whole = self._shapes()
        self._verify_parts(part, whole)


@irdl_op_definition
class ReduceScatterOp(CollectiveOp):
    """The sum of all ranks' arrays, of which each rank gets its part along dimension 0."""

    name = "symm.reduce_scatter"

    def verify_(self) -> None:
        whole, part = self._shapes()
        self._verify_parts(part, whole)


@irdl_op_definition
class AllToAllOp(CollectiveOp):
    """Part ``n`` along dimension 0 goes to rank ``n``; the parts that come are in the order of ranks."""

    name = "symm.all_to_all"

    def verify_(self) -> None:
        source, target = self._shapes()
        if source != target:
            raise VerifyException(f"symm.all_to_all keeps the shape, found {list(source)} and {list(target)}")


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """All ranks of a group wait for each other: ``symm.barrier group "tp"``. Its effects are unknown."""

    name = "symm.barrier"

    group = prop_def(StringAttr)

    assembly_format = "`group` $group attr-dict"

    def __init__(self, group: str):
        super().__init__(properties={"group": StringAttr(group)})


Symm = Dialect("symm", [AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, BarrierOp], [SpaceAttr])
