"""Registers all that kernels may call: the one module that knows every family of operations."""

from __future__ import annotations

from functools import cache

from kopt.frontend import builtin_calls, language_calls
from kopt.frontend.meanings import MEANINGS, once_loaded
from kopt.frontend.ops import (
    creation,
    elementwise,
    indexed,
    joining,
    matrices,
    numbers,
    random,
    reductions,
    scans,
    shapes,
    slicing,
    sorting,
)
from kopt.frontend.ops.scalars import with_scalars
from kopt.frontend.registry import Operation, register

#: torch functions whose name in its namespace is not the operation's.
ALIASES = {
    "expit": "sigmoid",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "subtract": "sub",
    "absolute": "abs",
    "negative": "neg",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
    "concat": "cat",
    "concatenate": "cat",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctan2": "atan2",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "clip": "clamp",
    "fix": "trunc",
}


def _operations() -> dict[str, Operation]:
    table: dict[str, Operation] = {}
    for family in (elementwise, reductions, scans, sorting, shapes, slicing, joining, matrices, indexed):
        table.update(family.TABLE)
    for family in (reductions, scans, sorting):
        table.update(with_scalars(family.TABLE))
    table.update(with_scalars({name: table[name] for name in ("transpose", "movedim", "flip")}))
    numbers.extend(table)
    return table | creation.METHODS | random.METHODS


@cache
def register_all() -> None:
    """Fills the tables, once."""
    table = _operations()
    aliases = {alias: table[name] for alias, name in ALIASES.items()}
    register(table | aliases, creation.TABLE | random.TABLE)
    MEANINGS.update(builtin_calls.table() | language_calls.table())
    once_loaded("helion.language", language_calls.helion_table)
