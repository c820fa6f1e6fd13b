"""The values of which every bit may matter: those that do not reach memory by a cast to 16 bits or fewer alone. Pure.

A result that is rounded to 16 bits takes an error of some ulp of f32 without a trace. What is stored, compared, rounded
to whole numbers or taken as a number of lanes in f32 or f64 does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.ties import LOOPS, carrying
from kopt.dialects import tile, triton
from kopt.walk import walk

#: Ops whose results jump where operands change by an ulp.
_JUMPS = ("sign", "floordiv", "truncdiv", "mod", "rem", "copysign", "floor", "ceil", "round", "trunc")
_SMOOTH = tuple(kind for name, kind in tile.ELEMENTWISE.items() if name not in _JUMPS and kind.ROW.rule.gives is None)
#: Ops whose results are off by little where their operands are.
_PASSING = (
    *_SMOOTH,
    tile.BroadcastOp,
    tile.CastOp,
    tile.ConcatOp,
    tile.DotOp,
    tile.MaskOp,
    tile.ReduceOp,
    tile.ReshapeOp,
    tile.ScanOp,
    tile.SelectOp,
    tile.SliceOp,
    tile.TakeAlongOp,
    tile.TransposeOp,
    triton.RetagOp,
)
#: Ops that hand values on to the results of others, or to arguments of their blocks.
_HANDING = (*LOOPS, scf.IfOp, tile.YieldOp, scf.YieldOp)


def exact_values(top: Operation) -> set[SSAValue]:
    """The values inside of an operation that are not seen through roundings to 16 bits alone."""
    found: set[SSAValue] = set()
    left = [value for op in walk(top) if not _passes(op) for value in op.operands]
    while left:
        value = left.pop()
        if value not in found:
            found.add(value)
            left.extend(_made_of(value))
    return found


def _passes(op: Operation) -> bool:
    """Whether an op's results are off by little where its operands are; what conditions are made of is compared."""
    return isinstance(op, _HANDING) or isinstance(op, _PASSING) and _is_float(op.results[0])


def _is_float(value: SSAValue) -> bool:
    return isinstance(value.type, tile.TileType) and tile.is_float(value.type.element_type)


def _made_of(value: SSAValue) -> Sequence[SSAValue]:
    """The values whose errors become those of a value."""
    owner = value.owner
    if isinstance(owner, Block):
        return [other for loop in carrying(value) for other in _carried(loop, list(loop.carried).index(value))]
    if isinstance(owner, LOOPS):
        return _carried(owner, tuple[SSAValue, ...](owner.results).index(value))
    if isinstance(owner, scf.IfOp):
        number = tuple[SSAValue, ...](owner.results).index(value)
        return [last.operands[number] for region in owner.regions if (last := region.block.last_op) is not None]
    if isinstance(owner, tile.CastOp) and tile.element_of(value) not in (f32, f64):
        return []
    return owner.operands if isinstance(owner, _PASSING) else []


def _carried(loop: tile.ForOp | tile.WhileOp, number: int) -> Sequence[SSAValue]:
    return loop.inits[number], loop.carried[number], loop.yielded[number], loop.results[number]
