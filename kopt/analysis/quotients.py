"""Blocks whose beginning is divided to name one row for all of their lanes: how large they may be for that to hold.

Pure. In ``scales[tile.begin // 64]`` the lanes of a block share a row only where blocks of 64 hold theirs.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import SSAValue

from kopt.analysis.linear import linear
from kopt.analysis.ranges import binding
from kopt.dialects.tile import Access, RangeType

_QUOTIENTS = (arith.FloorDivSIOp, arith.DivSIOp, arith.DivUIOp)
#: What a number of a row is made by.
_ARITHMETIC = (*_QUOTIENTS, arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.RemSIOp, arith.RemUIOp)


def most_lanes(module: ModuleOp) -> dict[str, int]:
    """The largest power of two, by tag, whose blocks have one quotient each, for blocks whose quotients name rows."""
    most: dict[str, int] = {}
    for op in module.walk():
        if isinstance(op, _QUOTIENTS) and _names_rows(op.result):
            for tag, lanes in _lanes(op.lhs, op.rhs):
                most[tag] = min(lanes, most.get(tag, lanes))
    return most


def _lanes(dividend: SSAValue, divisor: SSAValue) -> list[tuple[str, int]]:
    """How many lanes of the blocks that a dividend counts share a quotient.

    Blocks that do not begin where groups of so many do are left alone: their lanes share none, whatever is chosen.
    """
    form, by = linear(dividend), linear(divisor)
    if by.terms or by.const < 1:
        return []
    found: list[tuple[str, int]] = []
    for symbol, coefficient in form.terms:
        if not isinstance(symbol.type, RangeType) or coefficient % (size := binding(symbol).size) or coefficient < 0:
            continue
        step = coefficient // size
        shared = by.const // step if by.const % step == 0 else 1
        lanes = shared & -shared
        if form.const % (step * lanes) == 0:
            found.append((symbol.type.tag, lanes))
    return found


def _names_rows(value: SSAValue) -> bool:
    """Whether a number, or what is computed with it, is an index of an array by itself."""
    seen: set[SSAValue] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        for user in {use.operation for use in value.uses}:
            if isinstance(user, Access) and value in user.indices and isinstance(value.type, IndexType):
                return True
            if isinstance(user, _ARITHMETIC) and user.result not in seen:
                seen.add(user.result)
                todo.append(user.result)
    return False
