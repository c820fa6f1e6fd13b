"""What a function returns is in memory that later calls do not write."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.aliases import view_chain
from kopt.analysis.symm_hazards import name_of, written_by_later_calls
from kopt.analysis.symmetric import in_space
from kopt.diagnostics import remark
from kopt.dialects.host import AllocOp, CopyOp


def copy_returned(func: FuncOp) -> None:
    """Copies each returned array that later calls write, once for all of its views, to one of this call's own."""
    end = func.body.block.last_op
    assert isinstance(end, ReturnOp)
    copies: dict[SSAValue, SSAValue] = {}
    for number, value in enumerate(end.operands):
        if written_by_later_calls(value) is not None:
            end.operands[number] = _copy_of(value, end, copies)
    outputs = [value.type for value in end.operands]
    func.function_type = FunctionType.from_lists(func.function_type.inputs.data, outputs)


def _copy_of(value: SSAValue, end: ReturnOp, copies: dict[SSAValue, SSAValue]) -> SSAValue:
    """The same view of a copy."""
    chain = view_chain(value)
    memory = chain[0].source if chain else value
    if memory not in copies:
        remark(end, f"{name_of(memory)} is copied before it is returned: {written_by_later_calls(memory)}")
        alloc = AllocOp(in_space(memory.type, None))
        alloc.result.name_hint = f"{memory.name_hint or 'array'}_copy"
        Rewriter.insert_op([alloc, CopyOp(memory, alloc.result)], InsertPoint.before(end))
        copies[memory] = alloc.result
    result = copies[memory]
    for view in chain:
        again = view.clone({view.source: result})
        Rewriter.insert_op(again, InsertPoint.before(end))
        result = Rewriter.replace_value_with_new_type(again.result, in_space(view.result.type, None))
    return result
