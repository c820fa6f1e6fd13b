"""What one program of a GPU's launch has of its multiprocessor: warps, stages, registers, shared memory. Pure.

Sizes are numbers, or arrays with one number for each candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kopt.cached_property import cached_property
from kopt.ir.atoms import Lane
from kopt.ir.launch_model import Factor, LaunchModel, ModelAccess, Work
from kopt.planning.gpu_tiles import GpuTiles, may_walk, operand_bits
from kopt.planning.launch_options import MMA_ROWS, copies, stages, warps
from kopt.planning.shared_products import are_together, converted, operands, spread
from kopt.planning.trips import Number, Sizes, max_of
from kopt.targets.budget import Budget
from kopt.targets.chips import GpuChip
from kopt.targets.costs import gpu_costs

#: Registers of a thread for addresses, masks and counters, at most; and as compilers have them without products.
_ADDRESSES, _FEW_ADDRESSES = 40, 16
#: The part of what is alive at once that has registers where there are no products: lanes are computed in turns. Both
#: are of the 57 launches of examples on sm90 without products: registers are off by 22 % on average, and were by 105 %.
_IN_TURNS = 0.5
#: Rows of a product that the matrix units of chips which have such read from shared memory by themselves.
_ASYNCHRONOUS_ROWS = 64
#: The architecture whose matrix unit reads operands of 8 bits row by row alone; later ones read them either way.
_PACKING = 90
#: Words of pointers for each lane of a block at a loaded place: one of 64 bits for eight numbers of 16.
_POINTERS = 2 / 8
#: Bytes of a row that are summed over at once, at most, where registers hold what is multiplied: a line of memory.
_SUMMED_BYTES = 128
#: Stages of a loop whose products fill the registers, at most.
_FULL_STAGES = 2


class GpuProgram(GpuTiles):
    """The programs of a launch at given sizes, with what its plan's ``options`` say of warps and stages.

    ``each`` are the programs that the launch has for a multiprocessor.
    """

    def __init__(
        self, model: LaunchModel, sizes: Sizes, options: Mapping[str, Any], chip: GpuChip, each: Number = np.inf
    ):
        super().__init__(model, sizes, chip)
        self._options, self._each = options, each
        self._warp_size = chip.warp_size

    @cached_property
    def warps(self) -> Number:
        """Its warps: those of the plan, else by its tiles."""
        if "warps" in self._options:
            return int(self._options["warps"])
        rows = max_of(self._value(work.dims[-3][1]) for work in self._products)
        sums, words = max_of(map(self._sums, self._paths)), max_of(map(self._words, self._model.live))
        return warps(self.largest_tile, sums, rows, words, self._budget.gpu.backend, self._each)

    @cached_property
    def stages(self) -> Number:
        """The stages of its loops: visits whose operands are shared at once; one of a plan that has no loop."""
        if "stages" in self._options:
            return int(self._options["stages"]) if self._loops else 1
        read, waiting = (max_of(map(of, self._paths)) for of in (self._read, self._waiting))
        staying = max_of(self._staying(path) + self._handed_on(path) for path in self._paths)
        programs = np.minimum(self._each, self.held_by_registers)
        chained = not self._model.chained.isdisjoint(self._paths)
        found = stages(read, waiting, self._budget, staying, programs, chained)
        if self.is_told:  # each visit of blocks ahead takes a stage more, for their places
            found = np.where(found > 2, np.minimum(2 * found - 1, self._budget.STAGES + 1), found)
        return np.where(self._is_full, np.minimum(_FULL_STAGES, found), found)

    @property
    def ahead(self) -> Number:
        """Visits whose loads are on their way beside a visit's work: those of all stages but one.

        On AMD's chips one at most: what is loaded ahead stands in registers. Places that a visit loads are on their way
        before what is there.
        """
        first = np.minimum(1, self.stages - 1)
        if self._budget.gpu.backend == "hip":
            return first
        return np.maximum(first, (self.stages - 1) // 2) if self.is_told else self.stages - 1

    @property
    def _is_full(self) -> Number:
        """Whether a visit's left operands fill the registers: addresses of more stages than two would spill.

        All of them come there while products wait for one another, and not the two steps that others have of them.
        """
        more = max_of(self._awaited(path) - self._squares(path) for path in self._paths) / self.threads
        return (not self._reads_itself) & (self._of_visit + more >= self._budget.COUNTED_REGISTERS)

    @property
    def _reads_itself(self) -> bool:
        """Whether the chip has matrix units that read shared memory."""
        return gpu_costs(self._budget.gpu).mma_rows > MMA_ROWS

    @property
    def few_rows(self) -> Number:
        """Whether products have fewer rows than a matrix unit needs to read its operands by itself."""
        return bool(self._products) and self._reads_itself & self._waits

    @cached_property
    def _waits(self) -> Number:
        """Whether products read their operands from registers, and loads wait for them."""
        if not self._reads_itself:
            return True
        return max_of(self._value(work.dims[-3][1]) for work in self._products) < _ASYNCHRONOUS_ROWS

    @cached_property
    def held_by_registers(self) -> Number:
        """Programs that a multiprocessor has threads and registers for."""
        costs, registers = gpu_costs(self._budget.gpu), np.minimum(self._usual_registers, 255) * self.threads
        most = np.minimum(costs.programs, costs.threads // self.threads)
        return np.maximum(1, np.minimum(most, self._budget.gpu.registers // registers))

    @property
    def _usual_registers(self) -> Number:
        """Registers that a compiler gives a thread, with nothing ahead; `registers` are those that it may need."""
        others = _FEW_ADDRESSES + _IN_TURNS * (self._of_visit - _ADDRESSES)
        return self._of_visit if self._products else np.ceil(others)

    @property
    def threads(self) -> Number:
        """Its threads."""
        return self.warps * self._warp_size

    @cached_property
    def shared_bytes(self) -> Number:
        """Bytes of the operands of products: every stage of what a visit loads, and what stays for all visits.

        What is multiplied around a loop has its memory beside that of the loop.
        """
        around = {path: [one for one in self._paths if one == path[: len(one)]] for path in self._paths}
        return max_of(sum(self._shared(one) for one in paths) for paths in around.values())

    def _shared(self, path: Sequence[str]) -> Number:
        """Bytes of the operands of one body."""
        sizes = [self._copies(load, waits) * self._bytes(load) for load, waits in self._brought(path)]
        in_turn = (path in self._model.chained) & (self._budget.gpu.backend == "hip") & (self.stages == 1)
        return np.where(in_turn, max_of(sizes), sum(sizes)) + self._staying(path)

    def _handed_on(self, path: Sequence[str]) -> Number:
        """Bytes of sums that become left operands, by way of shared memory on most of AMD's chips."""
        handed = [one for one in self._factors(path) if one.side == "lhs" and not (one.load or one.of or one.stays)]
        most = max_of(self._lanes(one.shape) * one.bits // 8 for one in handed)
        return most if self._budget.gpu.backend == "hip" else 0

    def shared_items(self) -> dict[str, int]:
        """Bytes of shared memory by operand: those of all stages of what visits load for their products."""
        found: dict[str, int] = {}
        for load, waits in (pair for path in self._paths for pair in self._brought(path)):
            found[load.operand] = found.get(load.operand, 0) + int(self._copies(load, waits) * self._bytes(load))
        return found

    @cached_property
    def _of_visit(self) -> Number:
        """Registers of a thread for one visit: its share of what is summed and multiplied, or is alive at once."""
        words = [
            self._sums(path) + self._computed(path) / 2 + self._multiplied(path) + self._conditions(path)
            for path in self._paths
        ]
        others = [live for live in self._model.live if live.path not in self._paths]
        words += [self._words(live, bool(self._products)) + self._carried(live.path) for live in others]
        return _ADDRESSES + max_of(words) / self.threads

    @cached_property
    def registers(self) -> Number:
        """Registers of a thread: those of a visit, and what comes ahead of others by way of them."""
        return self._of_visit + self.turned * np.maximum(0, self.stages - 1) / self.threads

    @cached_property
    def turned(self) -> Number:
        """Words of a visit that come by way of registers."""
        found = [(load, self._is_turned(load)) for path in self._paths for load, _ in self._brought(path)]
        return sum(np.where(turned, self._bytes(load) / 4, 0) for load, turned in found)

    @cached_property
    def walks(self) -> Number:
        """Whether it walks a dimension of a value that it does not hold."""
        shapes = [shape for live in self._model.live for shape, _ in live.values if may_walk(shape)]
        return max_of(map(self._rounded, shapes)) > self._budget.HELD_LANES

    def fits(self) -> Number:
        """Whether no register spills and shared memory holds its operands."""
        products = max_of(self._sums(path) for path in self._paths)
        wide = any(work.dtype in ("f32", "f64") for work in self._products)
        # Blocks at loaded places have pointers and masks beside their values.
        masked = any(one.address for path in self._paths for one in self._loads(path))
        held = np.where(products > 0, Budget.tile_lanes(True, wide) // (1 + masked), Budget.TILE_LANES)
        in_place = bool(self._products) and all(map(self._is_in_place, self._paths))
        own = self._budget.IN_PLACE_REGISTERS if in_place else self._budget.THREAD_REGISTERS
        counted = np.where(self._waits, self._budget.COUNTED_REGISTERS, own)
        each = self._budget.gpu.registers // self.threads
        return (
            (self.registers < np.minimum(counted, each))
            & (self.shared_bytes + max_of(map(self._handed_on, self._paths)) <= self._budget.staged)
            & (self.largest_tile <= held)
            & (self._reads_itself | (max_of(map(self._summed_bytes, self._products)) <= _SUMMED_BYTES))
            & (~np.asarray(self._is_full) | (self.stages <= _FULL_STAGES))
        )

    def _summed_bytes(self, product: Work) -> Number:
        """Bytes of a row that a product sums over at once, where that is open; else none."""
        k = self._value(product.dims[-2][1])
        return k * operand_bits(self._model, product) // 8 if np.ndim(k) else 0

    def _sums(self, path: Sequence[str]) -> Number:
        """Lanes of the results of all products of one body; those that add to another's sums have none of their own."""
        found = (work for work in self._products if work.path == path)
        every = sum(work.count * self._size((*work.dims[:-2], work.dims[-1])) for work in found)
        factors = self._factors(path)
        pairs = zip(factors[::2], factors[1::2], strict=True)
        return every - sum(self._lanes((*lhs.shape[:-1], rhs.shape[-1])) for lhs, rhs in pairs if lhs.adds)

    def _multiplied(self, path: Sequence[str]) -> Number:
        """Registers of operands that products read from there: 32 bytes of each row and column of a warp, twice.

        A warp has a square of the sums. Operands that are converted are there as a whole, in each warp that reads them;
        where products wait, one product's after the other's. Other numbers of 8 bits that become operands have one
        each, and so do those of right operands whose columns follow one another in memory, until they are packed row by
        row. Blocks at loaded places have pointers.
        """
        if self._budget.gpu.backend == "hip":
            return 0
        converting = (converted(self._model, one) for one in self._factors(path))
        products, whole = self._narrow(path), {load.id for load in converting if load}
        unpacked = sum(
            self._lanes(one.relation.lanes)
            for one in self._loads(path)
            if one.id not in whole
            and self._model.operand(one.operand).bits == 8
            and any(self._is_unpacked(one, work) for work in products)
        )
        pointers = sum(self._lanes(one.relation.lanes) for one in self._loads(path) if one.address) * _POINTERS
        operands = max_of(map(self._operands, products))
        if path not in self._model.chained:
            operands = self._squares(path) + sum(self._operands(one) - self._square(one) for one in products)
        return np.where(self._waits, operands + unpacked + pointers, 0)

    def _operands(self, product: Work) -> Number:
        """Registers of two steps' rows and columns of a product, or of all of them where these are converted."""
        found, square = operands(self._model, product), self._square(product)
        whole = [one for one in found if converted(self._model, one)]
        parts = sum(self._lanes(one.shape) * self.copies(one) for one in whole)
        in_turn = product.count if product.path in self._model.chained else 1
        return parts / in_turn + square * (1 - len(whole) / max(2, len(found)))

    def _is_converted(self, factor: Factor) -> Number:
        """Whether an operand is converted in the registers that a product reads."""
        return self._waits if self._budget.gpu.backend != "hip" and converted(self._model, factor) else False

    def copies(self, factor: Factor) -> Number:
        """How many warps have the same lanes of an operand that products read from registers; else one has."""
        product = next(work for work in reversed(self._products) if work.path == factor.path)
        if self._budget.gpu.backend == "hip":
            return 1
        rows, columns = (self._value(product.dims[dim][1]) for dim in (-3, -1))
        down, across = spread(rows, columns, self.warps, are_together(self._model, factor.path))
        return np.where(self._waits, across if factor.side == "lhs" else down, 1)

    def _square(self, product: Work) -> Number:
        sums = self._size((product.dims[-3], product.dims[-1]))
        return product.count * np.sqrt(sums / self.warps) * self.threads

    def _squares(self, path: Sequence[str]) -> Number:
        """Registers of two steps' rows and columns of the largest product."""
        return max_of(map(self._square, self._narrow(path)))

    def _awaited(self, path: Sequence[str]) -> Number:
        """Registers of the left operands that a visit loads, where its products wait for one another."""
        found = [one for one in self._factors(path) if one.side == "lhs" and one.load and path in self._model.chained]
        return sum(self._lanes(one.shape) * one.bits / 32 for one in {one.load: one for one in found}.values())

    def _is_unpacked(self, load: ModelAccess, product: Work) -> bool:
        """Whether a load's numbers are no left operand of a product as they are, nor a right one row by row."""
        (_, k), (_, n) = product.dims[-2:]
        if self._model.operand(load.operand).dtype != product.dtype:
            return len(load.relation.lanes) > 1
        if any(one.load == load.id and one.side == "lhs" for one in self._factors(load.path)):
            return False  # its rows may be as many as there are columns
        last = load.relation.indices[-1].atoms()
        return load.relation.lanes[-2:] == (k, n) and any(isinstance(atom, Lane) and atom.size == n for atom in last)

    def _conditions(self, path: Sequence[str]) -> Number:
        """Registers of conditions that are combined: one for each lane, where a single one would be a predicate.

        Two of them are alive beside what they make; beside a single one is at most what has its lanes elsewhere.
        """
        found = []
        for live in (live for live in self._model.live if live.path == path):
            shapes = [tuple(shape) for shape, bits in live.values if bits == 1]
            found += [self._lanes(shape) for shape in dict.fromkeys(shapes) if shapes.count(shape) > 2]
        return max_of(found)

    def _computed(self, path: Sequence[str]) -> Number:
        """Lanes of operands of products that stand in registers: those computed, and those at loaded places.

        Of NVIDIA's chips that read registers alone, those of which lanes begin there (`paged_attention` on sm80).
        Operands that sums become are narrowed where these were, where matrix units read the others by themselves.
        Those that are converted where they are read count there.
        """
        every = self._reads_itself or self._budget.gpu.backend == "hip"
        loads = [one for one in self._loads(path) if one.address and (every or one.is_shifted)]
        factors = [one for one in self._factors(path) if not (one.load or one.stays)]
        made = sum(np.where(self._is_converted(one), 0, self._lanes(one.shape)) for one in factors)
        narrowed = self._is_in_place(path) & ~np.asarray(self._waits)
        return sum(self._lanes(one.relation.lanes) for one in loads) + np.where(narrowed, 0, made)

    def _brought(self, path: Sequence[str]) -> list[tuple[ModelAccess, bool]]:
        """What one visit to a loop loads for its products, and whether threads read it first; nothing without a loop.

        Vectors are no operands, and what is packed row by row is not shared until it is.
        """
        if not self.is_pipelined(path):
            return []
        waits: dict[str, bool] = {}
        for factor in self._factors(path):
            for load in (factor.load, *factor.of):
                waits[load] = waits.get(load, False) or factor.waits or load != factor.load
        loads = [one for one in self._loads(path) if one.id in waits and len(one.relation.lanes) > 1]
        return [(one, waits[one.id]) for one in loads if not self._is_packed(one)]

    def _copies(self, load: ModelAccess, waits: bool) -> Number:
        """How often a load's block is shared; places that the same visit loads are known half of the stages ahead."""
        told = self._tells(load) and self._budget.gpu.backend != "hip"
        ahead = 1 + (self.stages - 1) // 2 if told else self.stages
        return np.where(self._is_turned(load), 1, copies(ahead, self._waits | waits))

    @property
    def is_told(self) -> bool:
        """Whether a visit loads places of blocks for its products, which copies into shared memory wait for."""
        told = any(self._tells(load) for path in self._paths for load, _ in self._brought(path))
        return told and self._budget.gpu.backend != "hip"

    def _tells(self, load: ModelAccess) -> bool:
        """Whether the same visit loads the place of a block."""
        return any(one.path == load.path for one in map(self._model.access, load.address))

    def _is_turned(self, load: ModelAccess) -> Number:
        """Whether a block comes by way of registers, since its columns are rows of a left operand that stands there.

        Right ones, and those that a matrix unit reads by itself, are read in shared memory as they are needed.
        """
        turned = any(one.turned and one.load == load.id for one in self._factors(load.path))
        return self._waits if turned and self._budget.gpu.backend != "hip" else False

    def _is_in_place(self, path: Sequence[str]) -> bool:
        """Whether sums of products become operands of others with no lanes beside them: nothing masks or packs any.

        Sums stand in registers where the matrix unit adds to those; elsewhere they are brought there.
        """
        masks = any(
            bits == 1 and shape for live in self._model.live if live.path == path for shape, bits in live.values
        )
        packed = any(operand_bits(self._model, work) < 16 for work in self._products if work.path == path)
        return self._budget.gpu.waits_for_sums and path in self._model.chained and not (masks or packed)

    def _is_packed(self, load: ModelAccess) -> bool:
        """Whether threads pack a right operand row by row, for a matrix unit that reads no other."""
        works = [work for work in self._products if work.path == load.path]
        as_is = any(factor.load == load.id for factor in self._model.factors)
        narrow = as_is and self._budget.gpu.arch == _PACKING and self._model.operand(load.operand).bits == 8
        return narrow and any(self._is_unpacked(load, work) for work in works)

    def _read(self, path: Sequence[str]) -> Number:
        """Bytes of a visit that matrix units read by themselves."""
        return sum(np.where(self._waits, 0, self._bytes(load)) for load, waits in self._brought(path) if not waits)

    def _waiting(self, path: Sequence[str]) -> Number:
        """Bytes of a visit that threads read first."""
        staged = [(load, waits) for load, waits in self._brought(path) if not np.any(self._is_turned(load))]
        return sum(np.where(self._waits | waits, self._bytes(load), 0) for load, waits in staged)

    def _staying(self, path: Sequence[str]) -> Number:
        """Bytes of operands that are shared once: no visit loads them as they are, or no loop is around them.

        Left operands that another product's sums become stand in registers.
        """
        brought = {load.id for load, _ in self._brought(path)}
        once = [one for one in self._factors(path) if one.load not in brought]
        once = [one for one in once if not np.any(self._is_converted(one))]
        shared = dict.fromkeys((one.load, one.shape, one.bits) for one in once if one.load)
        sizes = [*shared, *((one.side, one.shape, one.bits) for one in once if not one.load and self._is_shared(one))]
        return sum(self._lanes(shape) * bits // 8 for _, shape, bits in sizes)

    def _is_shared(self, factor: Factor) -> bool:
        """Whether an operand that no load brings is shared: sums of another product have the layout of left ones.

        On AMD's chips what stays for all visits stands in registers.
        """
        if self._budget.gpu.backend == "hip":
            return factor.side == "rhs" and not factor.stays
        return factor.stays or factor.side == "rhs" or bool(factor.of)
