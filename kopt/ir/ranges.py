"""What is known of a range: who binds it, where it walks, and whether all of its lanes are always valid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from kopt.cached_property import cached_property
from kopt.dialects import triton
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import BeginOp, EndOp, ForOp, GridOp, RangeType, ShiftOp, WholeOp, range_type, tag_of
from kopt.dialects.tile.extents import divisor_of


def block_tag(tag: str) -> str:
    """The tag of the axis over the blocks of one that is split: its own is then that of a loop over their lanes."""
    return f"{tag}_block"


#: Blocks that are looked at of a range that may have any number of them.
_SOME = 16


@dataclass(frozen=True)
class Binding:
    """Who binds a range. ``lower`` and ``upper`` bound the elements it walks: numbers, or ``index`` values.

    A jagged loop's upper bound is the tile of its lengths.
    """

    owner: GridOp | ForOp | JaggedForOp | WholeOp | triton.RangeOp
    lower: SSAValue | int
    upper: SSAValue | int
    position: int = 0

    @cached_property
    def trips(self) -> int | None:
        """Number of blocks, where both bounds are numbers; none of a range that ends before it begins."""
        if isinstance(self.lower, int) and isinstance(self.upper, int):
            return max(0, -(-(self.upper - self.lower) // self.size))
        return None

    @cached_property
    def some_trips(self) -> int:
        """Number of blocks; of a range of an open extent, which may have any, so many that what repeats is seen."""
        return _SOME if self.trips is None else self.trips

    @cached_property
    def size(self) -> int:
        """Lanes of a block."""
        return range_type(self.value).size

    @cached_property
    def value(self) -> SSAValue:
        """The range itself."""
        if isinstance(self.owner, GridOp):
            return self.owner.ranges[self.position]
        return self.owner.range if isinstance(self.owner, ForOp | JaggedForOp) else self.owner.result


def unshifted(range: SSAValue) -> SSAValue:
    """The range that shifts started from: its lanes are valid exactly where the shifted ones are."""
    while not isinstance(owner := range.owner, Block) and isinstance(owner, ShiftOp):
        range = owner.range
    return range


def binding(range: SSAValue) -> Binding:
    """Who binds a range, through shifts."""
    range = unshifted(range)
    owner = range.owner
    if not isinstance(owner, Block):
        if isinstance(owner, WholeOp):
            return Binding(owner, 0, owner.extent.data)
        if isinstance(owner, triton.RangeOp):
            return Binding(owner, owner.lower.data, owner.limit)
        raise ValueError(f"{range} is bound by no loop")
    parent = owner.parent_op()
    if isinstance(parent, GridOp):
        position = owner.args.index(range)
        return Binding(parent, parent.bounds[position][0], parent.limits[position], position)
    if isinstance(parent, ForOp):
        lower, upper = parent.bounds
        return Binding(parent, lower, upper)
    if isinstance(parent, JaggedForOp):
        return Binding(parent, 0, parent.lengths)
    raise ValueError(f"{range} is bound by no loop")


def always_full(range: SSAValue) -> bool:
    """Whether every lane of every block is valid.

    So when the block divides the distance walked, as a number or as multiples (`multiple_of`); or when the loop walks
    one block of an outer range that is always full itself and that the block divides.
    """
    bound = binding(range)
    if isinstance(bound.owner, WholeOp):
        return bound.upper == bound.size
    if isinstance(bound.lower, int) and isinstance(bound.upper, int):
        return max(0, bound.upper - bound.lower) % bound.size == 0
    if gcd(multiple_of(bound.lower), multiple_of(bound.upper)) % bound.size == 0:
        return True
    if (apart := _apart(bound)) is not None:
        return apart % bound.size == 0
    outer = walked_range(bound)
    if outer is None:
        return False
    return range_type(outer).size % bound.size == 0 and always_full(outer)


def multiple_of(bound: SSAValue | int) -> int:
    """A number that a bound of a loop is a multiple of: 0 where it is 0, 1 where nothing is known.

    A block begins at a multiple of its size behind its range's first element, and ends there too or at the limit.
    """
    if isinstance(bound, int):
        return abs(bound)
    op = bound.owner
    if not isinstance(op, BeginOp | EndOp):
        return divisor_of(bound)
    if isinstance(op.range.owner, ShiftOp):
        return 1
    of = binding(op.range)
    begin = gcd(multiple_of(of.lower), of.size)
    return begin if isinstance(op, BeginOp) else gcd(begin, multiple_of(of.upper))


def visits(range: SSAValue) -> int | None:
    """The number of a loop's blocks, where it is known.

    So where the bounds are a number apart, or numbers or ends of the only block of a range; or where the loop walks a
    block, shifted or not, that is always full or the only one of its range.
    """
    bound = binding(range)
    elements = distance(bound)
    return None if elements is None else -(-elements // bound.size)


def distance(bound: Binding) -> int | None:
    """The elements that a loop walks, where their number is known."""
    lower, upper = _end_number(bound.lower), _end_number(bound.upper)
    if lower is not None and upper is not None:
        return upper - lower
    if (apart := _apart(bound)) is not None:
        return apart
    outer = walked_range(bound)
    if outer is None:
        return None
    walked = binding(outer)
    if always_full(outer):
        return walked.size
    return distance(walked) if walked.trips == 1 else None


def _apart(bound: Binding) -> int | None:
    """What is added to a loop's first element to make its limit, where that is a number."""
    upper = bound.upper.owner if isinstance(bound.upper, SSAValue) else None
    if not isinstance(upper, AddiOp) or upper.lhs is not bound.lower or not isinstance(upper.rhs.owner, ConstantOp):
        return None
    number = upper.rhs.owner.value
    return number.value.data if isinstance(number, IntegerAttr) else None


def _end_number(bound: SSAValue | int) -> int | None:
    """A loop's bound that is a number, or an end of a range's only block."""
    if isinstance(bound, int):
        return bound
    op = bound.owner
    if not isinstance(op, BeginOp | EndOp) or isinstance(op.range.owner, ShiftOp):
        return None
    of = binding(op.range)
    end = of.lower if isinstance(op, BeginOp) else of.upper
    return end if of.trips == 1 and isinstance(end, int) else None


def walked_range(bound: Binding) -> SSAValue | None:
    """The outer range whose one block a loop walks, ``(%i.begin, %i.end)``, or None."""
    lower, upper = bound.lower, bound.upper
    if isinstance(lower, int) or isinstance(upper, int):
        return None
    if not isinstance(lower.owner, BeginOp) or not isinstance(upper.owner, EndOp):
        return None
    return unshifted(lower.owner.range) if lower.owner.range is upper.owner.range else None


def walked_in_place(bound: Binding) -> SSAValue | None:
    """As `walked_range`, where the block is not shifted: the loop walks elements that the outer range walks."""
    outer = walked_range(bound)
    lower = bound.lower.owner if isinstance(bound.lower, SSAValue) else None
    return outer if isinstance(lower, BeginOp) and lower.range is outer else None


def ranges_in_scope(op: Operation) -> dict[str, SSAValue]:
    """The range of each tag that is in scope at ``op``: bound by a loop around it, or made before it."""
    scope: dict[str, SSAValue] = {}
    for value in _bound_around(op):
        scope.setdefault(tag_of(value), value)
    return scope


def _bound_around(op: Operation) -> Iterator[SSAValue]:
    inner: Operation | None = op
    while inner is not None and (block := inner.parent) is not None:
        yield from (arg for arg in block.args if isinstance(arg.type, RangeType))
        for sibling in block.ops:
            if sibling is inner:
                break
            if isinstance(sibling, WholeOp | triton.RangeOp):
                yield sibling.result
        inner = block.parent_op()
