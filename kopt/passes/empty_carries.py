"""Values without lanes that loops carry and branches give: the loops and branches without them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.tile import ForOp, FullOp, TileType, WhileOp, YieldOp, tile_type
from kopt.walk import walk


def is_empty(value: SSAValue) -> bool:
    """Whether a value is a tile without lanes."""
    return isinstance(value.type, TileType) and 0 in value.type.shape


def drop_empty_carries(root: Operation) -> None:
    """Takes values without lanes from what loops carry and branches give; a constant takes the place of each.

    %r = tile.for %k iter(%a = %z) -> (!tile.tile<0 x f32>) { …; tile.yield %n }
    becomes
    tile.for %k { %a = tile.full 0.0; … }   %r = tile.full 0.0
    """
    for op in walk(root):
        if isinstance(op, ForOp | WhileOp | scf.IfOp) and any(map(is_empty, op.results)):
            _without_empty(op)


def _without_empty(op: ForOp | WhileOp | scf.IfOp) -> None:
    kept = [number for number, result in enumerate(op.results) if not is_empty(result)]
    for result in op.results:
        if is_empty(result):
            _stand_in(result, InsertPoint.before(op))
    new = _branch(op, kept) if isinstance(op, scf.IfOp) else _loop(op, kept)
    new.location = op.location
    for number, result in zip(kept, new.results, strict=True):
        result.name_hint = op.results[number].name_hint
        op.results[number].replace_all_uses_with(result)
    Rewriter.insert_op(new, InsertPoint.before(op))
    Rewriter.erase_op(op)


def _branch(op: scf.IfOp, kept: Sequence[int]) -> scf.IfOp:
    for region in op.regions:
        _yield_only(region.block, kept, scf.YieldOp)
    types = [op.results[number].type for number in kept]
    then, otherwise = [op.detach_region(region) for region in tuple(op.regions)]
    return scf.IfOp(op.cond, types, then, otherwise, attr_dict=op.attributes)


def _loop(op: ForOp | WhileOp, kept: Sequence[int]) -> ForOp | WhileOp:
    block = op.body.block
    for argument in [argument for argument in block.args if is_empty(argument)]:
        _stand_in(argument, InsertPoint.at_start(block))
        block.erase_arg(argument)
    inits = [op.inits[number] for number in kept]
    if isinstance(op, WhileOp):
        _yield_only(block, [0, *(number + 1 for number in kept)], YieldOp)
        return WhileOp(op.condition, inits, op.detach_region(op.body), op.attributes)
    _yield_only(block, kept, YieldOp)
    return ForOp(*op.bounds, inits, op.detach_region(op.body), op.schedule, op.attributes)


def _yield_only(block: Block, kept: Sequence[int], terminator: type[YieldOp] | type[scf.YieldOp]) -> None:
    last = block.last_op
    assert last is not None
    new = terminator(*(last.operands[number] for number in kept))
    new.location = last.location
    Rewriter.replace_op(last, new, [])


def _stand_in(value: SSAValue, place: InsertPoint) -> None:
    full = FullOp(0, tile_type(value))
    Rewriter.insert_op(full, place)
    value.replace_all_uses_with(full.result)
