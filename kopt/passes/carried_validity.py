"""Loops that carry, and branches that give, the validity of values beside them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.hiding import Carrier, paths
from kopt.analysis.validity import LaneValidity
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import ForOp, FullOp, TileType, WhileOp, tile_type
from kopt.walk import walk


def carry_validity(top: Operation, hiding: set[SSAValue], validity: LaneValidity) -> None:
    """Gives each carried value that may hide invalid lanes a companion of predicates, and says so to ``validity``.

    %r = tile.for %k: b1=16 in (0, 100) iter(%a = %z) -> (!tile.tile<24 x f32>) { … tile.yield %n }
    becomes, where lanes of %z or %n may be invalid,
    %r, %v = tile.for %k: b1=16 in (0, 100) iter(%a = %z, %b = %zv) -> (…, !tile.tile<24 x i1>) { … tile.yield %n, %nv }
    """
    carriers = [op for op in walk(top) if isinstance(op, Carrier)]
    widened = [_widened(op, [n for n, result in enumerate(op.results) if result in hiding]) for op in carriers]
    known = [(op, numbers) for op, numbers in widened if numbers]
    for op, numbers in known:
        _tell(op, numbers, validity)
    for op, numbers in known:
        _connect(op, numbers, validity)


def _widened(op: Carrier, numbers: list[int]) -> tuple[Carrier, list[int]]:
    """The op with companions that are true so far."""
    if not numbers:
        return op, numbers
    types = [TileType(tile_type(op.results[n]).shape, i1) for n in numbers]
    for region in op.regions:
        last = region.block.last_op
        assert last is not None
        last.operands = [*last.operands, *(_true(type, last) for type in types)]
    regions = [op.detach_region(region) for region in list(op.regions)]
    if not isinstance(op, scf.IfOp):
        for type in types:
            regions[0].block.insert_arg(type, len(regions[0].block.args))
    new = _remade(op, regions, types)
    new.location = op.location
    for before, after in zip(op.results, new.results, strict=False):
        after.name_hint = before.name_hint
    Rewriter.replace_op(op, new, list(new.results[: len(op.results)]))
    return new, numbers


def _remade(op: Carrier, regions: Sequence[Region], types: Sequence[TileType]) -> Carrier:
    if isinstance(op, scf.IfOp):
        return scf.IfOp(op.cond, [*op.result_types, *types], *regions, attr_dict=op.attributes)
    inits = [*op.inits, *(_true(type, op) for type in types)]
    if isinstance(op, ForOp):
        return ForOp(*op.bounds, inits, regions[0], op.schedule, op.attributes)
    made = JaggedForOp if isinstance(op, JaggedForOp) else WhileOp
    return made(op.operands[0], inits, regions[0], op.attributes)


def _true(type: TileType, before: Operation) -> SSAValue:
    full = FullOp(1, type)
    full.location = before.location
    Rewriter.insert_op(full, InsertPoint.before(before))
    return full.result


def _tell(op: Carrier, numbers: Sequence[int], validity: LaneValidity) -> None:
    """Says where the validity of results and arguments is."""
    values: list[Sequence[SSAValue]] = [op.results]
    if not isinstance(op, scf.IfOp):
        values.append(op.body.block.args[-len(op.results) :])
    for several in values:
        for n, companion in zip(numbers, several[-len(numbers) :], strict=True):
            validity.carry(several[n], companion)


def _connect(op: Carrier, numbers: Sequence[int], validity: LaneValidity) -> None:
    """Puts what is known of each path in the place of the companions that are true."""
    first = len(op.results) - len(numbers)
    ends = [(region.block.last_op, region.block.last_op.operands) for region in op.regions]  # pyright: ignore
    if not isinstance(op, scf.IfOp):
        ends.append((op, op.operands))
    for position, n in enumerate(numbers):
        for value, (user, operands) in zip(_ordered(op, n), ends, strict=True):
            mask = validity.plain(value)
            if mask is not None:
                assert user is not None
                user.operands[len(operands) - len(op.results) + first + position] = mask


def _ordered(op: Carrier, number: int) -> list[SSAValue]:
    """The paths of a result: the regions', then the initial value."""
    found = list(paths(op, number))
    return found if isinstance(op, scf.IfOp) else [*found[1:], found[0]]
