"""Counters between ranks: who shares which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kopt
from kopt.dialects import symm
from kopt.dialects.tile import RefType
from kopt.errors import AccessError
from kopt.interpreter import HANDLERS
from kopt.interpreter.machine import Machine
from kopt.interpreter.symm import _channel
from kopt.interpreter.world import World

TEXT = Path(__file__).parents[1] / "lit" / "dialects" / "symm.mlir"


def test_counters_of_kernels_count_whoever_signals() -> None:
    """Beside a symmetric array each rank has its own; for another rank it always is another counter."""
    parts = [part for part in TEXT.read_text().split("// -----") if "symm.signal" in part]
    signals = [op for part in parts for op in kopt.parse(part).walk() if isinstance(op, symm.SignalOp)]
    assert {isinstance(op.buffer.type, RefType) for op in signals} == {True, False}
    for op in signals:
        assert (_channel(op, 1, 2) == _channel(op, 1, 3)) is isinstance(op.buffer.type, RefType)
        assert _channel(op, 1, 2) != _channel(op, 2, 2)


RING = """
func.func @f(%s: memref<4xf32, #symm.space<"tp">>, %next: i32, %last: i32) {{
  symm.signal %s to %next channel 0 : i32 : memref<4xf32, #symm.space<"tp">>, i32
  symm.wait %s from %{waited} channel {channel} : i32 : memref<4xf32, #symm.space<"tp">>, i32
  symm.barrier group "tp"
  func.return
}}
"""


def ring(text: str, seed: int, count: int = 3) -> tuple[World, list[Callable[[], object]]]:
    """Three ranks that are told the numbers of the next one, of ``count``, and of the one before."""
    world, programs = World(3, seed), []
    for rank in range(3):
        machine = Machine(kopt.parse(text), HANDLERS, seed=seed, check_conflicts=True, masked=False)
        machine.world, machine.rank = world, rank
        world.machines.append(machine)
        given = [np.zeros(4, np.float32), (rank + 1) % count, (rank - 1) % 3]
        programs.append(lambda machine=machine, given=given: machine.call(machine.functions["f"], given))
    return world, programs


@pytest.mark.parametrize(
    ("waited", "channel", "hangs"), [("last", 0, False), ("next", 0, True), ("last", 1, True)], ids=str
)
@pytest.mark.parametrize("seed", range(3))
def test_ranks_wait_for_whom_they_name(waited: str, channel: int, hangs: bool, seed: int) -> None:
    """Three ranks signal the next one, and wait for the one before; for another, or on another channel, for ever."""
    world, programs = ring(RING.format(waited=waited, channel=channel), seed)
    if hangs:
        with pytest.raises(AccessError):
            world.run(programs)
    else:
        world.run(programs)


def test_no_rank_signals_one_that_there_is_not() -> None:
    world, programs = ring(RING.format(waited="last", channel=0), seed=0, count=4)
    with pytest.raises(AccessError, match=r"'symm\.signal' to rank 3 of 3"):
        world.run(programs)
