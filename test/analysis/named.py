"""Small IR texts for tests of analyses: parsed, verified, and their values by name."""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from kopt.parsing import parse_module, verify
from kopt.walk import walk

Kind = TypeVar("Kind", bound=Operation)


def verified(text: str) -> ModuleOp:
    """The module of a text, which is valid."""
    module = parse_module(text)
    verify(module)
    return module


def named(top: Operation) -> dict[str, SSAValue]:
    """The results and arguments inside an op by their names in the text; of values of one name, the first."""
    found: dict[str, SSAValue] = {}
    for op in walk(top):
        for value in (*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)):
            if value.name_hint is not None:
                found.setdefault(value.name_hint, value)
    return found


def only(top: Operation, kind: type[Kind]) -> Kind:
    """The one op of a kind inside another."""
    (op,) = walk(top, kind)
    return op
