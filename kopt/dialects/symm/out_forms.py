"""Destination-passing collectives: the result goes into an array that is given, which a plan of the memory can see."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, MemRefType, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.symm.checks import check_collective, check_parts, check_reduction, check_same

BARRIERS = ("entry", "exit")


class _Writes(MemoryEffect):
    """Reads its input, which a two-shot reduction overwrites, writes ``out``, and meets the other ranks."""

    @classmethod
    def get_effects(cls, op: Operation):
        source, target = op.operands
        algorithm = op.properties.get("algorithm")
        overwritten = isinstance(algorithm, StringAttr) and algorithm.data == "two_shot"
        written = [source, target] if overwritten else [target]
        return {
            EffectInstance(MemoryEffectKind.READ, source),
            *(EffectInstance(MemoryEffectKind.WRITE, value) for value in written),
            EffectInstance(MemoryEffectKind.WRITE),
        }


class CollectiveOutOp(Op):
    """Base of the ``_out`` forms: ``name %x to %out group "tp" : memref<…> to memref<…>``."""

    input = operand_def(MemRefType)
    out = operand_def(MemRefType)
    group = prop_def(StringAttr)

    traits = traits_def(_Writes())

    assembly_format = "$input `to` $out `group` $group attr-dict `:` type($input) `to` type($out)"

    def __init__(self, input: SSAValue | Operation, out: SSAValue | Operation, group: str):
        super().__init__(operands=[input, out], properties={"group": StringAttr(group)})

    def verify_(self) -> None:
        check_collective(self, self.group, self.input.type, self.out.type)
        self.check_shapes()

    def check_shapes(self) -> None:
        """How the result's shape follows from the input's."""
        check_same(self, self.input.type, self.out.type)


@irdl_op_definition
class AllReduceOutOp(Op):
    """`symm.all_reduce` into an array that is given.

    ``barriers`` says where all ranks wait for each other: at the ``entry``, so that all inputs are written before
    they are read, and at the ``exit``, so that all have read before an input is written again. Left out: both.

        symm.all_reduce_out add %x to %s group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
        symm.all_reduce_out add %x to %s group "tp" by one_shot barriers [entry] : …
    """

    name = "symm.all_reduce_out"

    input = operand_def(MemRefType)
    out = operand_def(MemRefType)
    kind = prop_def(StringAttr)
    group = prop_def(StringAttr)
    algorithm = opt_prop_def(StringAttr)
    barriers = opt_prop_def(ArrayAttr[StringAttr])

    traits = traits_def(_Writes())

    assembly_format = """
        custom<Keyword>($kind) $input `to` $out `group` custom<String>($group) (`by` custom<Keyword>($algorithm)^)?
        (`barriers` custom<Keywords>($barriers)^)? attr-dict `:` type($input) `to` type($out)
    """

    def __init__(
        self,
        kind: str,
        input: SSAValue | Operation,
        out: SSAValue | Operation,
        group: str,
        algorithm: str | None = None,
        barriers: Sequence[str] = BARRIERS,
    ):
        some = ArrayAttr(map(StringAttr, barriers)) if tuple(barriers) != BARRIERS else None
        super().__init__(
            operands=[input, out],
            properties={
                "kind": StringAttr(kind),
                "group": StringAttr(group),
                "algorithm": StringAttr(algorithm) if algorithm else None,
                "barriers": some,
            },
        )

    @property
    def waits_at(self) -> tuple[str, ...]:
        """Where all ranks wait for each other."""
        return BARRIERS if self.barriers is None else tuple(barrier.data for barrier in self.barriers)

    def verify_(self) -> None:
        check_collective(self, self.group, self.input.type, self.out.type)
        check_same(self, self.input.type, self.out.type)
        check_reduction(self, self.kind, self.algorithm, self.input.type)
        if not set(self.waits_at) <= set(BARRIERS):
            raise VerifyException(f"{self.name} waits at {' and '.join(BARRIERS)}, found {list(self.waits_at)}")


@irdl_op_definition
class AllGatherOutOp(CollectiveOutOp):
    """`symm.all_gather` into an array that is given."""

    name = "symm.all_gather_out"

    def check_shapes(self) -> None:
        check_parts(self, self.input.type, self.out.type)


@irdl_op_definition
class ReduceScatterOutOp(CollectiveOutOp):
    """`symm.reduce_scatter` into an array that is given."""

    name = "symm.reduce_scatter_out"

    def check_shapes(self) -> None:
        check_parts(self, self.out.type, self.input.type)


@irdl_op_definition
class AllToAllOutOp(CollectiveOutOp):
    """`symm.all_to_all` into an array that is given."""

    name = "symm.all_to_all_out"
