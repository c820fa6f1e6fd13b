"""How long a launch's instructions take to be issued, from Triton's IR and SASS. Pure functions of text.

Only the trips of loops are not in the SASS. A launch's loops are taken to make the same number of trips: the one that
makes what the SASS gets done, loops and the rest, all that Triton's IR asks for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from support import sass
from support.traffic import tensor_bytes_loaded
from support.trips import Lines

_DOT = re.compile(r"\btt\.dot(?:_scaled)? .*: .*?tensor<([\dx]+)x[^>]*> \* .*?tensor<([\dx]+)x[^>]*> ->")
#: Instructions that a multiprocessor issues in a cycle, one for each quarter.
_EACH_CYCLE = 4
#: The share of a multiprocessor's warps that hides the latency of memory, with 16 bytes of each thread under way.
_ENOUGH = 0.5


@dataclass(frozen=True)
class Executed:
    """The instructions that a warp executes ``once``, and those that it ``repeated`` in so many ``trips``."""

    once: Sequence[sass.Instruction]
    repeated: Sequence[sass.Instruction] = ()
    trips: float = 0.0

    @property
    def instructions(self) -> float:
        """From start to end."""
        return len(self.once) + self.trips * len(self.repeated)

    @property
    def local_bytes(self) -> float:
        """That its threads move to and from memory of their own, where registers have no place: what they spill."""
        return sass.local_bytes(self.once) + self.trips * sass.local_bytes(self.repeated)


def instructions_of_a_warp(code: Sequence[sass.Instruction], lines: Lines | None, warps: int) -> float | None:
    """How many it executes."""
    found = executed(code, lines, warps)
    return None if found is None else found.instructions


def executed(code: Sequence[sass.Instruction], lines: Lines | None, warps: int) -> Executed | None:
    """What a warp executes; None where there is no code to read, and where loops' trips are unknown.

    ``lines`` are those of Triton's IR. Trips are unknown where loops hold loops, and where it cannot be told what a
    trip gets done.
    """
    loops = sass.innermost_loops(code)
    if not loops:
        return Executed(code) if code else None
    inner = [work for loop in loops if (work := sass.work(loop)) is not None]
    if lines is None or len(inner) < len(loops) or sass.has_nested_loops(code):
        return None
    matrices = {sass.matrix_instructions(loop) > 0 for loop in loops}
    if len(matrices) > 1:
        return None
    count = _products if matrices == {True} else _vectors
    wanted = sum(count(line, warps) * times for line, times, _ in lines)
    repeated = {each.address: each for loop in loops for each in loop}
    once = [each for each in code if each.address not in repeated]
    kept = sass.work(once) if sass.matrix_instructions(once) or matrices == {False} else 0
    trips = max(wanted - (kept or 0), 0) / sum(inner)
    return Executed(once, [*repeated.values()], trips)


def cycles(
    of_a_warp: float | None, programs: int, warps: int, multiprocessors: int, occupancy: float | None, matrices: bool
) -> float | None:
    """Until the busiest multiprocessor has issued its programs' instructions; longer where too few warps fit in it.

    Half of the warps hide the latency of memory, more are no better. Loops with matrix instructions hide it by what
    they load ahead.
    """
    if of_a_warp is None or not occupancy:
        return None
    at_once = 1.0 if matrices else min(occupancy / _ENOUGH, 1.0)
    return math.ceil(programs / multiprocessors) * warps * of_a_warp / _EACH_CYCLE / at_once


def of_the_busiest(total: float | None, programs: int, multiprocessors: int) -> float | None:
    """What all programs would take together, if all multiprocessors had as many as the one with the most."""
    return None if total is None else total * math.ceil(programs / multiprocessors) * multiprocessors / programs


def _products(line: str, warps: int) -> float:
    """Of a line's matrices, in the units of `sass.work`, for each warp."""
    found = _DOT.search(line)
    if found is None:
        return 0.0
    *batch, rows, inner = map(int, found[1].split("x"))
    return math.prod(batch) * rows * inner * int(found[2].split("x")[-1]) / warps / (64 * 64 * 16 / 4)


def _vectors(line: str, warps: int) -> float:
    """The 16 bytes that each thread loads for a line."""
    return tensor_bytes_loaded(line) / (32 * warps) / 16
