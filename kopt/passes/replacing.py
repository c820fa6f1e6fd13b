"""What stands in place of something else: accesses have the other's id, by which plans speak of it, and its buffer."""

from __future__ import annotations

from typing import TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.dialects.tile import Access
from kopt.dialects.tile.access_ids import ACCESS

_Access = TypeVar("_Access", bound=Access)


def replacing(access: Operation, new: _Access) -> _Access:
    """A new access that does the work of another, or a part of it: with the other's id and place in the source.

    One of the same array has the other's buffer, too.

    tile.load %x[%n] via @x access "x#1"
    becomes
    tile.load %x[%block] via @x access "x#1"     …
    """
    if (id := access.attributes.get(ACCESS)) is not None:
        new.attributes[ACCESS] = id
    if isinstance(access, Access) and access.memory is new.memory and access.via is not None:
        new.via = access.via
    new.location = access.location
    return new


def replace(op: Operation, value: SSAValue) -> None:
    """Puts a value in the place of an op's result, under its name."""
    value.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, [], [value])
