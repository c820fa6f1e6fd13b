"""The cost of a plan on a TPU: the grid's pipeline of steps, those of loops inside of a step, and the host's part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from math import prod
from typing import NamedTuple

import numpy as np

from kopt.cached_property import cached_property
from kopt.planning.at_sizes import AtSizes, Path
from kopt.planning.blocks import AHEAD, EXPOSED, ROWS, SCALAR, SCRATCH, WINDOWS, Blocks
from kopt.planning.candidates import fetched_ahead
from kopt.planning.host_passes import host_bytes, host_seconds
from kopt.planning.items import Cost
from kopt.planning.loaded import listed_changes
from kopt.planning.picking import picked
from kopt.planning.steps import Moved, Pipeline, PipelineCost
from kopt.planning.tpu_memory import Memory
from kopt.planning.tpu_work import Cycles, chain_wait, next_wait, total
from kopt.planning.trips import AllTrips, Number, or_none, value
from kopt.planning.versions import LoopVersions, has_versions
from kopt.plans.plan import Buffer, LoopSchedule, Plan
from kopt.targets.costs import VISIT_CYCLES
from kopt.targets.tiling import FLAT

#: Schedules whose copies run beside the loop's body.
_OVERLAPPED = ("prefetch", "emit_pipeline", "fori", "pipeline")
#: Columns of a matrix unit that `Budget.SLOTS` is of.
_WIDE_UNIT = 256


class _Straight(NamedTuple):
    """What loops do that are straight code: work by its place, picking of rows, and idle cycles."""

    places: list[tuple[Path, Cycles]]
    picks: Cycles
    waiting: Number


class TpuLaunch:
    """One plan of a launch at given sizes."""

    def __init__(self, launch: AtSizes, plan: Plan):
        self.launch, self.model, self.plan, self._whole = launch, launch.model, plan, plan
        if unlikely := [access.id for access in launch.model.accesses if access.unlikely]:
            self.model, self.plan = launch.model.without(unlikely), plan.without(unlikely)
        self.sizes, self.costs = launch.sizes, launch.costs
        self._depth = {tag: n for n, tag in enumerate(plan.order)}
        self._copied: dict[str, PipelineCost] = {}
        self._taken: dict[str, Number] = {}
        self._unlooped: dict[str, Number] = {}
        self.trips = AllTrips(launch.trips)
        self.blocks = Blocks(self.model, self.plan, launch.sizes, launch.trips)
        self.cores: Number = 1

    def cost(self) -> Cost:
        """The items."""
        blocks = self.blocks
        if self.model is not self.launch.model:
            blocks = Blocks(self.launch.model, self._whole, self.sizes, self.launch.trips)
        kept = Memory(self._whole, self.trips, blocks)
        vmem, smem, live = map(or_none, (kept.vmem, kept.smem, lambda: self.launch.live(self.plan.loops)))
        memory = Cost(vmem_bytes=vmem, smem_bytes=smem, live_bytes=live, fitted=self.costs.fitted)
        return or_none(lambda: self._timed(memory)) or memory

    # Time.

    def _timed(self, memory: Cost) -> Cost:
        self._divide()
        self._bandwidth = self.costs.hbm_share * self.costs.bytes_per_second / self.cores
        run = self._grid().run(self._step, self._bandwidth, self.costs.step_seconds)
        work, host = self._all_cycles(), host_bytes(self.launch, self.plan, self.blocks)
        scalars = self._scalar_bytes() / self._bandwidth
        around = host_seconds(host, self.launch, self.plan, self.blocks)
        inside = self._copied.values()
        moved = sum((one.bytes_in + one.bytes_out for one in (run, *inside)), 0) / self._bandwidth
        return replace(
            memory,
            seconds=np.maximum(run.seconds, moved) + scalars + around,
            mxu_seconds=work.mxu / self.costs.mxu_share / self.costs.clock_hz,
            vpu_seconds=work.vectors(self.costs.vector_share) / self.costs.clock_hz,
            bytes_in=self.cores * (run.bytes_in + sum(one.bytes_in for one in inside)) + self._scalar_bytes(),
            bytes_out=self.cores * (run.bytes_out + sum(one.bytes_out for one in inside)),
            steps=run.steps,
            overhead_seconds=run.overhead + sum(one.overhead for one in inside) + self._all_between(),
            exposed_seconds=run.exposed + scalars + sum(one.exposed for one in inside),
            host_seconds=around,
            host_bytes=host,
            cores=self.cores,
            slots=self._written(None),
        )

    def _divide(self) -> None:
        """Gives each core its share of the outermost axis with several blocks, if they may share it.

        Cells run in order along an axis along which blocks are fetched a cell ahead, and inside of an axis whose cells
        run in order.
        """
        if self.costs.cores == 1:
            return
        apart = [one for one in self.plan.buffers if one.kind not in (*WINDOWS, *ROWS, *SCALAR)]
        ahead = [one.axes[-1:] for one in apart if one.kind != "dma" or not self._loops_of(one)]
        free, whole = self.plan.parallel.difference(*ahead), np.asarray(True)
        for tag in takewhile(free.__contains__, self.plan.order):
            if np.any(shared := whole & self.trips.moves(tag)):
                trips = self.trips[tag]
                share = trips.mean / self.costs.cores if trips.inside else -(-trips.mean // self.costs.cores)
                many = np.where(shared, np.asarray(share > 1, float), 1.0) * trips.many
                self.trips[tag] = replace(trips, mean=np.where(shared, share, trips.mean), many=many)
                whole = whole & ~shared
        self.cores = np.where(whole, 1, self.costs.cores)

    def _grid(self) -> Pipeline:
        buffers = [one for one in self.plan.buffers if not self._loops_of(one) and not self._is_exposed(one)]
        return Pipeline(self.plan.order, self.trips, self._moved(buffers))

    def _moved(self, buffers: Sequence[Buffer]) -> list[Moved]:
        """The blocks that come and that leave."""
        moved = []
        for buffer in buffers:
            if buffer.kind in (*SCALAR, SCRATCH) or buffer.source is not None or not self.blocks.accesses(buffer):
                continue
            size, axes = self.blocks.size(buffer), self.blocks.axes(buffer)
            listed = self._listed(buffer)
            moved += [Moved(size, axes, listed=listed)] if self.blocks.reads(buffer) else []
            moved += [Moved(size, axes, leaves=True, listed=listed)] if self.blocks.writes(buffer) else []
        return moved

    def _listed(self, buffer: Buffer) -> dict[str, np.ndarray]:
        """At which turns of an axis a window's block is another, where what loaded numbers are is known."""
        found: dict[str, np.ndarray] = {}
        if buffer.kind not in WINDOWS or not self.launch.contents:
            return found
        for tag in buffer.axes:
            count = self.launch.trips[tag].mean if tag in self.launch.trips else 0
            if np.ndim(count) == 0 and count == int(count):
                accesses = self.blocks.accesses(buffer)
                changes = listed_changes(self.model, accesses, tag, int(count), self.launch.contents, self.sizes)
                found.update({} if changes is None else {tag: changes})
        return found

    def _loops_of(self, buffer: Buffer) -> set[str]:
        """The loops in the kernel whose visits a buffer's copies go with."""
        homes = [access.home for access in self.blocks.accesses(buffer)] if buffer.kind not in WINDOWS else []
        return {home for home in homes if home is not None and home not in self._depth}

    def _step(self, turning: int) -> Number:
        """Seconds of a step after which the axis at a depth turns: what is done for each visit to it, or deeper."""
        places = [
            (path, self._handed_on(path, done)) for path, done in self._work(None) if self._depth_of(path) >= turning
        ]
        loops = [tag for tag in self._loops(None) if self._depth_of(self._around(tag)) >= turning]
        straight = self._straight(loops)
        waiting = self._latency(places) + straight.waiting
        done = self._regions([*places, *straight.places], self._picks(None, turning) + straight.picks, waiting)
        return done + self._stores(turning) + self._waits(turning) + self._visited(loops)

    def _handed_on(self, path: Path, done: Cycles) -> Cycles:
        """The work at a place of a step, with the way of what a dimension of the grid carries: beside other work."""
        return done + Cycles(vpu=done.carry * self.trips.moves(path[-1])) if path else done

    def _straight(self, loops: Iterable[str]) -> _Straight:
        """What those of some loops do that are straight code."""
        places: list[tuple[Path, Cycles]] = []
        picks, waiting = Cycles(), 0.0
        for tag in loops:
            straight, work = self._is_straight(tag), self._work(tag)
            if not np.any(straight):
                continue
            inner, times = self._straight(self._loops(tag)), straight * self.trips[tag].mean
            places += [(path, done * times) for path, done in (*work, *inner.places)]
            picks = picks + (self._picks(tag, -1) + inner.picks) * times
            waiting = waiting + straight * self._written_waits(tag, inner.waiting, self.trips[tag].mean)
        return _Straight(places, picks, waiting)

    def _visited(self, loops: Iterable[str]) -> Number:
        """Seconds of all visits of other loops."""
        return sum((1.0 - self._is_straight(tag)) * self._loop(tag) for tag in loops)

    def _is_straight(self, tag: str) -> Number:
        """1 where a loop without copies is straight code, else 0: it has one visit, or all are written out.

        So are all loops in it, which have one visit then. In versions of cells it is a share of the visits.
        """
        if tag not in self._unlooped:
            copies = any(tag in self._loops_of(buffer) for buffer in self.plan.buffers)
            once, all_written = ~self.trips.moves(tag), self._together(tag) == self.trips[tag].mean
            versions = self._versions[tag].straight if tag in self._versions else 0.0
            own = np.maximum(np.asarray(once | all_written, float), versions)
            self._unlooped[tag] = 0.0 if copies else prod(map(self._is_no_loop, self._loops(tag)), start=own)
        return self._unlooped[tag]

    def _is_no_loop(self, tag: str) -> Number:
        """1 where a loop has one visit, and is straight code; else 0."""
        return self._is_straight(tag) * ~self.trips.moves(tag)

    def _stores_blocks(self, tag: str) -> bool:
        """Whether visits of a loop store blocks."""
        return any(access.mode == "store" and tag in access.path for access in self.model.accesses)

    def _schedule(self, tag: str) -> LoopSchedule:
        return self.plan.loops.get(tag, LoopSchedule("resident"))

    def _regions(self, places: Sequence[tuple[Path, Cycles]], picks: Cycles, waiting: Number) -> Number:
        """Seconds of a step's work: what is under a condition overlaps with nothing else.

        That is what an axis does on its first or last visit alone. Where the axis has one visit there is no condition.
        """
        seconds: Number = 0.0
        work, inner = picks, -1
        for depth in sorted({self._depth_of(path) for path, _ in places}, reverse=True):
            visits = prod(self.trips[tag].mean for tag in self.plan.order[depth + 1 : inner + 1])
            apart = np.asarray(visits > 1, float)
            seconds = seconds + apart * self._body(work)
            work = work * (1 - apart) + total(place for place in places if self._depth_of(place[0]) == depth)
            inner = depth
        return seconds + self._body(work, self.costs.step_cycles, waiting)

    def _body(self, work: Cycles, more: float = 0.0, waiting: Number = 0.0) -> Number:
        """Seconds of the units beside each other, and of the cycles ``waiting``, in which none works.

        Nor does one in the cycles ``more``, but for the scalar unit, which starts copies in them.
        """
        mxu, vpu = work.mxu / self.costs.mxu_share, work.vectors(self.costs.vector_share)
        busy = np.maximum(np.maximum(mxu, vpu), work.chain) + more / self.costs.mxu_share
        return (np.maximum(busy, work.scalar) + waiting) / self.costs.clock_hz

    def _visit(self, tag: str) -> Number:
        """Seconds of one visit of a loop in the kernel, without loops in it."""
        places, straight = self._work(tag), self._straight(self._loops(tag))
        work = total(places) + self._picks(tag, -1)
        waiting = self._written_waits(tag, straight.waiting, self._together(tag)) / self._together(tag)
        work = work + total(straight.places) + straight.picks
        return self._body(work, waiting=waiting) + self._between(work, tag)

    def _between(self, work: Cycles, tag: str) -> Number:
        """Seconds between two visits of a loop, in which no unit works: straight code has none."""
        cycles = work.carry + VISIT_CYCLES / self._together(tag)
        return (1.0 - self._is_straight(tag)) * self.trips.moves(tag) * cycles / self.costs.clock_hz

    def _together(self, tag: str) -> Number:
        """How many visits of a loop are written out in one: the schedule's number, as far as that divides them.

        Those in which there are loops are not.
        """
        unroll, trips = self._schedule(tag).unroll, self.trips[tag]
        if unroll == 1:
            return 1
        varies = sum(map(self.launch.trips.moves, trips.inside), np.asarray(0)) > 0
        written = np.where(varies, 1, np.gcd(np.asarray(np.ceil(trips.mean), int), unroll))
        return np.maximum(1, prod(map(self._is_no_loop, self._loops(tag)), start=written))

    def _written_waits(self, tag: str, inside: Number, visits: Number) -> Number:
        """Idle cycles of visits that are written out together; ``inside`` are those of loops in one of them.

        Visits that store blocks share nothing, by bundles of rows of queries of 8-bit attention.
        """
        once = self._latency(work := self._work(tag)) + inside
        more = once if self._stores_blocks(tag) else self._latency(work, next_wait)
        return once + more * np.maximum(visits - 1, 0)

    def _latency(self, places: Sequence[tuple[Path, Cycles]], wait: Callable[[Cycles], Number] = chain_wait) -> Number:
        """Cycles in which units wait for one another, where at some place products wait for products."""
        return wait(total(places)) if any(path in self.model.chained for path, _ in places) else 0.0

    def _waits(self, turning: int) -> Number:
        """Copies that a step starts and waits for."""
        here = [one for one in self.plan.buffers if not self._loops_of(one) and self._is_exposed(one)]
        here = [one for one in here if max(self._depth_of(a.path) for a in self.blocks.accesses(one)) >= turning]
        return sum((one.size for one in self._moved(here)), 0) / self._bandwidth + len(here) * self.costs.step_seconds

    def _is_exposed(self, buffer: Buffer) -> bool:
        """Whether nothing hides a buffer's copies: it is filled where it is used.

        Rows come a cell ahead where cells follow one another on one core.
        """
        if buffer.kind in ROWS and self.costs.cores > 1 and not self.plan.parallel.isdisjoint(self.plan.order[-1:]):
            return True
        ahead = any(name in AHEAD for name, _ in buffer.options)
        ahead = ahead or fetched_ahead(buffer.kind, self.blocks.accesses(buffer), self.plan.order)
        return buffer.kind in EXPOSED and not ahead

    def _stores(self, turning: int) -> Number:
        """The way of finished blocks from accumulators to where copies take them."""
        tags = set(self.plan.order[max(0, turning) :])
        elements: Number = 0
        for buffer in self.plan.buffers:
            if buffer.kind in WINDOWS and self.blocks.writes(buffer):
                moves = [self.trips[tag].moves for tag in tags & {*buffer.axes}]
                changed = turning < 0 or sum(moves) > 0
                elements = elements + changed * prod(self.blocks.shape(buffer))
        return self.costs.store_cycles * elements / FLAT / self.costs.clock_hz

    # Loops inside of a step.

    def _loop(self, tag: str) -> Number:
        """Seconds of all visits of a loop, once."""
        if tag not in self._taken:
            self._taken[tag] = self._all_visits(tag)
        return self._taken[tag]

    def _all_visits(self, tag: str) -> Number:
        body = self._visit(tag) + self._visited(self._loops(tag))
        moved = self._moved([one for one in self.plan.buffers if tag in self._loops_of(one)])
        if self._schedule(tag).kind in _OVERLAPPED:
            more = self._body(Cycles(), self.costs.step_cycles)
            run = Pipeline([tag], self.trips, moved).run(lambda _: body, self._bandwidth, more)
            self._count(run, tag)
            return run.seconds
        copied = sum((one.size for one in moved), 0) / self._bandwidth + bool(moved) * self.costs.step_seconds
        return self.trips[tag].mean * (body + copied)

    def _count(self, run: PipelineCost, tag: str) -> None:
        """Adds up the copies of all executions of a loop."""
        times = self._executions(self._around(tag))
        self._copied[tag] = PipelineCost(*(getattr(run, name) * times for name in PipelineCost.__dataclass_fields__))

    def _loops(self, parent: str | None) -> list[str]:
        """The loops directly inside of another, or of a step."""
        return [tag for tag in self._all_loops if self._innermost(self._around(tag)) == parent]

    @cached_property
    def _all_loops(self) -> list[str]:
        return list(dict.fromkeys(tag for path in self.launch.paths for tag in path if tag not in self._depth))

    def _around(self, loop: str) -> tuple[str, ...]:
        path = next(path for path in self.launch.paths if loop in path)
        return path[: path.index(loop)]

    @cached_property
    def _all_work(self) -> Mapping[Path, Cycles]:
        return self.launch.work(self._versions, {tag: loop.unroll for tag, loop in self.plan.loops.items()})

    @cached_property
    def _versions(self) -> Mapping[str, LoopVersions]:
        """The versions of loops, in cells that are versioned."""
        return self.launch.versions if has_versions(self.model, self.plan) else {}

    def _work(self, loop: str | None) -> list[tuple[Path, Cycles]]:
        """The work directly in a loop, or in a step, by its place."""
        return [(path, done) for path, done in self._all_work.items() if self._innermost(path) == loop]

    def _innermost(self, path: Sequence[str]) -> str | None:
        return next((tag for tag in reversed(path) if tag not in self._depth), None)

    def _depth_of(self, path: Sequence[str]) -> int:
        return max((self._depth[tag] for tag in path if tag in self._depth), default=-1)

    def _executions(self, path: Sequence[str]) -> Number:
        """How often one core comes to a place."""
        depth = self._depth_of(path)
        around = (*self.plan.order[: depth + 1], *(tag for tag in path if tag not in self._depth))
        return prod((self.trips[tag].mean for tag in around), start=1)

    def _picks(self, loop: str | None, turning: int) -> Cycles:
        """What picking from another buffer takes, and starting copies row by row."""
        total = Cycles()
        for buffer in self._picking:
            for access in self.blocks.accesses(buffer):
                if self._innermost(access.path) == loop and self._depth_of(access.path) >= turning:
                    lanes = [value(n, self.sizes) for n in access.relation.lanes]
                    total = total + picked(buffer, lanes, self.launch, self.blocks)
        return total

    @cached_property
    def _picking(self) -> list[Buffer]:
        """The buffers whose accesses take more than the copies of blocks."""
        return [one for one in self.plan.buffers if one.kind in (*ROWS, "one_hot", "pick")]

    # Sums over the launch.

    def _all_cycles(self) -> Cycles:
        parts = (done * self._executions(path) for path, done in self._all_work.items())
        return sum(parts, Cycles())

    def _written(self, loop: str | None) -> Number:
        """The slots of bundles that libtpu fills for a visit of a loop or a step; loops copy rows.

        One of each unit a cycle, and of matrix units of 128 columns one for two passes: 65,536 cycles compile in 2 s.
        """
        work = total(self._work(loop))
        inner = (self._together(tag) * self._written(tag) for tag in self._loops(loop))
        return work.mxu * self.costs.mxu_size / _WIDE_UNIT + work.vectors(1.0) + sum(inner, 0)

    def _all_between(self) -> Number:
        """Seconds between the visits of all loops in the kernel."""
        paths = ((tag, (*self._around(tag), tag)) for tag in self._all_loops)
        times = ((tag, self._executions(path)) for tag, path in paths)
        return sum((many * self._between(total(self._work(tag)), tag) for tag, many in times), 0)

    def _scalar_bytes(self) -> Number:
        return sum((self.blocks.array_size(one.operand) for one in self.plan.buffers if one.kind in SCALAR), 0)
