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
from typing import TypeVar

from xdsl import irdl
from xdsl.ir import ParametrizedAttribute
from xdsl.irdl import IRDLOperation

from kopt.dialects.definition.reading import reads
from kopt.dialects.definition.verifying import verifier

_OpClass = TypeVar("_OpClass", bound=type[IRDLOperation])


class _Concrete(ABCMeta):
    """A class whose instances are those of it and of what derives from it: none are registered."""

    __instancecheck__ = type.__instancecheck__


class Op(IRDLOperation, metaclass=_Concrete):
    """The base of ops."""


class Attr(ParametrizedAttribute, metaclass=_Concrete):
    """The base of types and of other attributes with parameters."""


def irdl_op_definition(cls: _OpClass) -> _OpClass:
    """xDSL's decorator of op classes; what its accessors and its verifier find out each time is found out once."""
    own = cls.verify_
    cls = irdl.irdl_op_definition(cls)
    for name, read in reads(cls).items():
        setattr(cls, name, property(read))
    cls.verify_ = verifier(cls.get_irdl_definition(), own)  # pyright: ignore[reportAttributeAccessIssue]
    return cls
