"""The pass ``host-partition``: runs of host ops that a device can replay without the host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.capture import can_be_captured, does_work, static_inputs
from kopt.diagnostics import remark
from kopt.dialects.host import PartitionOp, YieldOp
from kopt.passes.symm.returns import copy_returned
from kopt.walk import walk


@dataclass(frozen=True)
class HostPartitionPass(ModulePass):
    """Outlines each run of host ops that a device can capture and replay into a `host.partition`.

    | captured | not captured |
    |---|---|
    | kernels | calls that allocate their own results |
    | calls that write a given array | collectives that do, or go through a library |
    | copies within the device | copies of arguments into symmetric memory |
    | collectives by an algorithm | persistent allocations |
    | allocations and views among those | |

    A caller's array may have another address in every call, so it is copied to the address that the capture knows.

    Symmetric buffers, and arrays that an earlier partition passed on, are ``static``: they are used where they are.

        %h = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
        host.call_out "aten.exp.default"(%x) args [unit] to %h : …
        %s = host.alloc : memref<8xf32>
        symm.all_reduce_out add %h to %s group "tp" by one_shot : …
        func.return %s : memref<8xf32>
    becomes
        %h = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
        %s = host.partition capture static (%h : memref<8xf32, #symm.space<"tp">>) -> memref<8xf32> {
          host.call_out "aten.exp.default"(%x) args [unit] to %h : …
          %t = host.alloc : memref<8xf32>
          symm.all_reduce_out add %h to %t group "tp" by one_shot : …
          host.yield %t : memref<8xf32>
        }
        %r = host.alloc : memref<8xf32>
        host.copy %s to %r : memref<8xf32>, memref<8xf32>
        func.return %r : memref<8xf32>

    What ends a run is a remark, and so is each copy of what is returned. It never refuses.
    """

    name = "host-partition"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in walk(op):
            if isinstance(func, FuncOp) and func.body.blocks:
                for run in list(_runs(func.body.block)):
                    _wrap(run)
                copy_returned(func)


def _runs(block: Block) -> Iterator[list[Operation]]:
    """The longest runs of ops that can be captured, among which some do something."""
    run: list[Operation] = []
    for op in block.ops:
        if can_be_captured(op):
            run.append(op)
            continue
        if any(map(does_work, run)):
            if not isinstance(op, ReturnOp):
                remark(op, f"'{op.name}' cannot be captured: it ends a partition")
            yield run
        run = []
    assert not run, "a function returns"


def _wrap(run: list[Operation]) -> None:
    inside = set(run)
    passed_on = [value for op in run for value in op.results if _is_used_outside(value, inside)]
    after = run[-1].next_op
    assert after is not None
    for op in run:
        op.detach()
    partition = PartitionOp(Region(Block([*run, YieldOp(passed_on)])))
    partition.operands = static_inputs(partition)
    partition.location = run[0].location
    Rewriter.insert_op(partition, InsertPoint.before(after))
    for value, result in zip(passed_on, partition.outputs, strict=True):
        result.name_hint = value.name_hint
        value.replace_uses_with_if(result, lambda use: not _is_within(use.operation, partition))


def _is_used_outside(value: SSAValue, inside: set[Operation]) -> bool:
    return any(not _is_part_of(use.operation, inside) for use in value.uses)


def _is_part_of(op: Operation | None, inside: set[Operation]) -> bool:
    while op is not None and op not in inside:
        op = op.parent_op()
    return op is not None


def _is_within(op: Operation, partition: PartitionOp) -> bool:
    return partition.is_ancestor(op)
