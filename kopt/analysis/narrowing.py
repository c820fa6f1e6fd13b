"""Whether 64-bit integers of a kernel may be held in 32 bits: by proof, or where a check before each call allows one.

Pure. A 64-bit value is one of

| class | what is known | may be used by |
|---|---|---|
| ``exact`` | its interval fits 32 bits | anything |
| ``loaded`` | anything; saturated: its order to numbers between the ends stays | such comparisons, indices, moves |
| ``literal`` | saturated; outside of what is loaded from arrays | as ``loaded``, and numbers for loops |
| ``offset`` | its interval fits: its array was found to be inside an interval | anything |
| ``derived`` | sums and products of ``offset``, right modulo 2^32 | indices: what does not fit is in no array |
| ``wrapped`` | right modulo 2^32 | casts to integers of at most 32 bits |

A narrower cast of ``loaded`` and ``derived`` is an index too where nothing but indices comes of it. Whatever else is
done with a 64-bit value has no proof.

`narrowing` first looks for a proof without ``offset``, then for the widest interval that makes one: of arrays of
indices alone, then of all arguments whose numbers are computed with in 64 bits, narrower ones that are widened too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType
from xdsl.ir import Operation, SSAValue

from kopt.analysis.bottom_up import bottom_up, users_of
from kopt.analysis.carried_wide import facts_of
from kopt.analysis.intervals import argument_of
from kopt.analysis.wide_facts import ARITHMETIC, BITS, HIGH, LOW, MOVES, Facts, WideFact, array_of, is_wide
from kopt.dialects.tile import (
    ELEMENTWISE,
    AssociativeOp,
    BroadcastOp,
    CastOp,
    ElementwiseOp,
    ExtractOp,
    FullOp,
    LoadOp,
    PutOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    StoreOp,
    TakeAlongOp,
    TileType,
    YieldOp,
)
from kopt.open_extents import MOST, is_open
from kopt.walk import walk

Interval = tuple[int, int]
#: The fewest bits that numbers of an array may be asked to have.
FEWEST = 7
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@dataclass(frozen=True)
class Narrowing:
    """``intervals`` are what the numbers of arrays must be found in; ``unproven`` ops make that hopeless."""

    intervals: dict[SSAValue, tuple[int, int]]
    unproven: tuple[Operation, ...] = ()


def narrowing(body: Operation) -> Narrowing:
    """What it takes to hold the 64-bit integers of a launch in 32 bits."""
    loads = walk(body, LoadOp)
    most = max((MOST if is_open(n) else n for op in loads for n in _shape(op.memory)), default=0)
    indexed = dict.fromkeys(array_of(op.memory) for op in loads if is_wide(op.result.type) and _indexed(op))
    written = {array_of(op.memory) for op in walk(body, StoreOp)}
    widened = dict.fromkeys(array_of(op.memory) for op in loads if _widened(op.result))
    unproven: tuple[Operation, ...] = ()
    checked = [array for array in widened if argument_of(array) is not None and array not in written]
    for found in _candidates(list(indexed), checked, most):
        unproven = tuple(_unproven(body, found))
        if not unproven:
            return Narrowing(found)
    return Narrowing({}, unproven)


def _candidates(indexed: list[SSAValue], checked: list[SSAValue], most: int) -> Iterator[dict[SSAValue, Interval]]:
    """No intervals at all, then ever narrower ones: of indices such that those up to ``most`` are in."""
    yield {}
    if indexed:
        yield from (dict.fromkeys(indexed, _around(bits)) for bits in range(31, most.bit_length() - 1, -1))
        if most <= HIGH:
            yield dict.fromkeys(indexed, (0, most))
    if checked:
        for bits in range(31, FEWEST - 1, -1):
            wide = _around(max(bits, most.bit_length()))
            yield {**dict.fromkeys(checked, _around(bits)), **dict.fromkeys(indexed, wide)}


def _around(bits: int) -> Interval:
    return -(2**bits) + 1, 2**bits - 1


@bottom_up(users_of)
def _widened(value: SSAValue) -> bool:
    """Whether 64-bit numbers come of a loaded value: it has 64 bits, or what comes of its 32 is cast to them."""
    if is_wide(value.type):
        return True
    users = [use.operation for use in value.uses]
    return any(
        isinstance(user, CastOp)
        and is_wide(user.result.type)
        or (isinstance(user, (*MOVES, ReduceOp, ScanOp)) or _computes(user))
        and _widened(user.results[0])
        for user in users
        if _is_i32(value)
    )


def _is_i32(value: SSAValue) -> bool:
    element = getattr(value.type, "element_type", None)
    return isinstance(element, IntegerType) and element.width.data == 32


def _unproven(body: Operation, found: dict[SSAValue, Interval]) -> Iterator[Operation]:
    """The ops of a body that use or make 64-bit integers in a way that 32 bits may not serve."""
    facts = facts_of(body, found)
    for op in walk(body):
        for result in op.results:
            if is_wide(result.type) and isinstance(result.type, TileType) and facts.get(result) is None:
                yield op
        if not _uses_well(op, facts):
            yield op


def _shape(memory: SSAValue) -> tuple[int, ...]:
    return memory.type.get_shape() if isinstance(memory.type, MemRefType) else ()


def _uses_well(op: Operation, facts: Facts) -> bool:
    """Whether an op may see its 64-bit operands narrowed."""
    if isinstance(op, YieldOp) and isinstance(function := op.parent_op(), AssociativeOp):
        return all(_keeps(facts.get(new), facts.get(old)) for new, old in zip(op.operands, function.left, strict=True))
    if isinstance(op, YieldOp | scf.YieldOp | PutOp):
        return True  # judged by the facts of what the loop, the branch or the buffer gives
    wide = [value for value in op.operands if is_wide(value.type) and isinstance(value.type, TileType)]
    kinds = {fact.kind for value in wide if (fact := facts.get(value)) is not None}
    if kinds <= {"exact", "offset"} or any(is_wide(result.type) for result in op.results):
        return True  # exact, or judged by its own fact
    if "wrapped" in kinds:
        return isinstance(op, CastOp) and _fits(op.result)
    if isinstance(op, LoadOp | TakeAlongOp | arith.IndexCastOp):
        return True  # a load and a lane-wise gather see indices
    if isinstance(op, ExtractOp):
        return "loaded" not in kinds  # a number is computed with
    if isinstance(op, StoreOp):
        return op.value not in wide
    if isinstance(op, CastOp):
        return _only_indexes(op.result)
    return isinstance(op, ElementwiseOp) and op.ROW.name in _COMPARISONS and _keeps_order(op, facts)


def _keeps_order(op: ElementwiseOp, facts: Facts) -> bool:
    """Whether a comparison sees what it would see in 64 bits: one operand is exact, and the other not saturated to it.

    A number beyond an end is below or above all that fits: ``beyond_end`` is folded.
    """
    left, right = (facts.get(value) for value in op.inputs)
    if left is None or right is None:
        return False
    mirrored = left.kind in ("exact", "offset")
    exact, other = (left, right) if mirrored else (right, left)
    if exact.kind not in ("exact", "offset") or other.kind not in ("loaded", "literal"):
        return False
    if any(beyond_end(value) is not None for value in op.inputs):
        return True
    # x < y, where x is saturated to the lowest number, is wrong at that number only; so is x <= y at the highest.
    lowest = op.ROW.name in (("gt", "le") if mirrored else ("lt", "ge"))
    highest = op.ROW.name in (("lt", "ge") if mirrored else ("gt", "le"))
    return (highest or exact.low > LOW) and (lowest or exact.high < HIGH)


def beyond_end(value: SSAValue) -> int | None:
    """The number of a constant that has more than 32 bits, else None."""
    while isinstance(value.owner, BroadcastOp | ReshapeOp):
        value = value.owner.input
    if not isinstance(value.owner, FullOp):
        return None
    number = int(value.owner.number)
    return None if LOW <= number <= HIGH else number


def _keeps(new: WideFact | None, old: WideFact | None) -> bool:
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
    return _comes_to_index(op.results[0])


@bottom_up(users_of)
def _comes_to_index(value: SSAValue) -> bool:
    return any(_leads_to_index(use.operation, value) for use in value.uses)


def _leads_to_index(user: Operation, value: SSAValue) -> bool:
    if isinstance(user, LoadOp | StoreOp):
        return value in user.indices
    if isinstance(user, ExtractOp):
        return isinstance(user.result.type, IndexType)
    if isinstance(user, TakeAlongOp) and value is user.indices:
        return True
    if isinstance(user, ELEMENTWISE["eq"]):  # a row of a one-hot matrix, unless it is other numbers that are compared
        return not any(_is_loaded(other) for other in user.inputs if other is not value)
    return (isinstance(user, (*MOVES, CastOp)) or _computes(user)) and _indexed(user)


def _is_loaded(value: SSAValue) -> bool:
    """Whether a value's numbers come from an array."""
    op = value.owner
    if not isinstance(op, Operation):
        return False
    passes = isinstance(op, (*MOVES, CastOp)) or _computes(op)
    return isinstance(op, LoadOp) or passes and any(map(_is_loaded, op.operands))


def _computes(op: Operation) -> bool:
    return isinstance(op, ElementwiseOp) and op.ROW.name in (*ARITHMETIC, *BITS)


@bottom_up(users_of)
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
