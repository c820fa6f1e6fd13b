"""Copies to other ranks, signals and barriers inside a kernel.

A rank is named by its number along the mesh's axis of its group; along the other axes it is this rank's own.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from kopt.dialects import symm
from kopt.lowering.names import quoted
from kopt.lowering.pallas.printing import Printing
from kopt.lowering.pallas.refs import place

_WAITS = {"send": "wait_send", "receive": "wait_recv"}


def _rank(op: Operation, printing: Printing) -> None:
    assert isinstance(op, symm.RankOp)
    printing.bind(op.result, f"jax.lax.axis_index({quoted(op.group.data)})", op)


def _barrier(op: Operation, printing: Printing) -> None:
    assert isinstance(op, symm.BarrierOp)
    if op.ranks is not None and op.ranks.value.data == 1:
        return
    group, other = quoted(op.group.data), printing.names.fresh("other")
    if op.ranks is not None:
        me = printing.assign(f"jax.lax.axis_index({group})", "rank", op)
        count, ranks = op.ranks.value.data - 1, f"range(1, {op.ranks.value.data})"
        to = f"({me} + {other}) % {op.ranks.value.data}"
    else:
        names = [printing.name(rank) for rank in op.others]
        count, ranks, to = len(names), f"({', '.join(names)}{',' if len(names) == 1 else ''})", other
    barrier = printing.assign("pltpu.get_barrier_semaphore()", "barrier")
    with printing.block(f"for {other} in {ranks}:"):
        printing.line(f"pl.semaphore_signal({barrier}, device_id={{{group}: {to}}})")
    printing.line(f"pl.semaphore_wait({barrier}, {count})")


def _copy(op: Operation, printing: Printing) -> None:
    assert isinstance(op, symm.RemoteCopyOp)
    name = printing.names.bind(op.transfer, op.transfer.name_hint or "copy")
    printing.line(f"{name} = pltpu.make_async_remote_copy(", op)
    printing.writer.lines(f"    {place(ref, entries, printing)}," for ref, entries in op.places)
    printing.writer.line(f"    device_id={{{quoted(op.group.data)}: {printing.name(op.rank)}}},")
    printing.line(")")


def _start(op: Operation, printing: Printing) -> None:
    assert isinstance(op, symm.RemoteCopyStartOp)
    printing.line(f"{printing.name(op.transfer)}.start()", op)


def _wait_end(op: Operation, printing: Printing) -> None:
    assert isinstance(op, symm.RemoteCopyWaitOp)
    printing.line(f"{printing.name(op.transfer)}.{_WAITS[op.end.data]}()", op)


def _signal(op: Operation, printing: Printing) -> None:
    assert isinstance(op, symm.SignalOp) and op.group is not None
    counter = f"{printing.name(op.buffer)}.at[{op.channel.value.data}]"
    to = f"{{{quoted(op.group.data)}: {printing.name(op.rank)}}}"
    printing.line(f"pl.semaphore_signal({counter}, device_id={to})", op)


def _wait(op: Operation, printing: Printing) -> None:
    assert isinstance(op, symm.WaitOp)
    printing.line(f"pl.semaphore_wait({printing.name(op.buffer)}.at[{op.channel.value.data}])", op)


#: The writer of each op.
REMOTE: dict[type[Operation], Callable[[Operation, Printing], None]] = {
    symm.RankOp: _rank,
    symm.BarrierOp: _barrier,
    symm.RemoteCopyOp: _copy,
    symm.RemoteCopyStartOp: _start,
    symm.RemoteCopyWaitOp: _wait_end,
    symm.SignalOp: _signal,
    symm.WaitOp: _wait,
}
