"""The groups of ranks that a function names, and how many ranks each must have."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from kopt.diagnostics import location_of
from kopt.dialects import symm
from kopt.errors import LoweringError
from kopt.walk import walk


def groups_of(func: FuncOp) -> tuple[str, ...]:
    """The groups that a function names, in order of appearance, those of its kernels too."""
    return tuple(dict.fromkeys(group for op in walk(func) for group in _named(op)))


def _named(op: Operation) -> list[str]:
    named = op.properties.get("group")
    spaces = [symm.group_of(value.type) for value in (*op.operands, *op.results)]
    found = [named.data if isinstance(named, StringAttr) else None, *spaces]
    return [group for group in found if group is not None]


def ranks_of(func: FuncOp) -> dict[str, int]:
    """The number of ranks of each group where shapes or barriers tell it; two that differ are refused."""
    found: dict[str, int] = {}
    for op in walk(func):
        group, ranks = op.properties.get("group"), _ranks(op)
        if ranks is None or not isinstance(group, StringAttr):
            continue
        if found.setdefault(group.data, ranks) != ranks:
            message = f'{op.name} is of {ranks} ranks of group "{group.data}", others of {found[group.data]}'
            raise LoweringError(message, location_of(op))
    return found


def _ranks(op: Operation) -> int | None:
    if isinstance(op, symm.AllGatherOp):
        return _times(op.input, op.result)
    if isinstance(op, symm.ReduceScatterOp):
        return _times(op.result, op.input)
    return op.ranks.value.data if isinstance(op, symm.BarrierOp) and op.ranks is not None else None


def _times(part: SSAValue, whole: SSAValue) -> int | None:
    assert isinstance(part.type, MemRefType) and isinstance(whole.type, MemRefType)
    some, all = part.type.get_shape()[0], whole.type.get_shape()[0]
    return all // some if some > 0 else None
