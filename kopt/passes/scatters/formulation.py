"""One update of an array as the kinds of realisation see it, and the pieces that several of them are made of."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Block, Region, SSAValue

from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import COMBINING_OPS, BitcastOp, ForOp, RangeType, YieldOp, element_of, neutral
from kopt.passes.scatters.update import Update
from kopt.passes.scatters.written_operand import WrittenOperand


@dataclass
class Formulation:
    """An update of a launch's array, written in front of the op that it replaces. ``tags`` are those taken there."""

    launch: LaunchOp
    target: WrittenOperand
    update: Update
    tags: set[str]

    def neutralised(self) -> SSAValue:
        """The values, with what changes nothing in lanes that update nothing."""
        update, build = self.update, self.update.build
        (value,) = update.values
        if update.keep is None:
            return value
        return build.select(update.keep, value, build.full(neutral(update.kind, element_of(value)), value))

    def loop(self, tag: str, lower: int, upper: SSAValue | int, size: int) -> ForOp:
        """A loop under a tag of its own, with nothing in it yet."""
        number = 0
        while f"{tag}{number}" in self.tags:
            number += 1
        self.tags.add(f"{tag}{number}")
        body = Region(Block([YieldOp()], arg_types=[RangeType(f"{tag}{number}", size)]))
        loop = ForOp(lower, upper, [], body)
        loop.range.name_hint = tag
        return loop


def combined(build: Builder, kind: str, old: SSAValue, given: list[SSAValue]) -> SSAValue:
    """The new elements of an update of old ones."""
    if kind == "cas":
        expected, desired = given
        return build.select(build.compute("eq", _bits(build, old), _bits(build, expected)), desired, old)
    return given[0] if kind == "xchg" else build.compute(COMBINING_OPS[kind], old, given[0])


def body() -> Region:
    """The body of a condition, with nothing in it yet."""
    return Region(Block([scf.YieldOp()]))


def _bits(build: Builder, value: SSAValue) -> SSAValue:
    """Floats of 32 bits as integers: NaN equals itself, and 0.0 does not equal -0.0."""
    return build.add(BitcastOp(value, i32)) if element_of(value) == f32 else value
