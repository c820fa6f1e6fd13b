"""The pass ``host-hoist-allocs``: what is written between two captured runs is where the second one expects it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.capture import static_inputs
from kopt.analysis.scope import ancestors
from kopt.analysis.symm_hazards import name_of
from kopt.analysis.symmetric import uses
from kopt.diagnostics import remark
from kopt.dialects.host import AllocOp, PartitionOp, YieldOp
from kopt.walk import walk


@dataclass(frozen=True)
class HostHoistAllocsPass(ModulePass):
    """Hoists an allocation into the earlier of two partitions, where the later one uses what is written in between.

    The memory then belongs to the capture and has one address in all calls. The later partition takes it as ``static``,
    without a copy. Arrays that are returned are allocated anew by each call.

        %p = host.partition capture … { … }
        %a = host.alloc : memref<8xf32>
        symm.all_gather_out %p to %a group "tp" : …
        host.partition capture { … %a … }
    becomes
        %p, %a = host.partition capture … { …   %b = host.alloc : memref<8xf32>   host.yield …, %b }
        symm.all_gather_out %p to %a group "tp" : …
        host.partition capture static (%a : memref<8xf32>) { … %a … }

    Each allocation moved is a remark. It never refuses.
    """

    name = "host-hoist-allocs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in walk(op):
            if isinstance(func, FuncOp) and func.body.blocks:
                _hoist(func)


def _hoist(func: FuncOp) -> None:
    before: PartitionOp | None = None
    for op in list(func.body.block.ops):
        if isinstance(op, PartitionOp):
            op.operands = static_inputs(op)
            before = op
        elif isinstance(op, AllocOp) and before is not None and _is_used_by_partition(op):
            remark(op, f"{name_of(op.result)} is allocated in the captured partition before")
            before = _move_into(before, op)


def _is_used_by_partition(alloc: AllocOp) -> bool:
    """Whether a partition uses a per-call array, and nobody outside of the function does."""
    users = list(uses(alloc.result))
    captured = any(isinstance(parent, PartitionOp) for op in users for parent in ancestors(op.parent_op()))
    return alloc.id is None and captured and not any(isinstance(op, ReturnOp | YieldOp) for op in users)


def _move_into(partition: PartitionOp, alloc: AllocOp) -> PartitionOp:
    """The partition with one more result: the array, which it allocates at its end."""
    end = partition.body.block.last_op
    assert isinstance(end, YieldOp)
    alloc.detach()
    partition.body.block.insert_op_before(alloc, end)
    body = partition.detach_region(partition.body)
    end.operands = [*end.values, alloc.result]
    wider = PartitionOp(body, partition.static)
    wider.location = partition.location
    wider.attributes |= partition.attributes
    *same, array = wider.outputs
    alloc.result.replace_uses_with_if(array, lambda use: use.operation is not end)
    array.name_hint = alloc.result.name_hint
    Rewriter.replace_op(partition, wider, same)
    return wider
