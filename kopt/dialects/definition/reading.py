"""Operands, results and regions by their names: without a view, and without a look at the definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, VariadicDef
from xdsl.irdl.operations import (
    BaseAttrAccessor,
    BeforeVariadicSingleAccessor,
    OptionalAttrAccessor,
    SingleAttrAccessor,
    UniqueVariadicAccessor,
    VariadicAttrAccessor,
    VarIRConstruct,
)
from xdsl.utils.exceptions import VerifyException

_Read = Callable[[Operation], Any]
_OPERAND = VarIRConstruct.OPERAND
_item = tuple.__getitem__


def reads(cls: type[IRDLOperation]) -> dict[str, _Read]:
    """What reads the constructs for which xDSL gave a class accessors, by their names, where that is possible."""
    operands = cls.get_irdl_definition().operands
    fixed = next((n for n, (_, part) in enumerate(operands) if isinstance(part, VariadicDef)), len(operands))
    found: dict[str, _Read] = {}
    for name, accessor in vars(cls).items():
        if isinstance(accessor, SingleAttrAccessor) and accessor.construct is _OPERAND and accessor.idx < fixed:
            found[name] = _operand(accessor.idx)
        elif type(accessor) in _READS:
            found[name] = _READS[type(accessor)](accessor)
    return found


#: Where an op has its constructs of a kind.
_PLACES = {
    _OPERAND: "_operands",
    VarIRConstruct.RESULT: "results",
    VarIRConstruct.REGION: "regions",
    VarIRConstruct.SUCCESSOR: "successors",
}


def _operand(number: int) -> _Read:
    # What xDSL's sequence of values has of its own is slices.
    return lambda op: _item(op._operands, number)  # pyright: ignore[reportPrivateUsage]


def _single(accessor: BeforeVariadicSingleAccessor) -> _Read:
    """The one at a number, with no variadic before it."""
    place, number = _PLACES[accessor.construct], accessor.idx
    return _operand(number) if accessor.construct is _OPERAND else lambda op: _item(getattr(op, place), number)


def _rest(accessor: UniqueVariadicAccessor) -> _Read:
    """All of the only variadic."""
    place, first, others = _PLACES[accessor.construct], accessor.idx, accessor.num_defs - 1

    def read(op: Operation) -> Any:
        constructs = getattr(op, place)
        return constructs[first : first + len(constructs) - others]

    return read


def _segment(accessor: BaseAttrAccessor) -> _Read:
    """What a segment of known sizes has: all, the one that there is, or None where it is empty."""
    place, option, bounds = _PLACES[accessor.construct], accessor.option, _bounds_of(accessor.idx)
    variadic, optional = isinstance(accessor, VariadicAttrAccessor), isinstance(accessor, OptionalAttrAccessor)

    def read(op: Operation) -> Any:
        sizes = option.container(op).get(option.attribute_name)
        if sizes is None:  # what looks at an op around it may be verified before that
            raise VerifyException(f"'{op.name}' has no '{option.attribute_name}'")
        start, end = bounds(sizes)
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
