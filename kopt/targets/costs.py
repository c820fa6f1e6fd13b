"""What things cost on a chip: the constants of the cost model (`kopt.planning.cost`).

They are data: ``kopt/targets/constants`` has a file a family, with the source and the fit of each chip's, and a user's
file stands over it (`kopt.targets.constant_files`). Constants that are not fitted to device times say so (``fitted``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

from kopt.errors import ConfigError
from kopt.targets.chips import Chip, GpuChip, TpuChip
from kopt.targets.constant_files import ChipConstants, own, users

#: Passes of the matrix unit for one product: f32 is split into three bf16 parts, six products of which count.
_PASSES: Mapping[str, float] = {"f32": 6.0, "bf16": 1.0, "f16": 1.0}


@dataclass(frozen=True)
class TpuCosts:
    """The constants of a step of ``max(C, D / (eb · BW)) + ov``.

    ``flops_per_cycle`` and ``mxu_size`` are of one core; ``bytes_per_second`` is of the ``cores`` that one launch may
    have: two where JAX joins them, since it takes each core of others for a device. ``passes`` are those of the matrix
    unit by dtype. ``step_cycles`` are those of a step in which no unit works, ``step_seconds`` (ov) what the hardware
    takes for one, ``store_cycles`` (a) those of 1024 elements of a finished block. What of the peaks is had are
    ``mxu_share`` (em), ``hbm_share`` (eb), ``vector_share`` of `VECTOR_CYCLES`, and ``host_share`` of the bandwidth
    for passes around kernels. ``narrow_cycles`` are those of an operation on a register of bf16, ``spread_cycles``
    those of eight lanes of a vector that become rows, ``e4m3_cycles`` those of 1024 elements converted ``to`` and
    ``from`` float8_e4m3fn, where a chip has no instruction for it. Defaults are one set for chips that nothing was
    measured on.
    """

    flops_per_cycle: int
    mxu_size: int
    clock_hz: float
    bytes_per_second: float
    cores: int = 1
    mxu_share: float = 0.95
    hbm_share: float = 0.75
    step_seconds: float = 0.2e-6
    store_cycles: float = 0.2
    step_cycles: float = 330.0
    vector_share: float = 1.0
    narrow_cycles: float = 0.25
    spread_cycles: float = 7.0
    e4m3_cycles: Mapping[str, float] = field(default_factory=dict)
    host_share: float = 0.6
    fitted: bool = False
    passes: Mapping[str, float] = field(default_factory=lambda: _PASSES)


_Costs = TypeVar("_Costs", "TpuCosts", "GpuCosts")


def _table(family: str, kind: type[_Costs]) -> dict[str, _Costs]:
    """kopt's constants of a family, by chip."""
    return {chip: _costs(entry, kind) for chip, entry in own(family).items()}


def _costs(entry: ChipConstants, kind: type[_Costs]) -> _Costs:
    return kind(**entry.costs, fitted=entry.fit is not None)


#: kopt's constants of TPUs. Flops a cycle are the published bf16 peak over the clock, a core's; bandwidth is the
#: published one, of all its cores.
TPU_COSTS: Mapping[str, TpuCosts] = _table("tpu", TpuCosts)

#: Cycles of 1024 elements (a vector register of 32 bits) for one operation of a class, by libtpu's bundles
#: (`benchmarks/bundles.py`): a bundle has four slots of the vector unit, and one of the unit of transcendentals, which
#: runs beside it. Values are mostly laid out anew where they are used; a ``relayout`` moves lanes between rows of
#: registers. Random numbers are twenty rounds of ciphers.
#: A ``crossing`` combines the lanes of eight rows, in a unit of its own. It is fitted to device times; bundles of a
#: maximum have 1.4 (v6e) and 1.5 (v5p) a register more, of a sum besides 2.0 and 2.4 more.
VECTOR_CYCLES: Mapping[str, float] = {
    "elementwise": 0.25,
    "conversion": 0.25,
    "transcendental": 1.0,
    "reduction": 0.5,
    "crossing": 2.6,
    "selection": 0.5,
    "layout": 0.05,
    "relayout": 1.0,
    "scan": 8.0,
    "running_sum": 0.5,
    "running_total": 0.0,
    "sort": 64.0,
    "random": 116.0,
}
#: Products of a running sum by the matrix unit: of the parts of the numbers, and of what counts infinities and NaNs.
RUNNING_SUM_PRODUCTS: Mapping[str, int] = {"bf16": 2, "f32": 4}
#: Cycles of eight rows in which a block of lanes, of the matrix unit's width, takes what the blocks before it sum to;
#: and those that one block waits for another at least, however few their rows are. By libtpu's estimates of rows of
#: 2,560, in blocks of 128 to 1,024 rows.
RUNNING_BLOCK_CYCLES = 4.0
RUNNING_BLOCK_WAIT = 160.0
#: Cycles of a vector register that a loop in the kernel hands on in VMEM: its store, which nothing hides. By libtpu's
#: bundles of products of 256 to 1,024 rows and columns on v6e. Of a dimension of the grid it is vector work, which
#: products hide.
CARRY_CYCLES = 1.0
#: Seconds in which XLA pads a vector and gives each block a row of its own, however short it is. By its own estimates
#: 1.2 µs on v5e and 1.6 µs on v6e, of 75 elements in blocks of 64.
VECTOR_SECONDS = 1e-6
#: Cycles of a visit to a loop in the kernel beside its work, by the same bundles.
VISIT_CYCLES = 100.0
#: Where a product waits for another one of the same visit: the cycles from one to the other's results, as far as
#: nothing fills them (a visit of `delta_states` takes 603 bundles on v6e and 730 on v5e; its work is 64), and else the
#: share of what the units do beside each other in which they wait. By bundles that is 0.2 to 0.46 in attention. Of 0.2,
#: 0.35, 0.5 and 1.0, 0.35 ranks blocks best by device times of attention.
CHAIN_CYCLES = 450.0
CHAIN_SHARE = 0.35
#: The work of a visit of straight code that fills the waits of another one, where products bound both. By bundles of
#: attention in blocks of 512 rows and 256 or 512 columns on v5e, v5p and v6e each other visit takes 100 to 330 cycles
#: more than its work of 330 to 560; on device more work in a visit fills all.
FILLED_CYCLES = 650.0
#: Cycles to start one copy of a row: libtpu's bundles for each of the 32 that a visit of the loop starts, whose numbers
#: are clamped to the array (v6e, rows of 4 KiB).
ROW_CYCLES = 10.0
#: Cycles of a vector register in which one of the rows of 8 or 16 bits is picked that a copy brings (v6e, v5e, tpu7x):
#: all are widened, compared with the wanted one, and summed.
PICK_CYCLES = 5.0


def tpu_costs(chip: TpuChip) -> TpuCosts:
    """The constants of a chip: those of the user's file over its own."""
    return _over(chip.costs or TPU_COSTS[chip.name], chip.name)


def gpu_costs(chip: GpuChip) -> GpuCosts:
    """As `tpu_costs`."""
    return _over(chip.costs or GPU_COSTS[chip.name], chip.name)


def _over(costs: _Costs, chip: str) -> _Costs:
    entry = users().get(chip)
    if entry is None:
        return costs
    known = {field.name for field in fields(costs)} - {"fitted"}
    if unknown := sorted({*entry.costs} - known):
        notes = [f"there are {', '.join(sorted(known))}"]
        raise ConfigError(f"'{entry.file}': '{chip}' has no constant '{unknown[0]}'", notes=notes)
    return replace(costs, **entry.costs, fitted=entry.fit is not None)


def constants_of(chip: Chip) -> ChipConstants:
    """Where a chip's constants are from, for reports."""
    plugin = ChipConstants(f"the package that brings '{chip.name}'")
    mine = own("gpu" if isinstance(chip, GpuChip) else "tpu").get(chip.name, plugin)
    entry = users().get(chip.name)
    return mine if entry is None else entry.over(mine)


@dataclass(frozen=True)
class GpuCosts:
    """The constants of a model of GPUs, from vendors' documents, but where they are fitted.

    ``flops`` are dense 16-bit products with f32 sums, ``vector_flops`` those of f32, a second; ``issued`` instructions
    are issued in the time of one of these: two where f32 units need two cycles for a warp, and others work beside them.
    ``threads`` and ``programs`` are what one multiprocessor holds at once. ``mma_rows`` are those of the matrix unit's
    own tile, products of fewer rows have ``small_share`` of its rate. ``hbm_share``, ``mma_share``, ``issue_share`` and
    ``l2_share`` are what of the peaks is had. ``latency_seconds`` is that of memory, ``program_seconds`` what a program
    takes beside its work, ``dispatch_seconds`` a multiprocessor to be given one, ``launch_seconds`` an empty kernel.
    """

    multiprocessors: int
    flops: float
    vector_flops: float
    clock_hz: float
    l2_bytes: int
    l2_bytes_per_second: float
    threads: int = 2048
    programs: int = 32
    issued: float = 1.0
    mma_rows: int = 16
    small_share: float = 1.0
    hbm_share: float = 0.85
    mma_share: float = 0.75
    issue_share: float = 1.0
    l2_share: float = 1.0
    latency_seconds: float = 0.8e-6
    program_seconds: float = 0.7e-6
    dispatch_seconds: float = 0.1e-6
    launch_seconds: float = 3e-6
    fitted: bool = False

    def persistent_programs(self, threads: int, each: int | None = None) -> int:
        """Programs that share the cells of a launch: ``each`` for a multiprocessor, else as many as threads allow."""
        return self.multiprocessors * (each or min(self.programs, self.threads // threads))

    @property
    def instructions(self) -> float:
        """Instructions of one lane that are had, a second."""
        return self.issue_share * self.issued * self.vector_flops / 2

    def multiplied(self, dtype: str) -> float:
        """Operations of products of a dtype, a second. f32 is multiplied exactly, by the vector units."""
        return self.vector_flops if dtype == "f32" else self.flops * _GPU_RATES.get(dtype, 1.0)


#: Shares of the peak of 16-bit products, by dtype.
_GPU_RATES = {"f64": 1 / 16, "tf32": 0.5, "i8": 2.0, "f8E4M3FN": 2.0, "f8E5M2": 2.0}
#: Instructions of one lane for an operation of a class; those of special functions are had at a quarter of the rate.
GPU_INSTRUCTIONS: Mapping[str, float] = {
    "elementwise": 1.0,
    "conversion": 1.0,
    "transcendental": 6.0,
    "reduction": 1.5,
    "crossing": 0.0,
    "spread": 0.0,
    "selection": 2.0,
    "layout": 1.0,
    "relayout": 1.0,
    "scan": 8.0,
    "running_sum": 8.0,
    "running_total": 1.5,
    "sort": 64.0,
    "random": 20.0,
}
#: kopt's constants of GPUs: multiprocessors, dense 16-bit peak, f32 peak, clock, second-level cache and its bandwidth,
#: of the largest published part of each architecture.
GPU_COSTS: Mapping[str, GpuCosts] = _table("gpu", GpuCosts)
