"""Mutants that no test can kill, each with the reason why nothing changes."""

from __future__ import annotations

from typing import NamedTuple

from operators import Mutant


class Proof(NamedTuple):
    """A line of a file, what it becomes, and why that is the same."""

    file: str
    line: str
    changed: str
    why: str


PROVED: tuple[Proof, ...] = (
    Proof(
        "kopt/passes/aligning/stores.py",
        "return whole_tiles and unit > 1",
        "return whole_tiles and unit > 2",
        "alignment.multiple gives 1, or multiples of 8",
    ),
    Proof(
        "kopt/ir/to_ssa.py",
        "return self._add(arith.SubiOp(whole, self._add(arith.MuliOp(self._add(arith.FloorDivSIOp(whole, by)), by))))",
        "return self._add(arith.SubiOp(whole, self._add(arith.MuliOp(by, self._add(arith.FloorDivSIOp(whole, by))))))",
        "the operands of a product commute",
    ),
    Proof(
        "kopt/ir/value_range.py",
        "return a * (1 if b > 0 else -1) if abs(a) == _INF else a // b",
        "return a * (2 if b > 0 else -1) if abs(a) == _INF else a // b",
        "twice infinity is infinity",
    ),
)


def proof(mutant: Mutant, text: str) -> str | None:
    """Why a mutant changes nothing, where that is known."""
    old, new = (each.split("\n")[mutant.line - 1].strip() for each in (text, mutant.applied(text)))
    return next((p.why for p in PROVED if (p.file, p.line, p.changed) == (mutant.file, old, new)), None)
