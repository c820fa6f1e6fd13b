"""Whether 64-bit integers of a kernel may be held in 32 bits, by proof.

Pure. A 64-bit value is one of

| class | what is known | may be used by |
|---|---|---|
| ``exact`` | its interval fits 32 bits | anything |
| ``loaded`` | anything; brought in saturated, which keeps its order to 32-bit numbers | comparisons, indices, moves |
| ``derived`` | right where the loaded numbers are | indices only: those out of range are out of the array anyway |

Whatever else is done with a 64-bit value has no proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.analysis.ranges import binding
from kopt.dialects.tile import (
    ArangeOp,
    ArgReduceOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    ElementwiseOp,
    ExtractOp,
    FullOp,
    IndexOp,
    LoadOp,
    MaskOp,
    ReshapeOp,
    SelectOp,
    SliceOp,
    StoreOp,
    TakeAlongOp,
    TileType,
    TransposeOp,
)

Class = Literal["exact", "loaded", "derived"]
LOW, HIGH = -(2**31), 2**31 - 1

#: Ops that put lanes elsewhere, unchanged.
MOVES = (BroadcastOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp, MaskOp, SelectOp, TakeAlongOp)
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_ARITHMETIC = ("add", "sub", "mul", "floordiv", "truncdiv", "mod", "rem", "minimum", "maximum", "neg", "abs")


@dataclass(frozen=True)
class Fact:
    """What is known of a value: its class, and the interval of an exact one."""

    kind: Class
    low: int = LOW
    high: int = HIGH


def is_wide(type: Attribute) -> bool:
    """Whether a type's elements are 64-bit integers."""
    element = getattr(type, "element_type", type)
    return isinstance(element, IntegerType) and element.width.data == 64


def unproven(body: Operation) -> Iterator[Operation]:
    """The ops of a body that use or make 64-bit integers in a way that 32 bits may not serve."""
    facts: dict[SSAValue, Fact | None] = {}
    for op in body.walk():
        for result in op.results:
            if is_wide(result.type) and isinstance(result.type, TileType):
                facts[result] = _fact(op, facts)
                if facts[result] is None:
                    yield op
        if not _uses_well(op, facts):
            yield op


def _fact(op: Operation, facts: dict[SSAValue, Fact | None]) -> Fact | None:
    """The fact of an op's result, None where there is none."""
    if isinstance(op, LoadOp):
        return Fact("loaded")
    if isinstance(op, FullOp):
        return _exact(int(op.number), int(op.number))
    if isinstance(op, CastOp):
        return _interval(op.input)
    if isinstance(op, MOVES):
        known = [facts.get(value) for value in op.operands if is_wide(value.type)]
        return _joined([*known, _exact(int(op.fill_number), int(op.fill_number))] if isinstance(op, MaskOp) else known)
    if isinstance(op, ElementwiseOp) and op.ROW.name in _ARITHMETIC:
        return _computed(op, [facts.get(value) for value in op.inputs])
    return None


def _exact(low: int, high: int) -> Fact | None:
    return Fact("exact", low, high) if low >= LOW and high <= HIGH else None


def _interval(value: SSAValue) -> Fact | None:
    """The interval of a narrower integer value."""
    element = value.type.element_type if isinstance(value.type, TileType) else None
    if not isinstance(element, IntegerType) or element.width.data > 32:
        return None
    op = value.owner
    if isinstance(op, IndexOp):
        bound = binding(op.range)
        return _exact(0, bound.upper + bound.size) if isinstance(bound.upper, int) else Fact("exact")
    if isinstance(op, ArangeOp | ArgReduceOp):
        return _exact(0, HIGH)
    if isinstance(op, BroadcastOp | ReshapeOp | TransposeOp):
        return _interval(op.input)
    unsigned = element.signedness.data.name == "UNSIGNED"
    return None if unsigned and element.width.data == 32 else Fact("exact")


def _joined(facts: list[Fact | None]) -> Fact | None:
    known = [fact for fact in facts if fact is not None]
    if len(known) != len(facts) or not known:
        return None
    for kind in ("derived", "loaded"):
        if any(fact.kind == kind for fact in known):
            return Fact(kind)
    return Fact("exact", min(fact.low for fact in known), max(fact.high for fact in known))


def _computed(op: ElementwiseOp, facts: list[Fact | None]) -> Fact | None:
    known = [fact for fact in facts if fact is not None]
    if len(known) != len(facts):
        return None
    if any(fact.kind != "exact" for fact in known):
        return Fact("derived")
    ends = _ends(op.ROW.name, known)
    return _exact(min(ends), max(ends)) if ends else None


def _ends(name: str, facts: list[Fact]) -> list[int]:
    """Numbers between which the result of an op on exact operands lies; none where that is not worked out."""
    a = (facts[0].low, facts[0].high)
    if len(facts) == 1:
        return [-a[0], -a[1], *a, 0]
    b = (facts[1].low, facts[1].high)
    pairs = [(x, y) for x in a for y in b]
    if name == "add":
        return [x + y for x, y in pairs]
    if name == "sub":
        return [x - y for x, y in pairs]
    if name == "mul":
        return [x * y for x, y in pairs]
    if name in ("minimum", "maximum"):
        return [*a, *b]
    if name in ("mod", "rem"):
        return [-max(map(abs, b)), max(map(abs, b))]
    return [*a, *(-x for x in a)] if b[0] > 0 or b[1] < 0 else []


def _uses_well(op: Operation, facts: dict[SSAValue, Fact | None]) -> bool:
    """Whether an op may see its 64-bit operands narrowed."""
    wide = [value for value in op.operands if is_wide(value.type) and isinstance(value.type, TileType)]
    kinds = {fact.kind for value in wide if (fact := facts.get(value)) is not None}
    if not kinds - {"exact"} or op.results and is_wide(op.results[0].type):
        return True  # exact, or judged by its own fact
    if isinstance(op, LoadOp | ExtractOp | arith.IndexCastOp):
        return True
    if isinstance(op, StoreOp):
        return op.value not in wide
    return isinstance(op, ElementwiseOp) and op.ROW.name in _COMPARISONS and "derived" not in kinds
