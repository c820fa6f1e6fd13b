"""Types in formats: read with an error at their own place, and known where the text leaves them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import OpDef
from xdsl.irdl.constraints import RangeConstraint, RangeLengthConstraint, RangeOf, SingleOf
from xdsl.irdl.declarative_assembly_format import (
    OperandVariable,
    OptionalOperandVariable,
    ParsingState,
    TypeableDirective,
    TypeDirective,
    VariableDirective,
    VariadicOperandVariable,
)
from xdsl.parser import Parser, UnresolvedOperand

_OPERANDS = (OperandVariable, OptionalOperandVariable, VariadicOperandVariable)


def defined(parser: Parser, operand: UnresolvedOperand) -> SSAValue:
    """The value that an operand names, which is defined before; a parse error where it is not."""
    values = parser.ssa_values.get(operand.operand_name, ())
    if operand.index < len(values):
        return values[operand.index]
    suffix = f"#{operand.index}" if values else ""
    parser.raise_error(f"%{operand.operand_name}{suffix} is not defined", operand.span)


@dataclass(frozen=True)
class WrittenType(TypeDirective):
    """``type($value)``: what stands there is a type that the op takes, and that of the operand, where it is defined.

    A parse error says what is expected and what was found.
    """

    bases: frozenset[type[Attribute]] = frozenset()
    """The kinds of types that the op takes; any where there is none."""
    is_needed: bool = False
    """Whether a list has one type at least."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        super().parse(parser, state)
        if self.is_needed and not self.found(state):
            parser.raise_error("expected a type")
        self._check(parser, state, start)

    def parse_one(self, parser: Parser, state: ParsingState) -> None:
        """Reads one type, which all of the values have."""
        start = parser.pos
        self.inner.parse_single_type(parser, state)
        self._check(parser, state, start)
        self.set(state, [*self.found(state)] * self.count(state))

    def found(self, state: ParsingState) -> Sequence[Attribute]:
        """The types that were read."""
        assert isinstance(self.inner, VariableDirective)
        types = state.operand_types if isinstance(self.inner, _OPERANDS) else state.result_types
        return types[self.inner.index] or ()

    def count(self, state: ParsingState) -> int:
        """How many values there are: results are one."""
        return len(state.operands[self.inner.index] or ()) if isinstance(self.inner, _OPERANDS) else 1

    def _check(self, parser: Parser, state: ParsingState, start: int) -> None:
        for found in self.found(state):
            if self.bases and type(found) not in self.bases:
                names = " or ".join(f"a {_name(base)} type" for base in sorted(self.bases, key=_name))
                parser.raise_error(f"expected {names}, found {found}", start, parser.pos)
        if isinstance(self.inner, _OPERANDS):
            for operand, found in zip(state.operands[self.inner.index] or (), self.found(state), strict=False):
                if operand.operand_name in parser.ssa_values and (known := defined(parser, operand).type) != found:
                    parser.raise_error(f"expected the type {known}, found {found}", start, parser.pos)


def type_directive(inner: TypeableDirective, definition: OpDef, is_needed: bool) -> TypeDirective:
    """``type(…)`` of what a format names."""
    if not isinstance(inner, VariableDirective):
        return TypeDirective(inner)
    values = definition.operands if isinstance(inner, _OPERANDS) else definition.results
    return WrittenType(inner, _bases(values[inner.index][1].constr), is_needed)


def _bases(constraint: RangeConstraint) -> frozenset[type[Attribute]]:
    if isinstance(constraint, RangeLengthConstraint):
        return _bases(constraint.constraint)
    return frozenset((isinstance(constraint, RangeOf | SingleOf) and constraint.constr.get_bases()) or ())


def _name(base: type[Attribute]) -> str:
    return f"!{base.name}" if "." in base.name else base.name
