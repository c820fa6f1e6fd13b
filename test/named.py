"""What stands in a small text of IR: its values by the names that they have there, and its only op of a kind."""

from __future__ import annotations

from typing import TypeVar

from xdsl.ir import Operation, SSAValue

from kopt.walk import walk

Kind = TypeVar("Kind", bound=Operation)


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
