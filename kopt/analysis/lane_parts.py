"""Parts of lanes that are computed apart and then concatenated: what computes them as one tile. Pure.

    first = x[:, 0:64]     second = x[:, 64:128]
    concat(first * c0 - second * s0, second * c1 + first * s1)
is ``x * c + concat(second, first) * concat(-s0, s1)``, where ``c0`` and ``c1`` are the halves of ``c``: a tree of
`AllLanes`, `Joined` and `Merged`. A part that is no whole vector register takes as much as one, so the tree pays if few
of its leaves are concatenations (`merged`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod

from xdsl.dialects.builtin import AnyFloat, i1
from xdsl.ir import Operation, SSAValue

from kopt.analysis.bottom_up import bottom_up
from kopt.dialects.tile import (
    ELEMENTWISE,
    LANEWISE,
    TABLE,
    BroadcastOp,
    CastOp,
    ConcatOp,
    FullOp,
    SliceOp,
    element_of,
    tile_type,
)
from kopt.targets.costs import VECTOR_CYCLES
from kopt.targets.tiling import LANES

_ADD, _SUB, _NEG, _MUL = (ELEMENTWISE[name] for name in ("add", "sub", "neg", "mul"))
_COMMUTATIVE = tuple(ELEMENTWISE[row.name] for row in TABLE if row.commutative)
#: Ops of a tree, one below the other: more are concatenated where they stand.
_DEPTH = 16
Signs = tuple[bool, ...]


@dataclass(frozen=True)
class AllLanes:
    """A value whose lanes, in their order, are the parts; or one number of them all."""

    value: SSAValue


@dataclass(frozen=True)
class Joined:
    """Parts that are concatenated, some of them ``negative``."""

    parts: tuple[SSAValue, ...]
    negative: Signs


@dataclass(frozen=True)
class Merged:
    """One op in the place of one for each part; ``kind`` is its class, ``like`` the op of the first part."""

    kind: type[Operation]
    like: Operation
    operands: tuple[Tree, ...]


Tree = AllLanes | Joined | Merged


def merged(op: ConcatOp) -> Merged | None:
    """What computes a concatenation along lanes as one tile; None where that takes as much as the parts."""
    parts, type = tuple(op.inputs), tile_type(op.result)
    widths = {tile_type(part).shape[-1] for part in parts}
    if op.dim.data != type.rank - 1 or len(parts) < 2 or len(widths) > 1 or type.shape[-1] > LANES:
        return None
    tree = _Trees(len(parts)).of(parts, (False,) * len(parts), 0)
    return tree if isinstance(tree, Merged) and _cost(tree) < _cost_apart(op, tree) else None


class _Trees:
    """Trees of so many parts."""

    def __init__(self, count: int):
        self.count = count

    def of(self, parts: tuple[SSAValue, ...], negative: Signs, depth: int) -> Tree:
        parts, negative = _without_negations(parts, negative)
        ops = [op for part in parts if isinstance(op := part.owner, Operation)]
        if not any(negative) and (whole := _whole(parts)) is not None:
            return AllLanes(whole)
        if depth < _DEPTH and len(ops) == self.count:
            first = ops[0]
            if all(isinstance(op, BroadcastOp) for op in ops):
                return self._broadcast(parts, negative, depth)
            same = all(type(op) is type(first) and op.properties == first.properties for op in ops)
            if same and isinstance(first, FullOp) and not any(negative):
                return Merged(FullOp, first, ())
            if all(isinstance(op, LANEWISE) for op in ops) and self._is_lanewise(ops, negative):
                return self._lanewise(ops, negative, depth)
        return Joined(parts, negative)

    def _is_lanewise(self, ops: Sequence[Operation], negative: Signs) -> bool:
        """Whether ops are of one class, or sums and differences; and can hand on the signs of their results."""
        kinds = {type(op) for op in ops}
        is_sum = kinds <= {_ADD, _SUB}
        alike = len({tile_type(operand).element_type for op in ops for operand in op.operands[-1:]}) == 1
        same = len(kinds) == 1 and len({str(op.properties) for op in ops}) == 1
        takes_signs = (is_sum or kinds in ({_MUL}, {CastOp})) and _is_of_floats(ops[0])
        return alike and (same or is_sum and takes_signs) and (takes_signs or not any(negative))

    def _lanewise(self, ops: Sequence[Operation], negative: Signs, depth: int) -> Tree:
        kind = type(ops[0])
        rows = _aligned(ops)
        signs = [negative] * len(rows)
        if {type(op) for op in ops} <= {_ADD, _SUB} and (any(negative) or len({type(op) for op in ops}) > 1):
            kind = _ADD
            signs[1] = tuple(sign != isinstance(op, _SUB) for sign, op in zip(negative, ops, strict=True))
        elif kind is _MUL and any(negative):  # the smaller factor is negated
            smaller = min(range(2), key=lambda n: _source_lanes(rows[n][0]))
            signs = [negative if n == smaller else (False,) * self.count for n in range(2)]
        operands = (self.of(tuple(row), sign, depth + 1) for row, sign in zip(rows, signs, strict=True))
        return Merged(kind, ops[0], tuple(operands))

    def _broadcast(self, parts: tuple[SSAValue, ...], negative: Signs, depth: int) -> Tree:
        """Parts of rows are repeated as the rows are; a value that all parts repeat along lanes, in more lanes."""
        ops = [op for part in parts if isinstance(op := part.owner, BroadcastOp)]
        first, inputs = ops[0], tuple(op.input for op in ops)
        if any(op.properties != first.properties for op in ops):
            return Joined(parts, negative)
        last = first.result_type.rank - 1
        if last in first.mapping and first.input_type.shape[-1] == first.result_type.shape[-1]:
            return Merged(BroadcastOp, first, (self.of(inputs, negative, depth + 1),))
        if len(set(inputs)) == 1 and not any(negative):
            return Merged(BroadcastOp, first, (AllLanes(inputs[0]),))
        return Joined(parts, negative)


def _without_negations(parts: tuple[SSAValue, ...], negative: Signs) -> tuple[tuple[SSAValue, ...], Signs]:
    pairs = [
        (part.owner.operands[0], not sign) if isinstance(part.owner, _NEG) else (part, sign)
        for part, sign in zip(parts, negative, strict=True)
    ]
    return tuple(part for part, _ in pairs), tuple(sign for _, sign in pairs)


def _whole(parts: Sequence[SSAValue]) -> SSAValue | None:
    """The value of which parts are all lanes, in their order."""
    ops = [part.owner for part in parts]
    inputs = {op.input for op in ops if isinstance(op, SliceOp)}
    if len(inputs) != 1 or not all(isinstance(op, SliceOp) for op in ops):
        return None
    (value,) = inputs
    *outer, lanes = tile_type(value).shape
    width = lanes // len(parts)
    for number, op in enumerate(ops):
        assert isinstance(op, SliceOp)
        if op.bounds != (*((0, size, 1) for size in outer), (number * width, width, 1)):
            return None
    return value if width * len(parts) == lanes else None


def _is_of_floats(op: Operation) -> bool:
    return all(isinstance(element_of(value), AnyFloat) for value in (op.operands[0], op.results[0]))


def _aligned(ops: Sequence[Operation]) -> list[list[SSAValue]]:
    """The operands of ops, first ones with first ones; two are exchanged where the others have more in common."""
    orders = [list(op.operands) for op in ops]
    fixed = next((n for n, op in enumerate(ops) if not isinstance(op, _COMMUTATIVE)), 0)
    wanted = [_sources(value) for value in orders[fixed]]
    for op, order in zip(ops, orders, strict=True):
        found = [_sources(value) for value in order]
        if isinstance(op, _COMMUTATIVE) and _common(wanted, found[::-1]) > _common(wanted, found):
            order.reverse()
    return [list(row) for row in zip(*orders, strict=True)]


def _common(some: Sequence[frozenset[SSAValue]], others: Sequence[frozenset[SSAValue]]) -> int:
    return sum(len(a & b) for a, b in zip(some, others, strict=True))


@bottom_up()
def _sources(value: SSAValue) -> frozenset[SSAValue]:
    """The values of whose lanes one is computed."""
    op = value.owner
    if isinstance(op, (*LANEWISE, BroadcastOp, SliceOp)):
        return frozenset().union(*map(_sources, op.operands))
    return frozenset([value])


def _source_lanes(value: SSAValue) -> int:
    """How many lanes are computed before a value is repeated."""
    op = value.owner
    return prod(tile_type(op.input if isinstance(op, BroadcastOp) else value).shape)


def _cost(tree: Tree) -> float:
    """The cycles of all rows of a tree, whose lanes are no more than a register's."""
    if isinstance(tree, AllLanes):
        return 0.0
    if isinstance(tree, Joined):  # Mosaic joins no predicates
        return inf if element_of(tree.parts[0]) == i1 else VECTOR_CYCLES["relayout"] * _rows(tree.parts[0])
    cheap = tree.kind in (BroadcastOp, FullOp)
    own = VECTOR_CYCLES["layout" if cheap else "elementwise"] * _rows(tree.like.results[0])
    return own + sum(map(_cost, tree.operands))


def _cost_apart(op: ConcatOp, tree: Tree) -> float:
    """The cycles of what the tree replaces: the concatenation, and an op for each part."""
    return VECTOR_CYCLES["relayout"] * _rows(op.result) + len(op.inputs) * _cost_of_ops(tree)


def _cost_of_ops(tree: Tree) -> float:
    if not isinstance(tree, Merged):
        return 0.0
    return _cost(Merged(tree.kind, tree.like, ())) + sum(map(_cost_of_ops, tree.operands))


def _rows(value: SSAValue) -> int:
    return prod(tile_type(value).shape[:-1])
