"""Blocks that a loop combines into a full one that it carries: the lanes that its last block lacks change nothing.

acc = hl.zeros([block, 64])
for tile in hl.tile(m, block_size=block):
    acc = acc + x[tile, :]
"""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from kopt.dialects.tile import TileType, neutral
from kopt.frontend.broadcasting import defined, meeting
from kopt.frontend.ragged import is_ragged
from kopt.frontend.values import DeviceTensor

#: The combination that ignores the second operand's absent lanes, by the name of the operation.
_KINDS = {"add": "add", "sub": "add", "mul": "mul", "maximum": "max", "minimum": "min"}


def without_effect(name: str, left: DeviceTensor, right: DeviceTensor) -> tuple[DeviceTensor, DeviceTensor]:
    """Two operands; of a block's beside a carried full one, lanes that it lacks have the operation's neutral value."""
    if name not in _KINDS or not left.rank or not right.rank:
        return left, right
    left_meets, right_meets = meeting(left, right)
    second = _filled(_KINDS[name], right, left, right_meets)
    return (left if name == "sub" else _filled(_KINDS[name], left, right, left_meets)), second


def _filled(kind: str, block: DeviceTensor, other: DeviceTensor, meets: dict[int, int]) -> DeviceTensor:
    """``meets`` says which dimension of the other each of the block's meets."""
    absent = [n for n, at in meets.items() if _lacks(block, n) and _is_full(other, at)]
    if not absent or not _is_carried(other.ssa):
        return block
    return defined(block, absent, neutral(kind, block.tile_type.element_type))


def _lacks(block: DeviceTensor, dim: int) -> bool:
    return bool(block.dims[dim].tag.data) and is_ragged(block.ssa, dim)


def _is_full(value: DeviceTensor, dim: int) -> bool:
    plain = not value.dims[dim].tag.data and value.dims[dim].size.data != 1
    return plain and not is_ragged(value.ssa, dim)


def _is_carried(value: SSAValue) -> bool:
    """Whether a value is made of what an open loop carries."""
    seen, stack = set[SSAValue](), [value]
    while stack:
        top = stack.pop()
        if isinstance(top.owner, Block):
            return True
        operands = [each for each in top.owner.operands if isinstance(each.type, TileType) and each not in seen]
        seen.update(operands)
        stack += operands
    return False
