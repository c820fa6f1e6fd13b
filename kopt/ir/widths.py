"""In how many bits an expression can be computed: sums and products wrap as one, quotients and comparisons do not."""

from __future__ import annotations

from collections.abc import Iterator

from kopt.ir.atoms import Atom, Extremum, Select
from kopt.ir.division import FloorDiv, Mod
from kopt.ir.index_expr import IndexExpr


def suffices(expr: IndexExpr, bits: int) -> bool:
    """Whether arithmetic that wraps in ``bits`` gives what that width holds of an expression.

    So where every number that is divided or compared fits it; sums of others may leave it and come back.
    """
    return all(part.range.fits(bits) for atom in expr.atoms() for part in _exact_parts(atom))


def is_power_of_two(number: int) -> bool:
    """Whether a number is 1, 2, 4, …"""
    return number > 0 and not number & (number - 1)


def next_power_of_two(number: int) -> int:
    """The least power of two that is at least ``number`` (1 for 0)."""
    return 1 << max(0, number - 1).bit_length()


def _exact_parts(atom: Atom) -> Iterator[IndexExpr]:
    """The parts of an atom that must be right as they are, not only in their low bits."""
    if isinstance(atom, Mod) and (by := atom.divisor.number) is not None and is_power_of_two(by):
        return
    if isinstance(atom, FloorDiv | Mod | Extremum):
        yield from atom.parts
    if isinstance(atom, Select):
        yield from atom.condition.parts
