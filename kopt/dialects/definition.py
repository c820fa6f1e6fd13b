"""How the classes of ops and types are made: as xDSL makes them, with names that are read directly.

An accessor of xDSL makes a view of all operands and looks up what kind of construct it is for, each time. And its
classes are abstract, so ``isinstance`` asks for registered subclasses, of which ops and types have none. Together that
is a tenth of a compilation; `docs/upstream.md` has what xDSL could take over.

    @irdl_op_definition
    class SplatOp(Op):
        name = "tile.splat"
        value = operand_def()       # read as _operands[0]
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from typing import Any, TypeVar

from xdsl import irdl
from xdsl.ir import Operation, ParametrizedAttribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.operations import (
    BaseAttrAccessor,
    BeforeVariadicSingleAccessor,
    OptionalAttrAccessor,
    SingleAttrAccessor,
    UniqueVariadicAccessor,
    VariadicAttrAccessor,
    VarIRConstruct,
)

_OpClass = TypeVar("_OpClass", bound=type[IRDLOperation])
_Read = Callable[[Operation], Any]


class _Concrete(ABCMeta):
    """A class whose instances are those of it and of what derives from it: none are registered."""

    __instancecheck__ = type.__instancecheck__


class Op(IRDLOperation, metaclass=_Concrete):
    """The base of ops."""


class Attr(ParametrizedAttribute, metaclass=_Concrete):
    """The base of types and of other attributes with parameters."""


def irdl_op_definition(cls: _OpClass) -> _OpClass:
    """xDSL's decorator of op classes. Operands, results and regions are read without a view where that is possible."""
    cls = irdl.irdl_op_definition(cls)
    for name, accessor in list(vars(cls).items()):
        if (make := _READS.get(type(accessor))) is not None:
            setattr(cls, name, property(make(accessor)))
    return cls


#: Where an op has its constructs of a kind.
_PLACES = {
    VarIRConstruct.OPERAND: "_operands",
    VarIRConstruct.RESULT: "results",
    VarIRConstruct.REGION: "regions",
    VarIRConstruct.SUCCESSOR: "successors",
}


def _single(accessor: BeforeVariadicSingleAccessor) -> _Read:
    """The one at a number, with no variadic before it."""
    place, number = _PLACES[accessor.construct], accessor.idx
    if accessor.construct is VarIRConstruct.OPERAND:
        return lambda op: op._operands[number]  # pyright: ignore[reportPrivateUsage]
    return lambda op: getattr(op, place)[number]


def _rest(accessor: UniqueVariadicAccessor) -> _Read:
    """All of the only variadic."""
    place, first, others = _PLACES[accessor.construct], accessor.idx, accessor.num_defs - 1

    def read(op: Operation) -> Any:
        constructs = getattr(op, place)
        return constructs[first : first + len(constructs) - others]

    return read


def _segment(accessor: BaseAttrAccessor) -> _Read:
    """What a segment of known sizes has: all, the one that there is, or None where it is empty."""
    place, number, option = _PLACES[accessor.construct], accessor.idx, accessor.option
    bounds = _bounds_of(number)
    variadic, optional = isinstance(accessor, VariadicAttrAccessor), isinstance(accessor, OptionalAttrAccessor)

    def read(op: Operation) -> Any:
        start, end = bounds(option.container(op)[option.attribute_name])
        constructs = getattr(op, place)
        if variadic:
            return constructs[start:end]
        return None if optional and start == end else constructs[start]

    return read


def _bounds_of(number: int) -> Callable[[Any], tuple[int, int]]:
    """Where the segment of a number begins and ends, by the sizes of all: few of them differ."""
    known: dict[bytes, tuple[int, int]] = {}

    def bounds(sizes: Any) -> tuple[int, int]:
        if (found := known.get(sizes.data.data)) is None:
            values = sizes.get_values()
            found = known[sizes.data.data] = (sum(values[:number]), sum(values[: number + 1]))
        return found

    return bounds


_READS: dict[type, Callable[[Any], _Read]] = {
    BeforeVariadicSingleAccessor: _single,
    UniqueVariadicAccessor: _rest,
    SingleAttrAccessor: _segment,
    VariadicAttrAccessor: _segment,
    OptionalAttrAccessor: _segment,
}
