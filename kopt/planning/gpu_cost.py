"""A first model of a plan's cost on a GPU: waves of programs, bytes through the caches, products, occupancy.

No constant of it is fitted; it ranks what differs much. A program's blocks come from the second-level cache; programs
of one wave that need the same block fetch it once from memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from kopt.ir.launch_model import LaunchModel, Work
from kopt.planning.blocks import Blocks
from kopt.planning.items import Cost
from kopt.planning.trips import Number, Sizes, UnknownError, all_trips, value
from kopt.plans.plan import Buffer, Plan
from kopt.targets.budget import Budget
from kopt.targets.chips import GpuChip
from kopt.targets.costs import GPU_COSTS, GpuCosts

#: Where a plan names none.
_WARPS, _STAGES = 4, 2
#: Shares of the peak of 16-bit products, by dtype.
_RATES = {"f32": 0.5, "f64": 1 / 16, "i8": 2.0, "f8E4M3FN": 2.0, "f8E5M2": 2.0}


class GpuLaunch:
    """One plan at given sizes, numbers or arrays of them."""

    def __init__(
        self, model: LaunchModel, sizes: Sizes, plan: Plan, chip: GpuChip, lengths: Mapping[str, Sequence[int]]
    ):
        self.model, self.plan, self.chip = model, plan, chip
        self.sizes: Sizes = {**model.sizes, **sizes}
        self.budget, self.costs = Budget(chip), GPU_COSTS.get(chip.name)
        self.trips = all_trips(model, self.sizes, lengths)
        self.blocks = Blocks(model, plan, self.sizes, self.trips)
        options = dict(plan.options)
        self.warps, self.stages = (int(str(options.get(n, d))) for n, d in (("warps", _WARPS), ("stages", _STAGES)))

    def cost(self) -> Cost:
        """The items; of chips without constants memory only."""
        memory = Cost(shared_bytes=self._shared(), registers=self._registers())
        if self.costs is None:
            return memory
        try:
            return self._timed(self.costs, memory)
        except UnknownError:
            return memory

    def _timed(self, costs: GpuCosts, memory: Cost) -> Cost:
        programs = prod(self.trips[tag].mean for tag in self.plan.order)
        at_once = costs.multiprocessors * self._occupancy(costs)
        waves = np.ceil(programs / at_once)
        used = programs / (waves * at_once)
        products, vectors = self._operations(costs, True), self._operations(costs, False)
        reads, writes = self._fetched(at_once, False), self._fetched(at_once, True)
        moved = (reads + writes) / (costs.hbm_share * self.chip.hbm_bytes_per_second)
        busy = np.maximum(products, vectors) / used
        return Cost(
            seconds=np.maximum(busy, moved) + costs.launch_seconds,
            mxu_seconds=products,
            vpu_seconds=vectors,
            bytes_in=reads,
            bytes_out=writes,
            steps=programs,
            overhead_seconds=costs.launch_seconds,
            shared_bytes=memory.shared_bytes,
            registers=memory.registers,
            waves=waves,
            cores=costs.multiprocessors,
            fitted=costs.fitted,
        )

    def _occupancy(self, costs: GpuCosts) -> Number:
        """Programs that one multiprocessor holds: by threads, by shared memory, by registers; at least one."""
        threads = self.warps * self.chip.warp_size
        most = min(costs.programs, costs.threads // threads)
        shared = self.budget.shared // np.maximum(1, self._shared())
        return np.maximum(
            1, np.minimum(most, np.minimum(shared, self.budget.registers // (self._registers() * threads)))
        )

    def _shared(self) -> Number:
        """Bytes of the blocks of products, those of every stage."""
        found = [self._operands(work) for work in self._products()]
        return self.stages * max(found, key=np.max) if found else 0

    def _operands(self, work: Work) -> Number:
        *batch, m, k, n = (value(size, self.sizes) for _, size in work.dims)
        bits = max([operand.bits for operand in self.model.operands if operand.dtype == work.dtype] or [16])
        return prod(batch) * (m * k + k * n) * bits // 8

    def _registers(self) -> Number:
        """Registers of a thread: those of the sums of products, besides a few for everything else."""
        lanes = [prod(value(size, self.sizes) for _, size in (*w.dims[:-2], w.dims[-1])) for w in self._products()]
        return 32 + sum(lanes) / (self.warps * self.chip.warp_size)

    def _products(self) -> list[Work]:
        return [work for work in self.model.work if work.unit == "product"]

    def _operations(self, costs: GpuCosts, products: bool) -> Number:
        """Seconds of all products, or of everything else, with all multiprocessors at work."""
        total: Number = 0
        for work in self.model.work:
            if work.unit == "carry" or (work.unit == "product") != products:
                continue
            lanes = work.count * prod(value(size, self.sizes) for _, size in work.dims)
            rate = (
                costs.flops * costs.mma_share * _RATES.get(work.dtype, 1.0) / 2 if products else costs.vector_flops / 2
            )
            total = total + lanes * prod(self.trips[tag].mean for tag in work.path) / rate
        return total

    def _fetched(self, at_once: Number, writes: bool) -> Number:
        """Bytes between memory and the second-level cache, which keeps what the programs of one wave share."""
        return sum((self._traffic(one, at_once) for one in self.plan.buffers if self._moves(one, writes)), 0)

    def _moves(self, buffer: Buffer, writes: bool) -> bool:
        return bool(self.blocks.accesses(buffer)) and (
            self.blocks.writes(buffer) if writes else self.blocks.reads(buffer)
        )

    def _traffic(self, buffer: Buffer, at_once: Number) -> Number:
        axes, array = self.blocks.axes(buffer), self.blocks.array_size(buffer.operand)
        path = self.blocks.accesses(buffer)[0].path
        asked = self.blocks.size(buffer) * prod(self.trips[tag].mean for tag in {*path, *self.plan.order})
        left, shared = at_once, 1.0
        for tag in reversed(self.plan.order):
            together = np.minimum(left, self.trips[tag].mean)
            shared = shared * (1 if tag in axes else together)
            left = np.maximum(1, left / self.trips[tag].mean)
        assert self.costs is not None
        return np.where(array <= self.costs.l2_bytes / 2, np.minimum(array, asked), np.maximum(array, asked / shared))
