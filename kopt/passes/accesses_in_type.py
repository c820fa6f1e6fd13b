"""The accesses of an array whose element type changes: the same lanes of the new one, with casts around them."""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects import tile
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile.values import literal, literal_value

#: What loads, stores and updates memory.
AccessOp = tile.LoadOp | tile.StoreOp | RmwOp | CasOp


def retype_access(op: AccessOp, array: SSAValue, element: Attribute) -> None:
    """Puts the same access of an array of elements of another type in an access's place."""
    new = _ACCESS[type(op)](op, array, element)
    new.location = op.location
    if not op.results:
        Rewriter.replace_op(op, new)
        return
    old = op.results[0]
    back = tile.CastOp(new.results[0], tile.tile_type(old).element_type)
    back.location = op.location
    back.result.name_hint = old.name_hint
    Rewriter.replace_op(op, [new, back], [back.result])


def _unrounded(op: Operation, value: SSAValue, element: Attribute) -> SSAValue:
    """A term of a sum in the new type: a float that was only rounded for the update as it was before."""
    made = value.owner
    if element == f32 and isinstance(made, tile.CastOp) and _tile_element(made.input) == f32:
        return made.input
    return _cast(op, value, element)


def _cast(op: Operation, value: SSAValue, element: Attribute) -> SSAValue:
    cast = tile.CastOp(value, element)
    cast.location = op.location
    cast.result.name_hint = value.name_hint
    Rewriter.insert_op(cast, InsertPoint.before(op))
    return cast.result


def _tile_element(value: SSAValue) -> Attribute:
    return tile.tile_type(value).element_type


def _load(op: tile.LoadOp, array: SSAValue, element: Attribute) -> Operation:
    fills = (op.other, op.pad)
    other, pad = (literal(literal_value(attr), element) if attr is not None else None for attr in fills)
    return tile.LoadOp(array, op.entries, op.mask, other, pad, op.attributes)


def _store(op: tile.StoreOp, array: SSAValue, element: Attribute) -> Operation:
    return tile.StoreOp(_cast(op, op.value, element), array, op.entries, op.mask, op.attributes)


def _rmw(op: RmwOp, array: SSAValue, element: Attribute) -> Operation:
    add, returns = op.kind.data == "add", bool(op.previous)
    value = (_unrounded if add else _cast)(op, op.value, element)
    return RmwOp(op.kind.data, value, array, op.entries, op.mask, op.ordering.data, returns, op.attributes)


def _cas(op: CasOp, array: SSAValue, element: Attribute) -> Operation:
    expected, desired = _cast(op, op.expected, element), _cast(op, op.desired, element)
    return CasOp(expected, desired, array, op.entries, op.mask, op.ordering.data, op.attributes)


_ACCESS = {tile.LoadOp: _load, tile.StoreOp: _store, RmwOp: _rmw, CasOp: _cas}
