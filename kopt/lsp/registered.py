"""The ops, types and attributes that there are, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from xdsl.context import Context
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute
from xdsl.traits import SymbolOpInterface

from kopt.context import make_context
from kopt.dialects import ALL_DIALECTS
from kopt.errors import ConfigError

#: What xDSL registers for its own use.
_HIDDEN = ("builtin.unregistered",)


def op(name: str) -> type[Operation] | None:
    """The op of a name, or None; also where the package that brings it does not load."""
    return _found(_context().get_optional_op, name)


def type_or_attribute(name: str) -> type[Attribute] | None:
    """What ``!name`` or ``#name`` is."""
    return _found(_context().get_optional_type, name) or _found(_context().get_optional_attr, name)


def defines_symbol(op_type: type[Operation] | None) -> bool:
    """Whether an op brings a name ``@name``."""
    return op_type is not None and op_type.has_trait(SymbolOpInterface)


@cache
def ops() -> dict[str, type[Operation]]:
    """All ops by name, sorted."""
    return ops_of(_dialects())


@cache
def types() -> dict[str, type[Attribute]]:
    """The types that are written ``!name``, sorted."""
    return types_of(_dialects())


def ops_of(dialects: Iterable[Dialect]) -> dict[str, type[Operation]]:
    """The ops of dialects by name, sorted."""
    found = {op.name: op for dialect in dialects for op in dialect.operations}
    return {name: found[name] for name in sorted(found) if name not in _HIDDEN}


def types_of(dialects: Iterable[Dialect]) -> dict[str, type[Attribute]]:
    """The types of dialects that are written with their dialect's name, sorted."""
    attributes = (attribute for dialect in dialects for attribute in dialect.attributes)
    found = {one.name: one for one in attributes if issubclass(one, TypeAttribute) and "." in one.name}
    return dict(sorted(found.items()))


def _dialects() -> Iterator[Dialect]:
    for name in sorted(ALL_DIALECTS):
        try:
            yield ALL_DIALECTS[name]
        except ConfigError:  # `kopt --show-plugins` says what is wrong with it
            continue


@cache
def _context() -> Context:
    return make_context()


def _found(lookup: Any, name: str) -> Any:
    try:
        return lookup(name) if "." in name else None
    except ConfigError:
        return None
