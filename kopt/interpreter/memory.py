"""What ``tile.load``, ``store``, ``get`` and ``put`` do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from xdsl.ir import Attribute

from kopt.dialects.pallas import FetchOp, SendOp
from kopt.dialects.tile import Access, GetOp, LoadOp, PutOp, RefType, StoreOp, literal_value
from kopt.interpreter.access import IndexedBlock, check, locate
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.rounding import constant, numpy_type, poison
from kopt.interpreter.values import TileValue, both, mask_of


def own_mask(m: Machine, op: Access) -> np.ndarray | None:
    """The op's own mask; its undefined lanes do not access memory."""
    if op.mask is None:
        return None
    mask = m.tile(op.mask)
    inside = mask_of(mask.valid, mask.data.ndim)
    return mask.data if inside is None else mask.data & inside


def _number(attr: Attribute | None, default: float | int, element: Attribute) -> float | int:
    return default if attr is None else constant(literal_value(attr), element)


def _load(m: Machine, op: LoadOp) -> TileValue:
    array: np.ndarray = m[op.memory]
    block = locate(m, op, array)
    mask = own_mask(m, op)
    if m.reads_beyond:
        active = block.present(mask)
    else:
        active = check(m, op, block, array, mask)
    if m.monitor is not None:
        m.monitor.read(op, array, block.index, _within(active, block))
    element = op.result.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
    outside = _number(op.pad, poison(element), element)
    data = _read(array, block, outside, numpy_type(element))
    inside = mask_of(block.valid, data.ndim)
    if mask is not None:
        data = np.where(mask, data, np.asarray(_number(op.other, 0, element), data.dtype))
    if inside is not None:
        data = np.where(inside, data, np.asarray(outside, data.dtype))
    return TileValue(data, () if op.pad is not None else block.valid)


def _within(active: np.ndarray | None, block: IndexedBlock) -> np.ndarray | None:
    return None if active is None else active[block.window]


def _read(array: np.ndarray, block: IndexedBlock, outside: float | int, dtype: np.dtype) -> np.ndarray:
    """A copy of the block's lanes; ``outside`` where the array has none."""
    if not array.size:
        return np.full(block.shape, outside, dtype)
    found = array[block.index]
    if found.shape == block.shape:
        return np.array(found, dtype)
    data = np.full(block.shape, outside, dtype)
    data[block.window] = found
    return data


def _store(m: Machine, op: StoreOp) -> None:
    array: np.ndarray = m[op.memory]
    block = locate(m, op, array)
    active = _within(check(m, op, block, array, own_mask(m, op)), block)
    data = m.tile(op.value).data
    if m.monitor is not None and array.size:
        m.monitor.write(op, array, block.index, active, _differs(array, block, data))
    write(array, block, data, active, m.order)


def _differs(array: np.ndarray, block: IndexedBlock, data: np.ndarray) -> np.ndarray:
    """Which lanes of a block hold other bits than they are about to."""
    bits = np.dtype(f"u{array.itemsize}")
    new = np.asarray(data[block.window], array.dtype)
    return array[block.index].view(bits) != new.view(bits)


def write(
    array: np.ndarray,
    block: IndexedBlock,
    data: np.ndarray,
    active: np.ndarray | None,
    order: np.random.Generator | None = None,
) -> None:
    """Write the active lanes of a block (all, where None); in one place the last stays, or one that ``order`` draws."""
    if not array.size:
        return
    data = data[block.window]
    if order is not None and block.index and all(isinstance(entry, np.ndarray) for entry in block.index):
        chosen = np.ones(data.shape, bool) if active is None else np.broadcast_to(active, data.shape)
        lanes = order.permutation(int(chosen.sum()))
        array[tuple(entry[chosen][lanes] for entry in block.index)] = data[chosen][lanes]
    elif active is None:
        array[block.index] = data
    elif block.index and all(isinstance(entry, np.ndarray) for entry in block.index):
        array[tuple(entry[active] for entry in block.index)] = data[active]
    else:
        array[block.index] = np.where(active, data, array[block.index])


def get_block(m: Machine, op: GetOp | FetchOp) -> TileValue:
    """A read of a ref."""
    array: np.ndarray = m[op.memory]
    block = locate(m, op, array)
    _check_ref(m, op, block, array)
    element = op.result.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
    data = _read(array, block, poison(element), numpy_type(element))
    return TileValue(data, both(block.valid, m.tagged(op.result.type)))  # pyright: ignore[reportArgumentType]


def put_block(m: Machine, op: PutOp | SendOp) -> None:
    """A write of a ref."""
    array: np.ndarray = m[op.memory]
    block = locate(m, op, array)
    active = _within(_check_ref(m, op, block, array), block)
    data = m.tile(op.value).data
    mask = own_mask(m, op) if isinstance(op, SendOp) else None
    if mask is not None:
        mask = np.broadcast_to(mask, data.shape)[block.window]
        active = mask if active is None else active & mask
    write(array, block, data, active)


def _check_ref(m: Machine, op: Access, block: IndexedBlock, array: np.ndarray) -> np.ndarray | None:
    """The lanes that an access of a ref touches: on the chip it touches all, so that all must be there."""
    assert isinstance(op.memory.type, RefType)
    physical = m.physical and op.memory.type.space.data != "hbm"
    return check(m, op, replace(block, valid=()) if physical else block, array, None)


HANDLERS: dict[type, Handler] = {LoadOp: _load, StoreOp: _store, GetOp: get_block, PutOp: put_block}
