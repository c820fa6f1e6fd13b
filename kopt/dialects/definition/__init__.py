"""How the classes of ops and types are made: as xDSL makes them, read and verified directly.

An accessor of xDSL makes a view of all operands and looks up what kind of construct it is for, each time; its verifier
looks at definitions that never change; and its classes are abstract, so ``isinstance`` asks for registered subclasses,
of which ops and types have none. Together that is an eighth of a compilation; `docs/upstream.md` has what xDSL could
take over.

    @irdl_op_definition
    class SplatOp(Op):
        name = "tile.splat"
        value = operand_def()       # read as _operands[0]
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, TypeVar

from xdsl import irdl
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, OptionalDef

from kopt.dialects.definition.reading import reads
from kopt.dialects.definition.verifying import verifier, verify_parameters
from kopt.dialects.formats.late import give_format

_OpClass = TypeVar("_OpClass", bound=type[IRDLOperation])


class _Concrete(ABCMeta):
    """A class whose instances are those of it and of what derives from it: none are registered."""

    __instancecheck__ = type.__instancecheck__


class Op(IRDLOperation, metaclass=_Concrete):
    """The base of ops."""

    def verify_own(self) -> None:
        """What a class of ops checks itself: how operands, results and properties fit each other."""

    def __init__(self, **parts: Any):
        definition = self.get_irdl_definition()
        operands, properties = parts.get("operands", ()), _present(parts.get("properties"))
        simple = parts.keys() <= _SIMPLE and all(isinstance(region, Region) for region in parts.get("regions", ()))
        if simple and definition.options:
            simple = definition.options == _SEGMENTS and len(operands) == len(definition.operands)
            properties["operandSegmentSizes"] = segment_sizes(tuple(map(_size, operands)))
        if not simple:
            super().__init__(**parts)
            return
        Operation.__init__(
            self,
            operands=_all(operands, SSAValue),
            result_types=_all(parts.get("result_types", ()), Attribute),
            properties=properties,
            attributes=_present(parts.get("attributes")),
            regions=parts.get("regions", ()),
        )

    def __post_init__(self) -> None:
        if _has_defaults(type(self)):
            super().__post_init__()
        else:
            Operation.__post_init__(self)  # which inserts it where an implicit builder says


@cache
def _has_defaults(cls: type[Op]) -> bool:
    """Whether properties or attributes of a class of ops have a default."""
    definition = cls.get_irdl_definition()
    parts = (*definition.properties.values(), *definition.attributes.values())
    return any(part.default_value is not None and not isinstance(part, OptionalDef) for part in parts)


class Attr(ParametrizedAttribute, metaclass=_Concrete):
    """The base of types and of other attributes with parameters."""

    def __post_init__(self) -> None:
        self._verify()  # that it has parameters is known

    def _verify(self) -> None:
        verify_parameters(type(self))(self)
        self.verify()


#: What an op is made of; but for successors.
_SIMPLE = {"operands", "result_types", "properties", "attributes", "regions"}
_SEGMENTS = [AttrSizedOperandSegments(as_property=True)]


@lru_cache(256)
def segment_sizes(sizes: tuple[int, ...]) -> DenseArrayBase:
    """How many operands each name has."""
    return DenseArrayBase.from_list(i32, sizes)


def _size(part: Any) -> int:
    """How many values a part has: one, none where it is None, or those of a list."""
    if part is None:
        return 0
    return 1 if isinstance(part, SSAValue | Operation) else len(part)


def _all(parts: Iterable[Any], kind: type[Any]) -> list[Any]:
    """Single ones, those of lists, and the values of ops; None stands for no one."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, list | tuple):
            found += _all(part, kind)
        elif isinstance(part, kind):
            found.append(part)
        elif isinstance(part, Operation):
            found.append(SSAValue.get(part))
        elif part is not None:
            found += _all(part, kind)
    return found


def _present(parts: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: part for name, part in (parts or {}).items() if part is not None}


def irdl_op_definition(cls: _OpClass) -> _OpClass:
    """xDSL's decorator of op classes; what its accessors and its verifier find out each time is found out once.

    A format is read when it is first used (`kopt.dialects.formats`).
    """
    own, format = cls.verify_, cls.assembly_format
    cls.assembly_format = None
    cls = irdl.irdl_op_definition(cls)
    for name, read in reads(cls).items():
        setattr(cls, name, property(read))
    cls.verify_own = own  # pyright: ignore[reportAttributeAccessIssue]
    cls.verify_ = verifier(cls.get_irdl_definition(), own)  # pyright: ignore[reportAttributeAccessIssue]
    if format is not None:
        give_format(cls, format)
    return cls
