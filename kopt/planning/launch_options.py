"""A GPU launch's options by what one program has: warps by its tiles, stages by the shared memory of its loads. Pure.

Sizes are numbers, or arrays with one number for each candidate.
"""

from __future__ import annotations

import numpy as np

from kopt.ir.widths import next_power_of_two
from kopt.planning.trips import Number
from kopt.targets.budget import Budget
from kopt.targets.costs import gpu_costs

#: Lanes of its largest tile that a warp holds, where a program has the most warps; and where it has the fewest. A warp
#: with twice as many has half of the shuffles, barriers and addresses for each lane.
_LANES, _FEW_LANES = 1024, 128
#: 32-bit words of what is alive at once that a warp holds: 80 a thread. Compilers compute 16-bit words from others
#: again, and keep 64 registers or less (sm90, Triton 3.9): half of a multiprocessor's threads are there then.
_WORDS = 2560
#: Lanes of tiles for which it counts what is alive at once.
_FILLED = 2048
#: The fewest warps of a tile that fills them, the most, and the most of a program with products.
_WARPS, _MOST_WARPS, _DOT_WARPS = 4, 16, 8
#: Sums of products that four warps hold: 64 registers of each thread.
_DOT_LANES = 8192
#: How many times the bytes that hide the latency of memory a program has under way, at most.
_IN_FLIGHT = 4
#: What a product has of a tile of rows that a warp multiplies.
MMA_ROWS = 16


def warps(
    lanes: Number,
    products: Number = 0,
    rows: Number = 0,
    words: Number = 0,
    backend: str = "cuda",
    each: Number = np.inf,
) -> Number:
    """Warps of a program whose largest tile has so many lanes, or whose products have so many sums, of ``rows`` each.

    A power of two. Values that are alive at once, of so many ``words``, stand in registers. Products have one warp for
    16 rows of the padded block at most: what two of those share is multiplied twice. On AMD's chips they have one for
    each of the four units of a multiprocessor, with all 512 of its registers a thread.

    A multiprocessor has ``each`` programs. Where that is one, nothing runs beside its warps: twice as many of these,
    with half of the lanes, are issued in the same time, and wait for one another less.
    """
    share = np.where(np.asarray(each) <= 1, 2, 1)
    alone = np.maximum(_WARPS, np.maximum(power(share * lanes / _LANES), power(share * words / _WORDS)))
    others = np.where(lanes < _FILLED, np.clip(power(lanes / _FEW_LANES), 1, _WARPS), alone)
    most = _WARPS if backend == "hip" else _DOT_WARPS
    multiplied = np.where(products > _DOT_LANES, np.maximum(_WARPS, np.minimum(most, power(rows) // MMA_ROWS)), _WARPS)
    return np.where(products > 0, multiplied, np.minimum(_MOST_WARPS, others)).astype(int)


def stages(
    read: Number, waiting: Number, budget: Budget, staying: Number = 0, programs: Number = 1, chained: bool = False
) -> Number:
    """Stages of a loop that feeds products so many bytes a visit: those with the most visits' loads in flight.

    A matrix unit reads some bytes by itself; others are ``waiting`` until registers have them. A program has all but
    one stage in flight, a multiprocessor those of the programs that it holds side by side: of ``programs`` at most,
    each of which shares ``staying`` bytes besides. Of equal numbers the fewest stages. No more of them where one
    program alone has `_IN_FLIGHT` times under way what latency and bandwidth ask for: each stage is written out before
    the loop. Where products wait for one another, ``chained``, programs side by side hide that: then as many of these
    as there can be.

    On AMD's chips two: the next visit's operands stand in registers, until those of this one are read.
    """
    if budget.gpu.backend == "hip":
        return np.where(read + waiting + staying <= budget.shared, 2, 1)
    costs = gpu_costs(budget.gpu)
    each = costs.latency_seconds * budget.gpu.hbm_bytes_per_second / costs.multiprocessors
    enough = np.inf if chained else _IN_FLIGHT * each / np.maximum(1, read + waiting)
    found, most = np.int64(1), np.int64(0)
    for count in range(2, budget.STAGES + 1):
        size = copies(count, False) * read + copies(count, True) * waiting
        held = np.minimum(np.maximum(1, programs), budget.staged // np.maximum(1, size + staying))
        in_flight = held * (count - 1 + Budget.STAGES * chained)
        better = (in_flight > most) & (found - 1 < enough)
        found, most = np.where(better, count, found), np.where(better, in_flight, most)
    return found


def copies(stages: Number, waits: Number) -> Number:
    """How often shared memory holds a visit's operands.

    For each stage where a matrix unit reads them there by itself while the next product begins; else one time less,
    since a product ``waits`` until registers have them.
    """
    return np.maximum(1, stages - np.asarray(waits, int))


def power(number: Number) -> Number:
    """The next power of two."""
    if isinstance(number, int):
        return next_power_of_two(number)
    return 2 ** np.ceil(np.log2(np.maximum(1, number))).astype(int)
