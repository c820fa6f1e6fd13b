"""Does an op, or an attribute, have what its definition says? Asked quickly; where not, xDSL says what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, ArrayOfConstraint
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    OpDef,
    OperandDef,
    OptAttributeDef,
    OptPropertyDef,
    RangeOf,
    ResultDef,
    SingleBlockRegionDef,
    VariadicDef,
)
from xdsl.irdl.constraints import RangeLengthConstraint
from xdsl.traits import IsolatedFromAbove, OpTrait

_Accepts = Callable[[Any], bool]
#: What regions without demands on their arguments have.
_ANY = RangeOf(AnyAttr())


def verifier(definition: OpDef, own: Callable[[Any], None]) -> Callable[[Any], None]:
    """The ``verify_`` of a class of ops: its definition, the traits, and what the class itself checks."""
    accepts = _acceptance(definition)
    # What is isolated from above is seen by `kopt.analysis.scope`, of a whole module at once.
    own_verify = [trait for trait in definition.traits if type(trait).verify is not OpTrait.verify]
    traits = [trait for trait in own_verify if not isinstance(trait, IsolatedFromAbove)]

    def verify_(op: Operation) -> None:
        if not accepts(op):
            definition.verify(op)
        else:
            for trait in traits:
                trait.verify(op)
        own(op)

    return verify_


@cache
def verify_parameters(cls: type[ParametrizedAttribute]) -> Callable[[ParametrizedAttribute], None]:
    """What verifies the parameters of a class of attributes."""
    definition = cls.get_irdl_definition()
    checks = [(name, *_classes_of(part.constr)) for name, part in definition.parameters]

    def verify(attribute: ParametrizedAttribute) -> None:
        for name, cls, inner in checks:
            value = getattr(attribute, name)
            if not isinstance(value, cls) or (inner and not all(isinstance(one, inner) for one in value.data)):
                definition.verify(attribute)

    return verify


def _classes_of(constraint: AttrConstraint) -> tuple[Any, Any]:
    """The class of a parameter, and of an array's elements where it is one; no class where more is asked for."""
    if isinstance(constraint, ArrayOfConstraint) and isinstance(elements := constraint.elem_range_constraint, RangeOf):
        inner = _class_of(elements.constr)
        return (ArrayAttr, inner) if inner is not None else ((), None)
    return _class_of(constraint) or (), None


def _acceptance(definition: OpDef) -> _Accepts:
    """Whether an op surely has the operands, results and properties that are its own; False where that is not clear."""
    values = {name: _class_of_values(part) for name, part in (*definition.operands, *definition.results)}
    properties = {name: _class_of(part.constr) for name, part in definition.properties.items()}
    needed = {name for name, part in definition.properties.items() if not isinstance(part, OptPropertyDef)}
    attributes = {name: _class_of(part.constr) for name, part in definition.attributes.items()}
    optional = all(isinstance(part, OptAttributeDef) for part in definition.attributes.values())
    regions = len(definition.regions)
    known = all(type(part) is SingleBlockRegionDef and part.entry_args == _ANY for _, part in definition.regions)
    if None in (*values.values(), *properties.values(), *attributes.values()) or not known or not optional:
        return lambda op: False

    single = {name for name, part in (*definition.operands, *definition.results) if not isinstance(part, VariadicDef)}
    operands = [values[name] for name, _ in definition.operands]
    results = [values[name] for name, _ in definition.results]

    def accepts(op: Operation) -> bool:
        if not needed <= op.properties.keys() <= properties.keys() or op.successors:
            return False
        if len(op.regions) != regions or any(len(region.blocks) != 1 for region in op.regions):
            return False
        if not _are_of(op.properties, properties) or not _are_of(op.attributes, attributes):
            return False
        if len(single) == len(values):
            return _have(op._operands, operands) and _have(op.results, results)  # pyright: ignore[reportPrivateUsage]
        if not _are_divided(op):
            return False
        count = 0
        for name, cls in values.items():
            found = _found(op, name)
            count += len(found)
            if name in single and len(found) != 1 or not all(isinstance(value.type, cls) for value in found):  # pyright: ignore[reportArgumentType]
                return False
        return count == len(op.operands) + len(op.results)

    return accepts


def _have(found: Sequence[SSAValue], classes: Sequence[Any]) -> bool:
    """Whether there is a value of each class, and no other."""
    return len(found) == len(classes) and all(
        isinstance(value.type, cls) for value, cls in zip(found, classes, strict=True)
    )


def _are_of(found: Mapping[str, Attribute], classes: Mapping[str, Any]) -> bool:
    """Whether those that are there are each of its class."""
    return all(isinstance(found[name], cls) for name, cls in classes.items() if name in found)


def _are_divided(op: Operation) -> bool:
    """Whether the sizes of segments, where an op says them, divide what it has."""
    sizes = op.properties
    return all(
        min(values := sizes[name].get_values(), default=0) >= 0 and sum(values) == len(found)  # pyright: ignore
        for name, found in (("operandSegmentSizes", op.operands), ("resultSegmentSizes", op.results))
        if name in sizes
    )


def _found(op: Operation, name: str) -> Sequence[SSAValue]:
    """The values of a name; none where an op with too few of them has no such place."""
    try:
        found = getattr(op, name)
    except IndexError:
        return ()
    return (found,) if isinstance(found, SSAValue) else found or ()


def _class_of_values(part: OperandDef | ResultDef) -> type[Attribute] | None:
    """The class of each value's type, where that is all that is asked for."""
    constraint = part.constr
    if isinstance(constraint, RangeLengthConstraint) and not isinstance(part, VariadicDef):
        constraint = constraint.constraint  # of one
    return _class_of(constraint.constr) if isinstance(constraint, RangeOf) else None


def _is_plain(cls: type[Attribute]) -> bool:
    return issubclass(cls, ParametrizedAttribute) and not cls.get_irdl_definition().parameters


def _class_of(constraint: AttrConstraint) -> type[Attribute] | None:
    """The class that a constraint asks for and no more than that, or None; a type without parameters is its class."""
    if isinstance(constraint, BaseAttr):
        return constraint.attr
    if isinstance(constraint, EqAttrConstraint) and _is_plain(type(constraint.attr)):
        return type(constraint.attr)
    return Attribute if isinstance(constraint, AnyAttr) else None
