"""What the ranks of a group do: collectives, barriers and signals, and copies into each other's memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects import symm
from kopt.dialects.tile.index_list import Entry
from kopt.errors import AccessError, UnsupportedError
from kopt.interpreter import ring
from kopt.interpreter.machine import Handler, Machine
from kopt.interpreter.pallas import block_of
from kopt.interpreter.reductions import COMBINE
from kopt.interpreter.rounding import is_exact, poison, rounded
from kopt.interpreter.world import World


def world_of(m: Machine, op: Operation) -> World:
    """The ranks that run the module. Raises `UnsupportedError` where one runs alone."""
    if m.world is None:
        raise UnsupportedError(f"'{op.name}' is for several ranks, and one runs alone")
    return m.world


def _element(value: SSAValue) -> Attribute:
    assert isinstance(value.type, MemRefType)
    return value.type.element_type


def _sum(arrays: Sequence[np.ndarray], kind: str, element: Attribute) -> np.ndarray:
    """All ranks' arrays combined in the order of ranks, narrow floats in f32."""
    name = "add" if kind == "avg" else kind
    exact = is_exact(element)
    combine = ring.COMBINE[name] if exact else COMBINE[name]
    wide = np.float32 if arrays[0].dtype == np.float16 else arrays[0].dtype
    total = arrays[0].astype(wide)
    with np.errstate(all="ignore"):
        for array in arrays[1:]:
            total = combine(total, array.astype(wide))
        if kind == "avg":
            count = np.asarray(len(arrays))
            total = ring.divide(total, ring.encode(count)) if exact else total / count
    return rounded(total, element)


def _parts(array: np.ndarray, count: int) -> list[np.ndarray]:
    return np.split(array, count)


def _all_reduce(m: Machine, op: Any, arrays: list[np.ndarray]) -> np.ndarray:
    return _sum(arrays, op.kind.data, _element(op.input))


def _all_gather(m: Machine, op: Any, arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays)


def _reduce_scatter(m: Machine, op: Any, arrays: list[np.ndarray]) -> np.ndarray:
    return _parts(_sum(arrays, "add", _element(op.input)), len(arrays))[m.rank]


def _all_to_all(m: Machine, op: Any, arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([_parts(array, len(arrays))[m.rank] for array in arrays])


#: What a collective gives of all ranks' arrays.
_COLLECTIVES: dict[type[Operation], Callable[[Machine, Any, list[np.ndarray]], np.ndarray]] = {
    **dict.fromkeys((symm.AllReduceOp, symm.AllReduceOutOp), _all_reduce),
    **dict.fromkeys((symm.AllGatherOp, symm.AllGatherOutOp), _all_gather),
    **dict.fromkeys((symm.ReduceScatterOp, symm.ReduceScatterOutOp), _reduce_scatter),
    **dict.fromkeys((symm.AllToAllOp, symm.AllToAllOutOp), _all_to_all),
}
_OUT = (symm.AllReduceOutOp, symm.AllGatherOutOp, symm.ReduceScatterOutOp, symm.AllToAllOutOp)


def _collective(m: Machine, op: Any) -> np.ndarray | None:
    arrays = world_of(m, op).exchange(m.rank, m[op.input].copy())
    target = op.out if isinstance(op, _OUT) else op.result
    shape = target.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
    result = np.asarray(_COLLECTIVES[type(op)](m, op, arrays))
    if result.shape != shape:
        raise UnsupportedError(f"'{op.name}' of {len(arrays)} ranks gives {list(result.shape)}, not {list(shape)}")
    if not isinstance(op, _OUT):
        return result
    if op.properties.get("algorithm") == StringAttr("two_shot"):
        m[op.input][...] = poison(_element(op.input))
    m[op.out][...] = result
    return None


def _rank(m: Machine, op: symm.RankOp) -> int:
    world_of(m, op)
    return m.rank


def _barrier(m: Machine, op: symm.BarrierOp) -> None:
    world = world_of(m, op)
    others = [int(m[value]) for value in op.others] or [rank for rank in range(world.count) if rank != m.rank]
    for other in others:
        world.counters["barrier", other] += 1
    world.count_down(m.rank, ("barrier", m.rank), len(others))


def _channel(op: symm.SignalOp | symm.WaitOp, to: int, by: int) -> Hashable:
    """A kernel's counter counts whoever signals; beside a symmetric buffer each rank has its own."""
    in_kernel = not isinstance(op.buffer.type, MemRefType)
    return ("signal", op.channel.value.data, to, op.buffer if in_kernel else by)


def _other(m: Machine, op: symm.SignalOp | symm.RemoteCopyOp) -> int:
    """The rank that an op is to, which there is."""
    world, rank = world_of(m, op), int(m[op.rank])
    if not 0 <= rank < world.count:
        raise AccessError(f"'{op.name}' to rank {rank} of {world.count}")
    return rank


def _signal(m: Machine, op: symm.SignalOp) -> None:
    world, to = world_of(m, op), _other(m, op)
    world.wait(m.rank)
    world.counters[_channel(op, to, m.rank)] += 1


def _wait(m: Machine, op: symm.WaitOp) -> None:
    world_of(m, op).count_down(m.rank, _channel(op, m.rank, int(m[op.rank])))


@dataclass
class _Transfer:
    """A copy to another rank; ``sent`` and ``received`` name the semaphores that its ends signal."""

    source: np.ndarray
    target: Callable[[], np.ndarray]
    rank: int
    sent: Hashable
    received: Hashable
    element: Attribute
    done: bool = False

    def finish(self) -> None:
        if not self.done:
            self.target()[...] = self.source
        self.done = True


def _remote_copy(m: Machine, op: symm.RemoteCopyOp) -> _Transfer:
    world, rank = world_of(m, op), _other(m, op)
    places = [(ref, tuple(_known(m, entry) for entry in entries)) for ref, entries in op.places]
    (source, here), (target, there), *flags = places
    keys = [(ref, entries) for ref, entries in flags] or [(op, "sent"), (op, "received")]
    element = target.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
    other = world.machines[rank]
    block = block_of(m, m[source], here)
    return _Transfer(block, lambda: block_of(other, other[target], there), rank, keys[0], keys[1], element)


def _known(m: Machine, entry: Entry) -> Entry:
    """An index by its value: other visits of a loop have others. Ranges stay as they are bound now."""
    return m[entry] if isinstance(entry, SSAValue) else entry


def _start(m: Machine, op: symm.RemoteCopyStartOp) -> None:
    world, transfer = world_of(m, op), m[op.transfer]
    world.wait(m.rank)
    try:
        target = transfer.target()
    except KeyError:
        message = f"a copy to rank {transfer.rank}, whose kernel has not begun: no barrier is before it"
        raise AccessError(message) from None
    if m.random.random() < 0.5:
        transfer.finish()
    else:
        target[...] = poison(transfer.element)
    world.transfers["sent", m.rank, transfer.sent].append(transfer)
    world.transfers["received", transfer.rank, transfer.received].append(transfer)


def _wait_end(m: Machine, op: symm.RemoteCopyWaitOp) -> None:
    world, transfer = world_of(m, op), m[op.transfer]
    sends = op.end.data == "send"
    key = ("sent", m.rank, transfer.sent) if sends else ("received", m.rank, transfer.received)
    waiting = world.transfers[key]
    world.wait(m.rank, lambda: bool(waiting))
    waiting.pop(int(m.random.integers(len(waiting)))).finish()


HANDLERS: dict[type, Handler] = {
    **dict.fromkeys(_COLLECTIVES, _collective),
    symm.RankOp: _rank,
    symm.BarrierOp: _barrier,
    symm.SignalOp: _signal,
    symm.WaitOp: _wait,
    symm.RemoteCopyOp: _remote_copy,
    symm.RemoteCopyStartOp: _start,
    symm.RemoteCopyWaitOp: _wait_end,
}
