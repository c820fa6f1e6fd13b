"""The xDSL context that kopt parses and rewrites in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.context import Context
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute

from kopt.dialects import ALL_DIALECTS, DIALECTS
from kopt.registry import load


class _Context(Context):
    """Looks for a dialect among other packages' when a name is of none that it has."""

    def _extend(self, name: str) -> None:
        dialect, dot, _ = name.partition(".")
        if dot and dialect not in self._registered_dialects and dialect in ALL_DIALECTS:
            self.register_dialect(dialect, partial(ALL_DIALECTS.__getitem__, dialect))

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        self._extend(name)
        return super().get_optional_op(name, dialect_stack=dialect_stack)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        self._extend(name)
        return super().get_optional_type(name)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        self._extend(name)
        return super().get_optional_attr(name)

    def get_optional_dialect(self, name: str) -> Dialect | None:
        self._extend(f"{name}.")
        return super().get_optional_dialect(name)


def make_context(*, allow_unregistered: bool = False) -> Context:
    """A context that knows every dialect of kopt's and of plug-ins, and loads each on first use.

    Args: ``allow_unregistered`` accepts operations of unknown dialects, in the generic syntax.
    """
    ctx = _Context(allow_unregistered=allow_unregistered)
    for name, path in DIALECTS.items():
        ctx.register_dialect(name, partial(load, path))
    return ctx
