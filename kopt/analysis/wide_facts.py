"""What is known of integer tiles: the classes of `kopt.analysis.narrowing`, from op to op.

Integers of at most 32 bits are ``exact``: their interval is what they are computed from, or all of their type.
``found`` are the arrays of which a check before each call says what interval their numbers are in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from kopt.analysis.aliases import root
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ArangeOp,
    ArgReduceOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    DynamicSliceOp,
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
    SliceOp,
    SortOp,
    SplatOp,
    TakeAlongOp,
    TileType,
    TransposeOp,
    literal_value,
    tile_type,
)
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding

Class = Literal["exact", "loaded", "literal", "offset", "derived", "wrapped"]
LOW, HIGH = -(2**31), 2**31 - 1

#: Ops that put lanes elsewhere, unchanged.
MOVES = (BroadcastOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp, MaskOp, SelectOp, TakeAlongOp, DynamicSliceOp)
ARITHMETIC = ("add", "sub", "mul", "floordiv", "truncdiv", "mod", "rem", "minimum", "maximum", "neg", "abs")
BITS = ("and", "or", "xor", "not", "shl", "shr")
#: What is right modulo 2^32 where its operands are.
_MODULAR = ("add", "sub", "mul", "neg", "and", "or", "xor", "not")
Found = Mapping[SSAValue, tuple[int, int]]


@dataclass(frozen=True)
class WideFact:
    """What is known of a value: its class, and the interval of an exact one."""

    kind: Class
    low: int = LOW
    high: int = HIGH


def is_wide(type: Attribute) -> bool:
    """Whether a type's elements are 64-bit integers."""
    element = getattr(type, "element_type", type)
    return isinstance(element, IntegerType) and element.width.data == 64


Facts = Mapping[SSAValue, WideFact | None]
#: Of numbers of elements and of loops: no array is so long that one is at an end.
_INDEX = WideFact("exact", LOW + 1, HIGH - 1)


def has_facts(value: SSAValue) -> bool:
    """Whether a value is a tile of integers."""
    return isinstance(value.type, TileType) and isinstance(value.type.element_type, IntegerType)


def fact_of(result: OpResult, facts: Facts, found: Found) -> WideFact | None:
    """The fact of a tile of integers, None where there is none."""
    known = _positions(result) if result.index else _known(result.op, facts, found)
    return known if is_wide(result.type) else _within(known, _of_type(result))


def _within(known: WideFact | None, type: WideFact | None) -> WideFact | None:
    """What is known of narrower integers: those that leave their type wrap."""
    if known is None or type is None or known.kind not in ("exact", "offset"):
        return type
    return WideFact("exact", known.low, known.high) if type.low <= known.low <= known.high <= type.high else type


def _positions(result: OpResult) -> WideFact | None:
    """Where a sort's lanes come from."""
    return _exact(0, max(0, tile_type(result).shape[result.op.dim.data] - 1)) if isinstance(result.op, SortOp) else None


def _known(op: Operation, facts: Facts, found: Found) -> WideFact | None:
    if isinstance(op, LoadOp):
        return joined([_stored(op, found), *_filled(op)])
    if isinstance(op, FullOp):
        return _constant(int(op.number))
    if isinstance(op, ArangeOp):
        return _numbers(op)
    if isinstance(op, IndexOp):
        return _lanes(op, facts)
    if isinstance(op, ArgReduceOp):
        return _exact(0, max(0, tile_type(op.input).shape[op.dim.data] - 1))
    if isinstance(op, CastOp):
        return _fact(op.input, facts) if not is_wide(op.input.type) or not is_wide(op.result.type) else None
    if isinstance(op, SplatOp) and op.scalar.type == IndexType():
        known = IndexAnalysis().range(op.scalar)
        return _INDEX if known.low is None or known.high is None else _exact(known.low, known.high)
    if isinstance(op, ReduceOp | ScanOp):
        return _reduced(op, _fact(op.input, facts))
    if isinstance(op, SortOp):
        known = _fact(op.input, facts)
        return known if known is not None and known.kind in ("exact", "offset") else None
    if isinstance(op, MOVES):
        element = tile_type(op.results[0]).element_type
        same = [value for value in op.operands if getattr(value.type, "element_type", None) == element]
        known = [_fact(value, facts) for value in same]
        return joined([*known, _outside(int(op.fill_number))] if isinstance(op, MaskOp) else known)
    if isinstance(op, ElementwiseOp) and op.ROW.name in (*ARITHMETIC, *BITS, "sign"):
        return _computed(op, [_fact(value, facts) for value in op.inputs])
    return None


def _stored(load: LoadOp, found: Found) -> WideFact:
    interval = found.get(array_of(load.memory))
    return WideFact("loaded") if interval is None else WideFact("offset", *interval)


def _filled(load: LoadOp) -> Iterator[WideFact]:
    """The numbers that a load gives lanes outside of its ranges, and those that its mask leaves out."""
    if load.pad is not None:
        yield _outside(int(literal_value(load.pad)))
    if load.other is not None:
        yield _constant(int(literal_value(load.other)))


def _fact(value: SSAValue, facts: Facts) -> WideFact | None:
    return facts.get(value) or _of_type(value)


def _constant(number: int) -> WideFact:
    """A literal; one that does not fit is saturated."""
    return _exact(number, number) or WideFact("literal")


def _outside(number: int) -> WideFact:
    """What lanes outside their ranges hold for a reduction: a neutral extreme stays one when it is saturated."""
    extreme = number in (-(2**63), 2**63 - 1)
    return WideFact("exact", *(2 * [max(LOW, min(HIGH, number))])) if extreme else _constant(number)


def fitting(kind: Class, low: int, high: int) -> WideFact | None:
    """The fact of an interval that fits 32 bits, else None."""
    return WideFact(kind, low, high) if low >= LOW and high <= HIGH else None


def _exact(low: int, high: int) -> WideFact | None:
    return fitting("exact", low, high)


def _numbers(op: ArangeOp) -> WideFact | None:
    """From the first to the last of numbers at equal distances."""
    last = op.start.data + op.step.data * (tile_type(op.result).shape[0] - 1)
    return _exact(min(op.start.data, last), max(op.start.data, last))


def _lanes(op: IndexOp, facts: Facts) -> WideFact:
    """The numbers of a range's lanes, of one that ends at a 64-bit number too, and of what it is shifted by."""
    bound, shift = binding(op.range), IndexAnalysis().shift(op.range).range
    if shift.low is None or shift.high is None:
        return _INDEX
    least = min(0, bound.lower) if isinstance(bound.lower, int) else 0
    most = bound.upper if isinstance(bound.upper, int) else HIGH
    if isinstance(bound.upper, SSAValue) and isinstance(end := bound.upper.owner, ExtractOp):
        known = facts.get(end.input)
        most = max(known.high, 0) if known is not None and known.kind in ("exact", "offset") else HIGH
    return _exact(least + shift.low, most + bound.size + shift.high) or _INDEX


def _of_type(value: SSAValue) -> WideFact | None:
    """The interval of a type's numbers, where it fits 32 bits; a boolean is 0 or 1."""
    element = getattr(value.type, "element_type", None)
    if not isinstance(element, IntegerType):
        return None
    width = element.width.data
    if width == 1 or element.signedness.data.name == "UNSIGNED":
        return _exact(0, 2**width - 1)
    return _exact(-(2 ** (width - 1)), 2 ** (width - 1) - 1)


def _reduced(op: ReduceOp | ScanOp, fact: WideFact | None) -> WideFact | None:
    """The interval of sums and extremes over as many lanes as the block has; sums and products may wrap."""
    kind = op.kind.data
    if fact is None or fact.kind == "derived":
        return None
    if kind in ("max", "min"):
        return fact if fact.kind != "wrapped" else None
    if fact.kind not in ("exact", "offset", "wrapped") or kind not in ("add", "mul"):
        return None
    type = tile_type(op.input)
    lanes = prod(type.shape[axis] for axis in (op.dimensions if isinstance(op, ReduceOp) else (op.dim.data,)))
    if kind == "add" and fact.kind != "wrapped" and LOW <= fact.low * lanes and fact.high * lanes <= HIGH:
        return WideFact(fact.kind, min(0, fact.low * lanes), max(0, fact.high * lanes))
    return WideFact("wrapped")


def joined(facts: list[WideFact | None]) -> WideFact | None:
    """What is known of a value that is one of several."""
    known = [fact for fact in facts if fact is not None]
    if len(known) != len(facts) or not known:
        return None
    kinds = {fact.kind for fact in known}
    if "wrapped" in kinds:
        return WideFact("wrapped") if kinds <= {"exact", "wrapped"} else None
    for kind in ("derived", "loaded", "literal"):
        if kind in kinds:
            return WideFact(kind)
    return WideFact(
        "offset" if "offset" in kinds else "exact", min(fact.low for fact in known), max(fact.high for fact in known)
    )


def _computed(op: ElementwiseOp, facts: list[WideFact | None]) -> WideFact | None:
    known = [fact for fact in facts if fact is not None]
    if len(known) != len(facts):
        return None
    kinds = {fact.kind for fact in known}
    if "wrapped" in kinds:
        return WideFact("wrapped") if op.ROW.name in _MODULAR and kinds <= {"exact", "wrapped"} else None
    if op.ROW.name in ("minimum", "maximum") and kinds <= {"exact", "loaded", "literal"}:
        return _bounded(op.ROW.name, known)
    right = kinds <= {"exact", "offset", "derived"} and kinds != {"exact"}
    wraps = WideFact("derived") if right and op.ROW.name in _MODULAR else None
    if not kinds <= {"exact", "offset"}:
        return wraps
    ends = _ends(op.ROW.name, known)
    fits = _exact(min(ends), max(ends)) if ends else None
    if "offset" not in kinds:
        return fits or (WideFact("wrapped") if op.ROW.name in _MODULAR else None)
    return WideFact("offset", fits.low, fits.high) if fits is not None else wraps


def _bounded(name: str, facts: list[WideFact]) -> WideFact:
    """The smaller or larger of two numbers: exact once bounds on both sides take what saturated away."""
    pick = min if name == "minimum" else max
    low, high = pick(fact.low for fact in facts), pick(fact.high for fact in facts)
    loaded = any(fact.kind != "exact" for fact in facts)
    return WideFact("loaded" if loaded and (low == LOW or high == HIGH) else "exact", low, high)


def _ends(name: str, facts: list[WideFact]) -> list[int]:
    """Numbers between which the result of an op on exact operands lies; none where that is not worked out."""
    if name in BITS:
        return _bits(name, facts)
    if name == "sign":
        return [-1, 1]
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
        return [(min if name == "minimum" else max)(x, y) for x, y in pairs]
    if name in ("mod", "rem"):
        return [-max(map(abs, b)), max(map(abs, b))]
    return [*a, *(-x for x in a)]


def _bits(name: str, facts: list[WideFact]) -> list[int]:
    """The same for bitwise operations, by the bits that the operands' numbers take; for shifts to the left by less
    than 32."""
    if name in ("shl", "shr"):
        numbers, by = facts
        most = 32 if name == "shl" else 64
        steps = [by.low, by.high] if 0 <= by.low and by.high < most else []
        return [x << n if name == "shl" else x >> n for x in (numbers.low, numbers.high) for n in steps]
    if name == "and" and (positive := [fact.high for fact in facts if fact.low >= 0]):
        return [0, min(positive)]
    bits = max(n.bit_length() for fact in facts for n in (fact.low, fact.high, ~fact.low, ~fact.high))
    signed = name == "not" or any(fact.low < 0 for fact in facts)
    return [-(2**bits) if signed else 0, 2**bits - 1]


def array_of(memory: SSAValue) -> SSAValue:
    """The array that a launch's operand is a view of."""
    if not isinstance(memory, BlockArgument):
        return memory
    launch = memory.owner.parent_op()
    if not isinstance(launch, LaunchOp) or memory.index >= len(launch.inputs):
        return memory
    return root(launch.inputs[memory.index])
