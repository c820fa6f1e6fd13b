"""Small IR for tests of analyses: text in, and its values by the names that the text gives them."""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from kopt.parsing import parse_module, verify
from kopt.walk import walk

Kind = TypeVar("Kind", bound=Operation)


def verified(text: str) -> ModuleOp:
    """The module that a text spells, well formed."""
    module = parse_module(text)
    verify(module)
    return module


def named(module: ModuleOp) -> dict[str, SSAValue]:
    """The values of a module by name: arguments of blocks and results; of two of one name, the last."""
    found: dict[str, SSAValue] = {}
    for op in walk(module):
        args = [arg for region in op.regions for block in region.blocks for arg in block.args]
        found |= {value.name_hint: value for value in (*args, *op.results) if value.name_hint}
    return found


def only(module: Operation, kind: type[Kind]) -> Kind:
    """The only operation of a kind."""
    (op,) = walk(module, kind)
    return op
