"""The cost of a plan on a GPU: what bounds its programs, and what the last of them leave idle.

    seconds = max(issue, products, second-level cache, memory, dispatch, starts) + a share of the others + launch

It is twice that where a launch that moves more than 1 MB has fewer programs than multiprocessors. Issue, products and
the cache are had by multiprocessors that have a program; memory by as many bytes as are on their way at once. What is
not the bottleneck is hidden by other programs of a multiprocessor, or by pipelined loads. A program's blocks come from
the cache; those that programs of one wave share come once from memory. With a split there are so many times as many
programs, and a launch more for each reduction. On sm90 shares of peaks are fitted (`kopt.targets.constants`); on other
chips the model ranks block sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod

import numpy as np

from kopt.ir.atoms import Lane
from kopt.ir.launch_model import E4M3, Factor, LaunchModel, ModelAccess, Work
from kopt.planning.emitted_types import CONVERTED, emitted_types
from kopt.planning.gpu_program import GpuProgram
from kopt.planning.gpu_tiles import operand_bits
from kopt.planning.items import Cost
from kopt.planning.loaded import Contents, listed_changes
from kopt.planning.shared_products import converted
from kopt.planning.trips import Number, Sizes, UnknownError, all_trips, max_of, value
from kopt.plans.plan import Plan
from kopt.targets.budget import Budget
from kopt.targets.chips import GpuChip
from kopt.targets.costs import GPU_INSTRUCTIONS, gpu_costs

#: The part of what is not the bottleneck that nothing hides, at least.
_EXPOSED = 0.1
#: What a walk takes of the time of a program that holds its values: nothing is loaded ahead of a visit.
_WALKED = 1.1
#: The same of products that take their operands by way of registers, on chips that need not.
_FEW_ROWS = 1.05
#: Bytes of a piece of memory that is moved as a whole, and what a multiprocessor's shared memory gives in one cycle.
_SECTOR, _SHARED_BYTES = 64, 128
#: Bytes that a thread loads at once, at most, and the instructions of one such load.
_VECTOR, _ADDRESSING = 16, 8
#: Instructions that hand a word of two numbers on, from the registers of one visit to those of the next: 3.8 and 6.1
#: of a word of 16-bit numbers in loops of `matmul_backward` and `delta_states` with three stages (sm80, Triton 3.9).
_HANDED_ON = 5
#: Bytes of a launch that all multiprocessors should have a part of, and how much longer it takes where not all do: the
#: model has no idea of what else a program waits for, as one on a multiprocessor of its own does alone.
_WORK, _IDLE = 1 << 20, 2.0
#: Cycles of a visit to a loop of products beside its work: barriers and what the first instructions wait for.
_VISIT_CYCLES = 150


class GpuLaunch:
    """One plan at given sizes, numbers or arrays of them."""

    def __init__(
        self,
        model: LaunchModel,
        sizes: Sizes,
        plan: Plan,
        chip: GpuChip,
        lengths: Mapping[str, Sequence[int]],
        contents: Contents | None = None,
    ):
        model = emitted_types(model, chip)
        self.model, self.plan, self.chip, self.contents = model, plan, chip, contents or {}
        self.sizes: Sizes = {**model.sizes, **sizes}
        self.costs = gpu_costs(chip)
        self.trips = all_trips(model, self.sizes, lengths)
        self.split = dict(plan.options).get("split", 1)
        self._lanes_inside: dict[str, list[Number]] = {}
        self.program = GpuProgram(model, self.sizes, dict(plan.options), chip, self._each())

    def cost(self) -> Cost:
        """The items; memory only, where trips are not known."""
        memory = Cost(
            shared_bytes=self.program.shared_bytes, registers=self.program.registers, fits=self.program.fits()
        )
        try:
            return self._timed(memory)
        except UnknownError:
            return memory

    def _timed(self, memory: Cost) -> Cost:
        costs, cells = self.costs, self._cells()
        programs = cells * self.split
        held = self.occupancy()
        at_once = costs.multiprocessors * held
        started, slots = self._started(programs)
        together = self._together(started / costs.multiprocessors, held)
        reads = [access for access in self.model.accesses if access.mode != "store"]
        writes = [access for access in self.model.accesses if access.mode != "load"]
        read, written = (sum(self._fetched(one, at_once) for one in some) for some in (reads, writes))
        partial, launches = programs * self._partial_bytes(), len(self._split_reductions())
        written = written + partial
        busy = programs / (np.ceil(programs / slots) * slots)
        products, vectors = self._products(together), self._vectors()
        cached = sum(self._asked(one) for one in self.model.accesses)
        cached = cached / (costs.l2_share * costs.l2_bytes_per_second)
        on_their_way = np.minimum(programs, at_once) * self._in_flight(reads or writes)
        needed = costs.latency_seconds * self.chip.hbm_bytes_per_second
        hidden = np.minimum(1, np.maximum(1, on_their_way) / needed)
        bytes_per_second = costs.hbm_share * self.chip.hbm_bytes_per_second
        moved = (read + written) / (bytes_per_second * hidden)
        dispatched = np.ceil(started / costs.multiprocessors) * costs.dispatch_seconds
        begun = np.ceil(started / at_once) * costs.program_seconds / held
        parts = [*self._by_turns(products / busy, vectors / busy, together), cached / busy, moved, dispatched, begun]
        overhead, combined = (1 + launches) * costs.launch_seconds, partial / bytes_per_second
        slowest = max_of(parts)
        share = np.where(self.program.walks, _WALKED, 1) * np.where(self.program.few_rows, _FEW_ROWS, 1)
        ahead = np.where(products > 0, (1 + self._ahead(parts[0] * busy / cells)) ** 2, 1)
        exposed = np.maximum(_EXPOSED, 1 / (together * ahead))
        taken = share * slowest + exposed * (sum(parts) - slowest)
        idle = (programs < costs.multiprocessors) & (read + written > _WORK)
        return replace(
            memory,
            seconds=np.where(idle, _IDLE, 1) * (taken + combined + overhead),
            mxu_seconds=products,
            vpu_seconds=vectors,
            bytes_in=read + partial,
            bytes_out=written,
            steps=programs,
            overhead_seconds=overhead,
            waves=np.ceil(programs / at_once),
            cores=costs.multiprocessors,
            fitted=costs.fitted,
        )

    def _cells(self) -> Number:
        return np.maximum(1, prod(self.trips[tag].mean for tag in self.plan.order))

    def _each(self) -> Number:
        """Programs for a multiprocessor; without end where only a launch tells."""
        try:
            started, _ = self._started(self._cells() * self.split)
            return np.ceil(started / self.costs.multiprocessors)
        except UnknownError:
            return np.inf

    def _split_reductions(self) -> list[tuple[str, ...]]:
        """The paths of loops whose carried values are combined by a launch more."""
        if np.all(self.split == 1):
            return []
        paths = dict.fromkeys(one.path for one in self.model.work if one.unit == "carry")
        return [path for path in paths if set(path[:-1]) <= {*self.plan.order}]

    def _partial_bytes(self) -> Number:
        """What a cell writes of each part's results, and what is read again of them."""
        paths = self._split_reductions()
        return sum(4 * self._lanes(one) for one in self.model.work if one.unit == "carry" and one.path in paths)

    def _started(self, cells: Number) -> tuple[Number, Number]:
        """The programs that are started, and how many cells are computed side by side by equal shares.

        Programs that share more cells than they are have as many, but for one; others start where one has ended.
        """
        shared = dict(self.plan.options).get("programs")
        if not isinstance(shared, int):
            return cells, self.costs.multiprocessors
        return np.minimum(cells, shared), np.where(cells > shared, shared, self.costs.multiprocessors)

    def occupancy(self) -> Number:
        """Programs that one multiprocessor holds: by threads, by shared memory, by registers; at least one."""
        shared = self.chip.shared_bytes // np.maximum(1, self.program.shared_bytes)
        return np.maximum(1, np.minimum(self.program.held_by_registers, shared))

    def _together(self, each: Number, held: Number) -> Number:
        """Programs side by side, of ``each`` for a multiprocessor; at least one.

        Where products wait for one another these alone hide that, and the busiest multiprocessor is what takes time.
        """
        each = np.ceil(each) if self.model.chained else each
        return np.maximum(1, np.minimum(each, held))

    def _ahead(self, each: Number) -> Number:
        """Visits ahead that hide anything: in a recurrence of those that take so many seconds, until memory answers.

        ``each`` is the time of a program on all multiprocessors. A visit begins when the one before has ended.
        """
        ahead, loops = self.program.ahead, [set(path) - {*self.plan.order} for path in self.model.recurrent]
        if not loops:
            return ahead
        visits = max_of(prod(self.trips[tag].mean for tag in tags) for tags in loops)
        visit = each * self.costs.multiprocessors / np.maximum(1, visits)
        return np.minimum(ahead, np.maximum(1, np.ceil(self.costs.latency_seconds / np.maximum(visit, 1e-12))))

    def _by_turns(self, products: Number, vectors: Number, together: Number) -> list[Number]:
        """What the units take: in a recurrence one waits for the other, as far as programs ``together`` do not fill in.

        Loads ahead hide memory there, and nothing of what products wait for.
        """
        if not self.model.recurrent:
            return [products, vectors]
        return [np.maximum(products, vectors) + np.minimum(products, vectors) / together]

    # What multiprocessors do: seconds with all of them at work.

    def _vectors(self) -> Number:
        """Seconds of everything that is no product, with the instructions that load and store."""
        work = [one for one in self.model.work if one.unit not in ("carry", "product")]
        lanes = sum(GPU_INSTRUCTIONS[one.unit] * self._times(one) * self._lanes(one) for one in work)
        lanes = lanes + _ADDRESSING * sum(self._transfers(one) for one in self.model.accesses)
        return (lanes + self._converted_again() + self._handed_on()) / self.costs.instructions

    def _handed_on(self) -> Number:
        """Lanes of blocks that stand in registers for several visits: each hands all of them on, half word by half."""
        visits = max_of(self._times(one) for one in self.model.factors if one.turned)
        return np.where(self.program.stages > 2, _HANDED_ON * self.program.turned * visits, 0)

    def _converted_again(self) -> Number:
        """Lanes of operands that are converted in the registers that products read, in all warps but the first."""
        found: Number = 0
        for factor in self.model.factors:
            if load := converted(self.model, factor):
                of_bytes = self.model.operand(load.operand).dtype == E4M3 and not self.chip.e4m3
                each = CONVERTED if of_bytes else GPU_INSTRUCTIONS["conversion"]
                lanes = self.program.computed(factor.shape) * (self.program.copies(factor) - 1)
                found = found + each * self._times(factor) * lanes
        return found

    def _transfers(self, access: ModelAccess) -> Number:
        """Loads and stores of single threads: of neighbours that a thread has, up to 16 bytes at once."""
        bits = self.model.operand(access.operand).bits
        lanes = self.program.computed(access.relation.lanes)
        each = np.maximum(1, lanes / self.program.threads)
        vector = np.clip(np.minimum(each, self._run(access)) * bits / 8, bits / 8, _VECTOR)
        return self._times(access) * lanes * bits / 8 / vector

    def _lanes(self, work: Work) -> Number:
        return work.count * self.program.computed([size for _, size in work.dims])

    def _times(self, one: Work | ModelAccess | Factor) -> Number:
        """How often work is done, or an array accessed, in the whole launch."""
        return prod(self.trips[tag].mean for tag in one.path)

    def _products(self, together: Number) -> Number:
        """Seconds of products: of matrix units, or of the shared memory that feeds them.

        What a visit takes besides is hidden by the programs that run ``together`` on a multiprocessor.
        """
        work = [one for one in self.model.work if one.unit == "product"]
        cycles = sum(self._times(one) * one.count * (self._cycles(one) + _VISIT_CYCLES / together) for one in work)
        return cycles / (self.costs.clock_hz * self.costs.multiprocessors)

    def _cycles(self, work: Work) -> Number:
        *batch, m, k, n = (value(size, self.sizes) for _, size in work.dims)
        rate = self.costs.multiplied(work.dtype) / (2 * self.costs.clock_hz * self.costs.multiprocessors)
        rows = self.costs.mma_rows
        slower = np.where(m >= rows, 1.0, self.costs.small_share)
        multiplied = np.maximum(m, 16) * np.maximum(n, 8) * np.maximum(k, 16) / (rate * slower)
        groups = np.where(m >= rows, np.ceil(m / rows), np.maximum(1, self.program.warps // 2))
        lanes = k * (m + n * np.minimum(groups, self.program.warps))
        fed = lanes * operand_bits(self.model, work) / 8 / _SHARED_BYTES
        return prod(batch) * np.maximum(multiplied / self.costs.mma_share, fed)

    def least(self) -> dict[str, tuple[float, float]]:
        """Bytes that must be read and written of each array, as far as no loaded numbers tell which.

        Raises `UnknownError` where only a launch tells.
        """
        found: dict[str, tuple[float, float]] = {}
        for operand in self.model.operands:
            if operand.temporary:
                continue
            array = value(operand.elements, self.sizes) * operand.bits / 8
            accesses = [one for one in self.model.of(operand.name) if not one.address and one.condition is None]
            asked = [
                sum(self._times(one) * self._elements(one) for one in accesses if one.mode != left) * operand.bits / 8
                for left in ("store", "load")
            ]
            found[operand.name] = float(np.minimum(array, asked[0])), float(np.minimum(array, asked[1]))
        return found

    # Bytes.

    def _asked(self, access: ModelAccess) -> Number:
        """Bytes that all programs ask for, in whole sectors."""
        run = self._run(access)
        pieces = self._elements(access) / run
        bits = self.model.operand(access.operand).bits
        return self._times(access) * pieces * np.ceil(run * bits / 8 / _SECTOR) * _SECTOR

    def _elements(self, access: ModelAccess) -> Number:
        return prod(self._inside(access))

    def _inside(self, access: ModelAccess) -> list[Number]:
        """The lanes of each dimension of a block, at most those that its array has: the others are masked."""
        if access.id not in self._lanes_inside:
            self._lanes_inside[access.id] = self._limited(access)
        return self._lanes_inside[access.id]

    def _limited(self, access: ModelAccess) -> list[Number]:
        lanes = [value(size, self.sizes) for size in access.relation.lanes]
        for index, extent in zip(access.relation.indices, access.relation.shape, strict=True):
            (atom, *others) = [atom for atom in index.terms if isinstance(atom, Lane)] or [None]
            if atom is not None and not others and index.terms[atom] == 1:
                with suppress(UnknownError):
                    lanes[atom.dim] = np.minimum(lanes[atom.dim], value(extent, self.sizes))
        return lanes

    def _run(self, access: ModelAccess) -> Number:
        """Neighbouring elements of an access: its lanes along the last dimension, which lie one beside another."""
        terms = access.relation.indices[-1].terms if access.relation.indices else {}
        dims = [atom.dim for atom, factor in terms.items() if isinstance(atom, Lane) and factor == 1]
        inside = self._inside(access)
        return np.maximum(1, max_of(inside[dim] for dim in dims))

    def _fetched(self, access: ModelAccess, at_once: Number) -> Number:
        """Bytes between memory and the second-level cache, which keeps what the programs of one wave share.

        The parts of a split run beside each other: what all visits of the loop load alike comes once for all parts.
        """
        operand = self.model.operand(access.operand)
        array = value(operand.elements, self.sizes) * operand.bits / 8
        asked = self._asked(access)
        shared = np.minimum(at_once, self.split) if self._is_alike(access) else 1.0
        left = np.maximum(1, at_once / self.split)
        for tag, rows in self._beside():
            blocks = np.maximum(1, self.trips[tag].mean)
            alike = self._run_of_blocks(access, tag) if tag in access.moves else blocks
            shared = shared * np.minimum(np.maximum(1, left / rows), alike)
            left = np.maximum(rows, left / blocks)
        once = np.minimum(array, asked)
        return np.where(array <= self.costs.l2_bytes / 2, once, np.maximum(once, asked / shared))

    def _is_alike(self, access: ModelAccess) -> bool:
        """Whether all visits of the loop that may be dealt out load the same."""
        dealt = {axis.tag for axis in self.model.axes if "split" in axis.may}
        return not dealt.isdisjoint(access.path) and dealt.isdisjoint(access.moves)

    def _beside(self) -> list[tuple[str, Number]]:
        """The axes of cells, the fastest first, and how many rows of the next one run beside each of its blocks."""
        axes = self.plan.order[::-1]
        group = dict(self.plan.options).get("group", 1)
        rows = [np.minimum(group, np.maximum(1, self.trips[tag].mean)) for tag in axes[1:2]]
        return list(zip(axes, [*rows, *(1 for _ in axes)], strict=False))

    def _run_of_blocks(self, access: ModelAccess, tag: str) -> Number:
        """How many programs along an axis that an access moves with have the same block, by what its numbers are."""
        count = self.trips[tag].mean
        if not self.contents or not access.address or np.ndim(count) > 0:
            return 1
        changes = listed_changes(self.model, [access], tag, int(count), self.contents, self.sizes)
        return 1 if changes is None else len(changes) / max(1, int(changes.sum()))

    def _in_flight(self, accesses: Sequence[ModelAccess]) -> Number:
        """Bytes that one program waits for at once: of one body, and of the next visits where loops are pipelined."""
        paths = dict.fromkeys(access.path for access in accesses)
        ahead = np.maximum(1, self.program.ahead)
        found = []
        for path in paths:
            size = sum(
                np.minimum(self._elements(one), Budget.TILE_LANES) * self.model.operand(one.operand).bits / 8
                for one in accesses
                if one.path == path
            )
            found.append(size * (ahead if self.program.is_pipelined(path) else 1))
        return max_of(found)
