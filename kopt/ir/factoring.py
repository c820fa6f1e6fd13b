"""A lane number taken out of choices: what all cases count alike stands in the sum around them.

(4·a + b > 3 ? 4·a + b - 3 : 4·a + b) -> b + (a > 0 ? 4·a - 3 : 4·a)     where b is known to be 0 to 3
i32(4·a + b) % 100                    -> b + i32(4·a) % 100

Ranges are known less well afterwards, so it is no normal form: whoever asks what lanes count does it.
"""

from __future__ import annotations

from math import gcd

from kopt.ir.atoms import Atom, Dims, Extremum, Lane, Select, Wrap
from kopt.ir.choices import maximum, minimum, select, wrap
from kopt.ir.condition import Comparison, Condition, Junction, comparison, conjunction, disjunction
from kopt.ir.division import FloorDiv, Mod, floordiv, mod
from kopt.ir.index_expr import ZERO, IndexExpr, of_atom
from kopt.ir.polynomial import Coefficient, content
from kopt.ir.value_range import ValueRange


def taken_out(expr: IndexExpr, lane: Lane) -> IndexExpr:
    """A sum whose choices have their cases' common multiple of a lane number beside them."""
    total = IndexExpr(expr.const)
    for atom, factor in expr.terms.items():
        total = total + (_choice(atom, lane) if lane.dim in atom.along else of_atom(atom)) * factor
    return total


def _choice(atom: Atom, lane: Lane) -> IndexExpr:
    if isinstance(atom, Select):
        (then, otherwise), step = _common([atom.then, atom.otherwise], lane)
        return select(coarse(atom.condition, lane.along), then, otherwise) + step
    if isinstance(atom, Extremum):
        operands, step = _common(atom.operands, lane)
        return (maximum if atom.largest else minimum)(*operands) + step
    if isinstance(atom, FloorDiv | Mod) and (found := _divided_by_case(atom)) is not None:
        return _choice(found, lane)
    return _without_digit(atom, lane)


def _divided_by_case(atom: FloorDiv | Mod) -> Select | None:
    """A quotient or remainder of a sum with a choice in it, as a choice of quotients or remainders."""
    choice = next((term for term in atom.dividend.terms if isinstance(term, Select)), None)
    if choice is None:
        return None
    factor = atom.dividend.terms[choice]
    rest = atom.dividend - IndexExpr(0, {choice: factor})
    cases = [rest + case * factor for case in (choice.then, choice.otherwise)]
    divide = floordiv if isinstance(atom, FloorDiv) else mod
    return Select(choice.condition, *(divide(case, atom.divisor) for case in cases))


def _without_digit(atom: Atom, lane: Lane) -> IndexExpr:
    """A remainder, or what an integer type holds, of a sum: with the sum's last digit beside it.

    The digit is what a lane number counts below a divisor of all other terms and of the period: nothing carries.
    """
    period = 1 << atom.bits if isinstance(atom, Wrap) else atom.divisor.number if isinstance(atom, Mod) else None
    if not isinstance(atom, Wrap | Mod) or period is None or period < 1:
        return of_atom(atom)
    inner = taken_out(atom.inner if isinstance(atom, Wrap) else atom.dividend, lane)
    counted = of_atom(lane) * inner.coefficient(lane)
    pitch = gcd((inner - counted - inner.const).divisor, period)
    digit = counted + (inner.const % pitch if isinstance(inner.const, int) else 0)
    rest = inner - digit
    if not counted.terms or rest.divisor % pitch or not ValueRange(0, pitch - 1).covers(digit.range):
        return of_atom(atom)
    return (wrap(atom.bits, rest, atom.signed) if isinstance(atom, Wrap) else mod(rest, atom.divisor)) + digit


def _common(cases: tuple[IndexExpr, ...] | list[IndexExpr], lane: Lane) -> tuple[list[IndexExpr], IndexExpr]:
    """Cases without what they all count of a lane number, and that."""
    cases = [taken_out(case, lane) for case in cases]
    factors: set[Coefficient] = {case.coefficient(lane) for case in cases}
    step = IndexExpr(0, {lane: factors.pop()}) if len(factors) == 1 and 0 not in factors else ZERO
    return [case - step for case in cases], step


def coarse(condition: Condition, dims: Dims) -> Condition:
    """A condition without lane numbers that do not change whether it holds: ``e >= 0`` is ``e // n >= 0``."""
    if isinstance(condition, Junction):
        parts = [coarse(part, dims) for part in condition.conditions]
        return conjunction(parts) if condition.every else disjunction(parts)
    if isinstance(condition, Comparison) and condition.relation == "ge" and condition.along & dims:
        for scale in {content(factor) for factor in condition.expr.terms.values()} - {0}:
            if not (whole := floordiv(condition.expr, scale)).along & dims:
                return comparison("ge", whole)
    return condition
