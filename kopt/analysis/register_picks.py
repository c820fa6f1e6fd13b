"""Picks of one lane of each row, for which the vector register that has the lane is loaded by its number. Pure."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType

from kopt.analysis.lane_scalars import is_in_scalar_memory, reads_of
from kopt.analysis.layouts import scalar_words
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import (
    ALL,
    CastOp,
    GetOp,
    LoadOp,
    RefType,
    TakeAlongOp,
    element_of,
    tile_type,
)
from kopt.open_extents import open_extents
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES

#: Lanes of a row from which on its register is loaded. By libtpu's bundles of cross entropy a row takes some 5 then,
#: and a select for each of its registers takes a quarter of a bundle for 8 rows: 11 where a row has 32,768 lanes.
_WIDE = 16384
#: Lanes that the scalar unit goes through beside straight code of the vector unit: more of them are a loop.
_FEW = 32


def picks_registers(pick: TakeAlongOp, call: CallOp) -> bool:
    """Whether one lane of each row of a wide block in VMEM is picked, by numbers that the scalar unit can compute."""
    get, type = read_of(pick), tile_type(pick.input)
    if type.rank != 2 or tile_type(pick.result).shape[1] != 1:
        return False
    if get is None or not _is_window(get, call) or any(entry != ALL for entry in get.entries):
        return False
    if _bits(get) != 32 and not (_bits(get) == 16 and isinstance(element_of(get.result), AnyFloat)):
        return False
    if open_extents(type.shape):
        return False
    rows, lanes = type.shape
    if rows > _FEW or lanes < _WIDE or lanes % LANES or _type(get).shape != (rows, lanes):
        return False
    return reads_of(pick.indices, lambda read: is_in_scalar_memory(read) or _may_be_scalars(read, call)) is not None


def read_of(pick: TakeAlongOp) -> GetOp | None:
    """The read of the block that lanes are picked from, be it cast or not."""
    op = pick.input.owner
    op = op.input.owner if isinstance(op, CastOp) else op
    return op if isinstance(op, GetOp) else None


def _type(get: GetOp) -> RefType:
    """The type of the memory that is read."""
    assert isinstance(get.memory.type, RefType)
    return get.memory.type


def _is_window(get: GetOp, call: CallOp) -> bool:
    """Whether what is read is in VMEM all the time while a cell runs, and never written."""
    in_vmem = get.memory in call.input_refs and _type(get).space.data == "vmem"
    return in_vmem and all(isinstance(use.operation, GetOp) for use in get.memory.uses)


def _bits(get: GetOp) -> int:
    element = element_of(get.result)
    assert isinstance(element, FixedBitwidthType)
    return element.bitwidth


def _may_be_scalars(read: LoadOp | GetOp, call: CallOp) -> bool:
    """Whether a window of the same block may stand in scalar memory."""
    if not isinstance(read, GetOp) or not _is_window(read, call) or _bits(read) != 32:
        return False
    return Budget.is_scalar_memory(2 * scalar_words(_type(read).shape))
