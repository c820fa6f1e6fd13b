"""The pass ``lower-remote-copies``: copies between ranks get semaphores, and barriers a second phase."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.diagnostics import location_of
from kopt.dialects import symm
from kopt.dialects.host import LaunchOp
from kopt.dialects.pallas import ScratchOp
from kopt.dialects.tile import Access, RefType
from kopt.errors import LoweringError
from kopt.walk import walk

_SEMAPHORE = RefType([1], i32, "semaphore")
_COUNTER = RefType([1], i32, "counter")


@dataclass(frozen=True)
class LowerRemoteCopiesPass(ModulePass):
    """Allocates semaphores: each `symm.remote_copy` of a launch gets one for what leaves and one for what arrives.

    A `symm.barrier` with some ranks is followed by a signal to each of them and a wait for as many signals. So no
    rank reaches the barrier of the next launch before all have passed this one.

        %t = symm.remote_copy %a[%n, :] to %b[%n, :] on %r group "ranks" : memref<8x128xf32>, memref<8x128xf32>
    becomes
        %sent = pallas.scratch : !tile.ref<1 x i32, semaphore>
        %received = pallas.scratch : !tile.ref<1 x i32, semaphore>
        %t = symm.remote_copy %a[%n, :] to %b[%n, :] on %r signal %sent[0], %received[0] group "ranks" : …

    Refuses grids that also load or store an array that they copy between ranks: it stays in HBM.
    """

    name = "lower-remote-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            copies = [inner for inner in walk(launch, symm.RemoteCopyOp) if inner.sent is None]
            _check_accesses(launch, copies)
            for copy in copies:
                _add_semaphores(launch, copy)
            for barrier in [inner for inner in walk(launch, symm.BarrierOp) if inner.others]:
                _add_phase(launch, barrier)


def _check_accesses(launch: LaunchOp, copies: list[symm.RemoteCopyOp]) -> None:
    copied = {memory for copy in copies for memory in (copy.source, copy.target)}
    for op in walk(launch):
        if isinstance(op, Access) and op.memory in copied and isinstance(op.memory.type, MemRefType):
            name = op.memory.name_hint or "an array"
            message = f"'{name}' is copied between ranks here, so this loop nest cannot use its elements"
            raise LoweringError(message, location_of(op), notes=["use them in a loop nest before or after it"])


def _scratch(launch: LaunchOp, type: RefType, name: str) -> SSAValue:
    scratch = ScratchOp(type)
    scratch.result.name_hint = name
    assert launch.body.block.first_op is not None
    Rewriter.insert_op(scratch, InsertPoint.before(launch.body.block.first_op))
    return scratch.result


def _add_semaphores(launch: LaunchOp, copy: symm.RemoteCopyOp) -> None:
    flags = [_scratch(launch, _SEMAPHORE, name) for name in ("received", "sent")][::-1]
    places = [*copy.places, *((flag, (0,)) for flag in flags)]
    refs, entries = [ref for ref, _ in places], [some for _, some in places]
    new = symm.RemoteCopyOp(refs, entries, copy.rank, copy.group.data)
    new.transfer.name_hint, new.location = copy.transfer.name_hint, copy.location
    Rewriter.replace_op(copy, new)


def _add_phase(launch: LaunchOp, barrier: symm.BarrierOp) -> None:
    counter, group = _scratch(launch, _COUNTER, "through"), barrier.group.data
    signals: list[Operation] = [symm.SignalOp(counter, rank, 0, group) for rank in barrier.others]
    waits: list[Operation] = [symm.WaitOp(counter, rank, 0, group) for rank in barrier.others]
    for op in (*signals, *waits):
        op.location = barrier.location
    Rewriter.insert_op([*signals, *waits], InsertPoint.after(barrier))
