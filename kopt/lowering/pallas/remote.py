"""Copies to other ranks, signals and barriers inside a kernel.

A rank is named by its number along the mesh's axis of its group; along the other axes it is this rank's own.
"""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.dialects import symm
from kopt.lowering.expr import Expr
from kopt.lowering.names import quoted
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.pallas.refs import place
from kopt.lowering.printer import Handler
from kopt.lowering.writer import source_place

_WAITS = {"send": "wait_send", "receive": "wait_recv"}


def _rank(printing: PallasPrinter, op: symm.RankOp) -> None:
    printing.assign(op.result, Expr(f"jax.lax.axis_index({quoted(op.group.data)})"))


def _barrier(printing: PallasPrinter, op: symm.BarrierOp) -> None:
    if op.ranks is not None and op.ranks.value.data == 1:
        return
    group, other = quoted(op.group.data), printing.names.fresh("other")
    if op.ranks is not None:
        me = printing.give(Expr(f"jax.lax.axis_index({group})"), "rank", op).text
        count, ranks = op.ranks.value.data - 1, f"range(1, {op.ranks.value.data})"
        to = f"({me} + {other}) % {op.ranks.value.data}"
    else:
        names = [printing.name(rank) for rank in op.others]
        count, ranks, to = len(names), f"({', '.join(names)}{',' if len(names) == 1 else ''})", other
    barrier = printing.give(Expr("pltpu.get_barrier_semaphore()"), "barrier").text
    with printing.block(f"for {other} in {ranks}:"):
        printing.line(f"pl.semaphore_signal({barrier}, device_id={{{group}: {to}}})")
    printing.line(f"pl.semaphore_wait({barrier}, {count})")


def _copy(printing: PallasPrinter, op: symm.RemoteCopyOp) -> None:
    name = printing.names.bind(op.transfer, op.transfer.name_hint or "copy")
    arguments = [place(ref, entries, printing) for ref, entries in op.places]
    arguments.append(f"device_id={{{quoted(op.group.data)}: {printing.name(op.rank)}}}")
    printing.writer.call(f"{name} = pltpu.make_async_remote_copy", arguments, comment=source_place(op))


def _start(printing: PallasPrinter, op: symm.RemoteCopyStartOp) -> None:
    printing.line(f"{printing.name(op.transfer)}.start()", op)


def _wait_end(printing: PallasPrinter, op: symm.RemoteCopyWaitOp) -> None:
    printing.line(f"{printing.name(op.transfer)}.{_WAITS[op.end.data]}()", op)


def _signal(printing: PallasPrinter, op: symm.SignalOp) -> None:
    assert op.group is not None
    counter = f"{printing.name(op.buffer)}.at[{op.channel.value.data}]"
    to = f"{{{quoted(op.group.data)}: {printing.name(op.rank)}}}"
    printing.line(f"pl.semaphore_signal({counter}, device_id={to})", op)


def _wait(printing: PallasPrinter, op: symm.WaitOp) -> None:
    printing.line(f"pl.semaphore_wait({printing.name(op.buffer)}.at[{op.channel.value.data}])", op)


#: The printer of each op.
HANDLERS: dict[type[Operation], Handler] = {
    symm.RankOp: _rank,
    symm.BarrierOp: _barrier,
    symm.RemoteCopyOp: _copy,
    symm.RemoteCopyStartOp: _start,
    symm.RemoteCopyWaitOp: _wait_end,
    symm.SignalOp: _signal,
    symm.WaitOp: _wait,
}
