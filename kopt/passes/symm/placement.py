"""Where the input of a collective lies, and how it gets there."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.access_summary import may_alias
from kopt.analysis.aliases import root, view_chain
from kopt.analysis.host_order import host_ops
from kopt.analysis.symm_hazards import name_of
from kopt.analysis.symmetric import (
    Reader,
    can_choose,
    in_space,
    is_contiguous,
    is_static,
    overwrites_input,
    uses,
    writes,
)
from kopt.diagnostics import location_of, remark
from kopt.dialects.host import CopyOp
from kopt.dialects.symm import group_of
from kopt.errors import LoweringError
from kopt.passes.symm.retyping import own_allocation, persistent


class Placer:
    """Places the inputs of one function's collectives, in order; remembers the copies that it has made."""

    def __init__(self, func: FuncOp):
        self._func = func
        self._copies: dict[tuple[SSAValue, str], CopyOp] = {}

    def place(self, op: Operation) -> None:
        """Sees to it that a collective's input is in its group's symmetric memory."""
        assert isinstance(op, Reader)
        group = op.group.data
        _check_static(op)
        why = self._why_copied(op)
        if why is None:
            if group_of(op.input.type) != group:
                self._allocate_there(op)
            return
        copy = self._copies.get((op.input, group))
        if copy is None or self._is_stale(copy, op):
            copy = self._copies[op.input, group] = self._copy(op, why)
        op.operands[0] = copy.target

    def _why_copied(self, op: Operation) -> str | None:
        """Why the input cannot be in its group's space where it is, or None."""
        assert isinstance(op, Reader)
        memory = root(op.input)
        if not is_contiguous(op.input.type):
            return "its elements do not lie one after the other"
        if overwrites_input(op) and any(_runs_after(use, op) for use in uses(memory)):
            return "it is read after a two-shot reduction overwrites it"
        if overwrites_input(op) and isinstance(memory, BlockArgument):
            return "the caller keeps what a two-shot reduction would overwrite"
        if group_of(op.input.type) == op.group.data:
            return None
        if (other := group_of(op.input.type)) is not None:
            return f'it is in the symmetric memory of group "{other}"'
        if isinstance(memory, BlockArgument):
            return "the caller allocated it"
        return None if can_choose(memory) else "what makes it allocates it"

    def _allocate_there(self, op: Operation) -> None:
        assert isinstance(op, Reader)
        memory = root(op.input)
        remark(memory.owner if isinstance(memory.owner, Operation) else op,
               f'{name_of(memory)} is allocated in the symmetric memory of group "{op.group.data}"')  # fmt: skip
        own_allocation(memory, self._func, op.group.data)

    def _copy(self, op: Operation, why: str) -> CopyOp:
        assert isinstance(op, Reader)
        remark(op, f'{name_of(op.input)} is copied to the symmetric memory of group "{op.group.data}": {why}')
        type = op.input.type
        assert isinstance(type, MemRefType)
        plain = in_space(MemRefType(type.element_type, type.shape), op.group.data)
        name = f"{root(op.input).name_hint or 'array'}_{op.group.data}"
        copy = CopyOp(op.input, persistent(self._func, plain, name, op))
        copy.location = op.location
        Rewriter.insert_op(copy, InsertPoint.before(op))
        return copy

    def _is_stale(self, copy: CopyOp, op: Operation) -> bool:
        """Whether the original or its copy is written between the copy and a later collective."""
        arrays = (copy.source, copy.target)
        return any(may_alias(value, array) for other in self._between(copy, op)
                   for value in writes(other) for array in arrays)  # fmt: skip

    def _between(self, first: Operation, last: Operation) -> Iterator[Operation]:
        started = False
        for op in host_ops(self._func.body.block):
            if op is last:
                return
            if started:
                yield op
            started |= op is first


def _check_static(op: Operation) -> None:
    assert isinstance(op, Reader)
    for value in (op.input, *(view.source for view in view_chain(op.input))):
        if not is_static(value.type):
            message = f"symmetric memory needs a static shape, found {value.type}: all ranks address it alike"
            note = "give the sizes as numbers, one program for each, or leave out 'by' to have a library move the data"
            raise LoweringError(message, location_of(op), notes=[note], id="collective")


def _runs_after(use: Operation, op: Operation) -> bool:
    """Whether a use stands after an op of the same block, at any depth."""
    ancestor: Operation | None = use
    while ancestor is not None and ancestor.parent is not op.parent:
        ancestor = ancestor.parent_op()
    return ancestor is not None and ancestor is not op and op.is_before_in_block(ancestor)
