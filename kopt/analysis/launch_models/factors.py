"""Where the operands of products come from: shared memory has those of a loop in flight, by what reads them.

    %k = tile.load %keys[%j]     %s = tile.dot %q, tile.transpose %k     %p = tile.exp %s     %d = tile.dot %p, %v, %a
becomes
    (lhs, q) stays        (rhs, k) load keys        (lhs, p)        (rhs, v) load values
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.effects import is_side_effect_free
from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.launch_models.program_points import ProgramPoint
from kopt.analysis.tensor_descriptors import block_shape, why_no_descriptor
from kopt.dialects.tile import DotOp, LoadOp, ReshapeOp, TransposeOp, tile_type
from kopt.ir.launch_model import Factor

#: What puts lanes elsewhere: matrix units read them through it.
_VIEWS = (TransposeOp, ReshapeOp)


def factors(launch: Launch) -> tuple[Factor, ...]:
    """The operands of all products, in the order of the program."""
    dots = [place for place in launch.places if isinstance(place.op, DotOp)]
    return tuple(one for place in dots for one in (_factor(launch, place, "lhs"), _factor(launch, place, "rhs")))


def _factor(launch: Launch, place: ProgramPoint, side: Literal["lhs", "rhs"]) -> Factor:
    op = place.op
    assert isinstance(op, DotOp) and isinstance(op.parent, Block)
    value, block = op.lhs if side == "lhs" else op.rhs, op.parent
    element = tile_type(value).element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 32
    shape = tuple(lanes for _, lanes in launch.dims(value))
    factor = Factor(place.path, side, shape, bits, adds=any(isinstance(one.owner, DotOp) for one in op.acc))
    source = _viewed(value, block)
    if isinstance(source.owner, LoadOp) and source.owner.parent is block:
        waits = not is_multiplied(source) or side == "lhs" and _is_apart(source.owner)
        turned = side == "lhs" and _is_turned(value, source)
        return replace(factor, load=launch.ids[source.owner], waits=waits, turned=turned)
    return replace(
        factor, of=tuple(launch.ids[load] for load in _made_of(source, block)), stays=_is_from_outside(source, block)
    )


def _is_from_outside(value: SSAValue, block: Block) -> bool:
    """Whether a value is the same in all visits to a body: it, or all that it is computed from, is from outside."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return owner is not block
    if owner.parent is not block:
        return True
    if isinstance(owner, DotOp | LoadOp) or not is_side_effect_free(owner):
        return False
    return all(_is_from_outside(operand, block) for operand in owner.operands)


def _viewed(value: SSAValue, block: Block) -> SSAValue:
    """The value whose lanes an operand has in another order."""
    while isinstance(value.owner, _VIEWS) and value.owner.parent is block:
        value = value.owner.operands[0]
    return value


def _is_turned(value: SSAValue, source: SSAValue) -> bool:
    """Whether rows of an operand are columns of the value that it is a view of."""
    turned = False
    while value is not source:
        owner = value.owner
        assert isinstance(owner, _VIEWS)
        if isinstance(owner, TransposeOp):
            turned ^= owner.order[-1] != len(owner.order) - 1
        value = owner.operands[0]
    return turned


def is_multiplied(value: SSAValue) -> bool:
    """Whether nothing but products takes a value as it is."""
    users = [use.operation for use in value.uses]
    return all(isinstance(op, DotOp) or isinstance(op, _VIEWS) and is_multiplied(op.result) for op in users)


def _is_apart(load: LoadOp) -> bool:
    """Whether a descriptor's block has dimensions of one lane between others: it is no matrix in shared memory."""
    if why_no_descriptor(load) is not None:
        return False
    block = block_shape(load) or ()
    first = next((n for n, lanes in enumerate(block) if lanes != 1), 0)
    return 1 in block[first:]


def _made_of(value: SSAValue, block: Block) -> list[LoadOp]:
    """The loads of a block that an operand is made of there, but for those that another product takes."""
    found: dict[LoadOp, None] = {}
    seen, left = set[SSAValue](), [value]
    while left:
        op = left.pop().owner
        if not isinstance(op, Operation) or isinstance(op, DotOp) or op.parent is not block or op.results[0] in seen:
            continue
        seen.update(op.results)
        if isinstance(op, LoadOp):
            found[op] = None
        left += op.operands
    return list(found)
