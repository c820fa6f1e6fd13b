"""Mutants by hand: those that survived when a stranger tried thirty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from operators import Mutant

ROOT = Path(__file__).resolve().parents[2]


class ByHand(NamedTuple):
    """A text that a file has once, in a function, and what it becomes."""

    file: str
    function: str
    old: str
    new: str


_MUTANTS = tuple(
    ByHand(*each)
    for each in (
        ("kopt/analysis/coverage.py", "stays_inside", "+ offset >= extent", "+ offset >= extent - 1"),
        ("kopt/passes/gpu/pad_to_power_of_two.py", "_strided", "step, start = build.full", "start, step = build.full"),
        (
            "kopt/passes/gpu/pad_to_power_of_two.py",
            "_strided",
            'build.compute("add", build.compute("mul", lanes, step), start)',
            'build.compute("mul", build.compute("add", lanes, start), step)',
        ),
        ("kopt/passes/binding/semantics.py", "semantics", 'free and "arbitrary" not in words', "free"),
        (
            "kopt/passes/binding/semantics.py",
            "semantics",
            "number not in ordered and all(o.window.moves_with(number) for o in outputs)",
            "number not in ordered",
        ),
        ("kopt/passes/binding/semantics.py", "semantics", "free = number not in ordered and", "free ="),
        (
            "kopt/analysis/hoisting.py",
            "_check_memory",
            "op.memory in loaded and op not in after",
            "op.memory in loaded",
        ),
        ("kopt/analysis/hoisting.py", "_check_memory", "in loaded and op not in after", "in loaded and op in after"),
        ("kopt/analysis/hoisting.py", "_after", "    op = loop.next_op\n", "    op = None\n"),
        ("kopt/analysis/validity.py", "_access", "if is_gather(entry)", "if not is_gather(entry)"),
        ("kopt/analysis/validity.py", "_access", "{dim: dim + first for", "{dim: dim for"),
        ("kopt/analysis/validity.py", "_access", "_together(*rows, *map(b.facts, written))", "_together(*rows)"),
        ("kopt/lowering/pallas/loops.py", "_visit_test", "subtract(visit.count, number(1))", "visit.count"),
        ("kopt/lowering/pallas/loops.py", "_visit_test", "if visit.id.literal == 0", "if visit.id.literal != 0"),
        ("kopt/passes/masking.py", "takes", "load.mask is None or other == fill", "True"),
        ("kopt/passes/masking.py", "takes", "0 if load.other is None", "1 if load.other is None"),
        ("kopt/passes/insert_masks.py", "_mask_tagged", " and takes(load, fill)", ""),
        ("kopt/passes/insert_masks.py", "InsertMasksPass.apply", "mask_write(user, validity)", "pass"),
        ("kopt/passes/insert_masks.py", "InsertMasksPass.apply", "StoreOp | RmwOp | CasOp", "RmwOp | CasOp"),
        ("kopt/lowering/triton/reductions.py", "_narrowed", "type.width.data < 32", "type.width.data < 16"),
        ("kopt/ir/value_range.py", "ValueRange.__floordiv__", "[_floor(a, b) for", "[_truncated(a, b) for"),
        ("kopt/ir/value_range.py", "_floor", "or (a > 0) == (b > 0) else -1", "or (a > 0) == (b > 0) else 0"),
        ("kopt/frontend/distances.py", "linear", "1 if isinstance(owner, arith.AddiOp) else -1", "1"),
        (
            "kopt/frontend/distances.py",
            "distance",
            "linear(stop).plus(linear(start), -1)",
            "linear(stop).plus(linear(start), 1)",
        ),
        ("kopt/passes/pipelining/writebacks.py", "_WriteBack.convert", "self._wait_last()", "pass"),
        (
            "kopt/passes/pipelining/writebacks.py",
            "_WriteBack._last_slot",
            'self.build.add(arith.SubiOp(self.count(self.loop), self.build.index(1)), "last")',
            "self.count(self.loop)",
        ),
        (
            "kopt/passes/pipelining/writebacks.py",
            "_WriteBack._wait_before",
            'self.build.add(arith.SubiOp(self.build.index(1), self.slot), "other_slot")',
            "self.slot",
        ),
    )
)


def BY_HAND() -> Iterator[Mutant]:
    """As mutants of today's files."""
    for file, function, old, new in _MUTANTS:
        text = (ROOT / file).read_text()
        at = text.index(old, text.index(f"def {function.rpartition('.')[2]}("))
        yield Mutant(file, function, text.count("\n", 0, at) + 1, at, old, new)
