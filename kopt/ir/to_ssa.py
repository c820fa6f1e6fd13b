"""Index expressions as ``index`` values: the inverse of `kopt.ir.from_ssa`, for what is the same in all lanes.

`kopt.ir.to_tiles` writes those that differ from lane to lane.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import BeginOp, IdOp
from kopt.ir.atoms import Atom, BlockNumber, Extremum, Symbol, Wrap
from kopt.ir.division import FloorDiv, Mod
from kopt.ir.index_expr import IndexExpr
from kopt.ir.polynomial import Coefficient, quotient


class IndexWriter:
    """Makes ops by ``add``; ``named`` gives the ``index`` of a value that keeps its name.

    ``begin`` says where a range's block begins, by the analysis that made the expressions.
    """

    def __init__(
        self,
        add: Callable[[Operation], SSAValue],
        named: Callable[[SSAValue], SSAValue],
        begin: Callable[[SSAValue], IndexExpr],
    ):
        self._add = add
        self._named = named
        self._begin = begin

    @staticmethod
    def can_write(expr: IndexExpr) -> bool:
        """Whether there are ops for all of an expression."""
        return not expr.along and all(
            isinstance(atom, FloorDiv | Mod | Extremum | BlockNumber)
            or (isinstance(atom, Wrap) and atom.bits >= 32)
            or (isinstance(atom, Symbol) and isinstance(atom.name, SSAValue))
            for atom in expr.atoms()
        )

    def value(self, expr: IndexExpr) -> SSAValue:
        """An expression as a value. Elements of 32 bits are counted as a target does: as far as it has memory."""
        rest, begun = at_begins(expr, self._begin)
        total: SSAValue | None = None
        parts = [(self._add(BeginOp(range)), factor) for range, factor in begun]
        for value, factor in (*parts, *((self._atom(atom), factor) for atom, factor in rest.terms.items())):
            part = value if factor == 1 else self._add(arith.MuliOp(value, self._number(factor)))
            total = part if total is None else self._add(arith.AddiOp(total, part))
        if total is None or rest.const != 0:
            number = self._number(rest.const)
            return number if total is None else self._add(arith.AddiOp(total, number))
        return total

    def _atom(self, atom: Atom) -> SSAValue:
        if isinstance(atom, BlockNumber):
            return self._add(IdOp(atom.name))  # pyright: ignore[reportArgumentType]
        if isinstance(atom, Wrap):
            return self.value(atom.inner)
        if isinstance(atom, FloorDiv):
            return self._add(arith.FloorDivSIOp(self.value(atom.dividend), self.value(atom.divisor)))
        if isinstance(atom, Mod):
            whole, by = self.value(atom.dividend), self.value(atom.divisor)
            return self._add(arith.SubiOp(whole, self._add(arith.MuliOp(self._add(arith.FloorDivSIOp(whole, by)), by))))
        if isinstance(atom, Extremum):
            pick = arith.MaxSIOp if atom.largest else arith.MinSIOp
            first, *others = map(self.value, atom.operands)
            for other in others:
                first = self._add(pick(first, other))
            return first
        assert isinstance(atom, Symbol) and isinstance(atom.name, SSAValue)
        return self._named(atom.name)

    def _number(self, number: Coefficient) -> SSAValue:
        assert isinstance(number, int), f"{number} is not chosen yet"
        return self._add(arith.ConstantOp(IntegerAttr(number, IndexType())))


def at_begins(
    expr: IndexExpr, begin: Callable[[SSAValue], IndexExpr]
) -> tuple[IndexExpr, list[tuple[SSAValue, Coefficient]]]:
    """A sum as multiples of where ranges' blocks begin, and the rest: where that is shorter than with their numbers."""
    begun: list[tuple[SSAValue, Coefficient]] = []
    names = [(atom, atom.name) for atom in expr.terms if isinstance(atom, BlockNumber)]
    blocks = [(begin(name), atom, name) for atom, name in names if isinstance(name, SSAValue)]
    for first, atom, name in sorted(blocks, key=lambda block: -len(block[0].terms)):
        factor = quotient(expr.coefficient(atom), first.coefficient(atom))
        if factor is not None and len((rest := expr - first * factor).terms) < len(expr.terms):
            expr = rest
            begun.append((name, factor))
    return expr, begun
