"""Whether 64-bit integers of a kernel may be held in 32 bits, by proof.

Pure. A 64-bit value is one of

| class | what is known | may be used by |
|---|---|---|
| ``exact`` | its interval fits 32 bits | anything |
| ``loaded`` | anything; saturated (as literals are): its order to 32-bit numbers stays | comparisons, indices, moves |
| ``offset`` | its interval fits, or else reads miss their arrays: numbers of its array are indices | anything |
| ``derived`` | right where the loaded numbers are | indices only: those out of range are out of the array anyway |
| ``wrapped`` | right modulo 2^32 | casts to integers of at most 32 bits |

A narrower cast of ``loaded`` and ``derived`` is an index too where nothing but indices comes of it. Whatever else is
done with a 64-bit value has no proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Literal

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from kopt.analysis.aliases import root
from kopt.analysis.ranges import binding
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ArangeOp,
    ArgReduceOp,
    AssociativeOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    ElementwiseOp,
    ExtractOp,
    FullOp,
    IndexOp,
    LoadOp,
    MaskOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    SelectOp,
    ShiftOp,
    SliceOp,
    SortOp,
    StoreOp,
    TakeAlongOp,
    TileType,
    TransposeOp,
    YieldOp,
)

Class = Literal["exact", "loaded", "offset", "derived", "wrapped"]
LOW, HIGH = -(2**31), 2**31 - 1

#: Ops that put lanes elsewhere, unchanged.
MOVES = (BroadcastOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp, MaskOp, SelectOp, TakeAlongOp)
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_MODULAR = ("add", "sub", "mul", "neg")
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
    loads = [op for op in body.walk() if isinstance(op, LoadOp) and is_wide(op.result.type)]
    extent = max((n for op in body.walk() if isinstance(op, LoadOp) for n in _shape(op.memory)), default=0)
    offsets = {_array(op.memory): extent for op in loads if _indexed(op)}
    for op in body.walk():
        if isinstance(op, AssociativeOp):
            for values in (op.left, op.right, op.results):
                facts |= {value: facts.get(input) for value, input in zip(values, op.inputs, strict=True)}
        for result in op.results:
            if is_wide(result.type) and isinstance(result.type, TileType):
                facts[result] = facts.get(result) or _fact(op, facts, offsets)
                if facts[result] is None:
                    yield op
        if not _uses_well(op, facts):
            yield op


def _fact(op: Operation, facts: dict[SSAValue, Fact | None], offsets: dict[SSAValue, int]) -> Fact | None:
    """The fact of an op's result, None where there is none. ``offsets`` are arrays of indices, and their most."""
    if isinstance(op, LoadOp):
        most = offsets.get(_array(op.memory), HIGH + 1)
        return Fact("offset", 0, most) if most <= HIGH else Fact("loaded")
    if isinstance(op, FullOp):
        return _constant(int(op.number))
    if isinstance(op, CastOp):
        return _interval(op.input)
    if isinstance(op, ReduceOp | ScanOp):
        return _reduced(op, facts.get(op.input))
    if isinstance(op, SortOp):
        known = facts.get(op.input)
        return known if known is not None and known.kind == "exact" else None
    if isinstance(op, MOVES):
        known = [facts.get(value) for value in op.operands if is_wide(value.type)]
        return _joined([*known, _constant(int(op.fill_number))] if isinstance(op, MaskOp) else known)
    if isinstance(op, ElementwiseOp) and op.ROW.name in _ARITHMETIC:
        return _computed(op, [facts.get(value) for value in op.inputs])
    return None


def _constant(number: int) -> Fact:
    """A literal; one that does not fit is saturated."""
    return _exact(number, number) or Fact("loaded")


def _array(memory: SSAValue) -> SSAValue:
    """The array that a launch's operand is a view of."""
    if not isinstance(memory, BlockArgument):
        return memory
    launch = memory.owner.parent_op()
    if not isinstance(launch, LaunchOp) or memory.index >= len(launch.inputs):
        return memory
    return root(launch.inputs[memory.index])


def _shape(memory: SSAValue) -> tuple[int, ...]:
    return memory.type.get_shape() if isinstance(memory.type, MemRefType) else ()


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
    own = _of_type(element)
    source = _interval(op.input) if isinstance(op, CastOp) else None
    fits = source is not None and own is not None and own.low <= source.low <= source.high <= own.high
    return source if fits else own


def _of_type(element: IntegerType) -> Fact | None:
    """The interval of a type's numbers; a boolean is 0 or 1."""
    width = element.width.data
    if width == 1:
        return Fact("exact", 0, 1)
    if element.signedness.data.name == "UNSIGNED":
        return _exact(0, 2**width - 1)
    return Fact("exact", -(2 ** (width - 1)), 2 ** (width - 1) - 1)


def _reduced(op: ReduceOp | ScanOp, fact: Fact | None) -> Fact | None:
    """The interval of sums and extremes over as many lanes as the block has; sums and products may wrap."""
    kind = op.kind.data
    if fact is None or fact.kind == "derived":
        return None
    if kind in ("max", "min"):
        return fact if fact.kind != "wrapped" else None
    if fact.kind not in ("exact", "wrapped") or kind not in ("add", "mul"):
        return None
    type = op.input.type
    assert isinstance(type, TileType)
    lanes = prod(type.shape[axis] for axis in (op.dimensions if isinstance(op, ReduceOp) else (op.dim.data,)))
    fits = kind == "add" and fact.kind == "exact"
    return (_exact(min(0, fact.low * lanes), max(0, fact.high * lanes)) if fits else None) or Fact("wrapped")


def _joined(facts: list[Fact | None]) -> Fact | None:
    known = [fact for fact in facts if fact is not None]
    if len(known) != len(facts) or not known:
        return None
    kinds = {fact.kind for fact in known}
    if "wrapped" in kinds:
        return Fact("wrapped") if kinds <= {"exact", "wrapped"} else None
    for kind in ("derived", "loaded"):
        if kind in kinds:
            return Fact(kind)
    return Fact(
        "offset" if "offset" in kinds else "exact", min(fact.low for fact in known), max(fact.high for fact in known)
    )


def _computed(op: ElementwiseOp, facts: list[Fact | None]) -> Fact | None:
    known = [fact for fact in facts if fact is not None]
    if len(known) != len(facts):
        return None
    kinds = {fact.kind for fact in known}
    if "wrapped" in kinds:
        return Fact("wrapped") if op.ROW.name in _MODULAR and kinds <= {"exact", "wrapped"} else None
    if op.ROW.name in ("minimum", "maximum") and kinds <= {"exact", "loaded"}:
        return _bounded(op.ROW.name, known)
    if not kinds <= {"exact", "offset"}:
        return Fact("derived")
    ends = _ends(op.ROW.name, known)
    fits = _exact(min(ends), max(ends)) if ends else None
    if "offset" not in kinds:
        return fits or (Fact("wrapped") if op.ROW.name in _MODULAR else None)
    return Fact("offset", fits.low, fits.high) if fits is not None else Fact("derived")


def _bounded(name: str, facts: list[Fact]) -> Fact:
    """The smaller or larger of two numbers: exact once bounds on both sides take what saturated away."""
    pick = min if name == "minimum" else max
    low, high = pick(fact.low for fact in facts), pick(fact.high for fact in facts)
    loaded = any(fact.kind == "loaded" for fact in facts)
    return Fact("loaded" if loaded and (low == LOW or high == HIGH) else "exact", low, high)


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
    if name in ("mod", "rem"):
        return [-max(map(abs, b)), max(map(abs, b))]
    return [*a, *(-x for x in a)] if b[0] > 0 or b[1] < 0 else []


def _uses_well(op: Operation, facts: dict[SSAValue, Fact | None]) -> bool:
    """Whether an op may see its 64-bit operands narrowed."""
    if isinstance(op, YieldOp) and isinstance(function := op.parent_op(), AssociativeOp):
        return all(_keeps(facts.get(new), facts.get(old)) for new, old in zip(op.operands, function.left, strict=True))
    wide = [value for value in op.operands if is_wide(value.type) and isinstance(value.type, TileType)]
    kinds = {fact.kind for value in wide if (fact := facts.get(value)) is not None}
    if kinds <= {"exact", "offset"} or op.results and is_wide(op.results[0].type):
        return True  # exact, or judged by its own fact
    if "wrapped" in kinds:
        return isinstance(op, CastOp) and _fits(op.result)
    if isinstance(op, LoadOp | ExtractOp | TakeAlongOp | arith.IndexCastOp):
        return True  # a load and a lane-wise gather see indices
    if isinstance(op, StoreOp):
        return op.value not in wide
    if isinstance(op, CastOp):
        return _only_indexes(op.result)
    return isinstance(op, ElementwiseOp) and op.ROW.name in _COMPARISONS and "derived" not in kinds


def _keeps(new: Fact | None, old: Fact | None) -> bool:
    """Whether what a combining function gives is known as well as what it takes, so that all that it gives is."""
    if new is None or old is None or new.kind != old.kind:
        return new is old
    return old.low <= new.low and new.high <= old.high


def _fits(value: SSAValue) -> bool:
    """Whether a value's numbers are integers of at most 32 bits."""
    element = value.type.element_type if isinstance(value.type, TileType) else None
    return isinstance(element, IntegerType) and 1 < element.width.data <= 32


def _indexed(op: Operation) -> bool:
    """Whether some index comes of an op's numbers."""
    value = op.results[0]
    return any(_leads_to_index(use.operation, value) for use in value.uses)


def _leads_to_index(user: Operation, value: SSAValue) -> bool:
    if isinstance(user, LoadOp | StoreOp):
        return value in user.indices
    if isinstance(user, TakeAlongOp) and value is user.indices:
        return True
    passes_on = isinstance(user, (*MOVES, CastOp, ExtractOp, ShiftOp)) or user.dialect_name() == "arith"
    return (passes_on or _computes(user)) and _indexed(user)


def _computes(op: Operation) -> bool:
    return isinstance(op, ElementwiseOp) and op.ROW.name in _ARITHMETIC


def _only_indexes(value: SSAValue) -> bool:
    """Whether nothing but indices comes of an integer value."""
    return all(_indexes(use.operation, value) for use in value.uses)


def _indexes(op: Operation, value: SSAValue) -> bool:
    if isinstance(op, LoadOp):
        return value is not op.mask
    if isinstance(op, ExtractOp):
        return isinstance(op.result.type, IndexType)
    if isinstance(op, TakeAlongOp) and value is op.indices and value is not op.input:
        return True
    moved = isinstance(op, MOVES) or _computes(op)
    return moved and _only_indexes(op.results[0])
