"""What things cost on a chip: the constants of the cost model (`kopt.planning.cost`), each with its source.

Of TPUs the constants of a step are fitted to published device times of grouped products, on one half of their shapes,
and judged on the others; of chips that are not in those tables, and of GPUs, they are not fitted: ``fitted`` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt.targets.chips import TpuChip

#: Passes of the matrix unit for one product: f32 is split into three bf16 parts, six products of which count.
_PASSES: Mapping[str, float] = {"f32": 6.0, "bf16": 1.0, "f16": 1.0}
_HALF = {"i8": 0.5, "ui8": 0.5}
_EIGHTS = {"f8E4M3FN": 0.5, "f8E5M2": 0.5}


@dataclass(frozen=True)
class TpuCosts:
    """The constants of a step of ``max(C, D / (eb · BW)) + ov``.

    ``flops_per_cycle`` and ``mxu_size`` are of one core; ``bytes_per_second`` is of the ``cores`` that one launch may
    have: two where JAX joins them, since it takes each core of others for a device. ``passes`` are those of the matrix
    unit by dtype. ``step_cycles`` are those of a step beside its products, ``mxu_share`` (em), ``hbm_share`` (eb) what
    of the peaks is had, ``vector_share`` what of `VECTOR_CYCLES`, ``step_seconds`` (ov), and ``store_cycles`` (a) those of 1024 elements of a finished block.
    """

    flops_per_cycle: int
    mxu_size: int
    clock_hz: float
    bytes_per_second: float
    cores: int = 1
    mxu_share: float = 1.0
    hbm_share: float = 0.9
    step_seconds: float = 0.35e-6
    store_cycles: float = 1.0
    step_cycles: float = 330.0
    vector_share: float = 1.0
    fitted: bool = False
    passes: Mapping[str, float] = field(default_factory=lambda: _PASSES)


# Flops a cycle are the published bf16 peak over the clock, a core's. Bandwidth is the published one, of all its cores.
TPU_COSTS: Mapping[str, TpuCosts] = {
    "tpu7x": TpuCosts(524288, 256, 2.2e9, 3.69e12, 1, 0.85, 0.8, 0.35e-6, 0.0, fitted=True, passes=_PASSES | _EIGHTS),
    "v6e": TpuCosts(524288, 256, 1.75e9, 1.64e12, passes=_PASSES | _HALF),
    "v5p": TpuCosts(131072, 128, 1.75e9, 2.765e12, 2, 1.0, 0.6, 0.0, 1.0, fitted=True, passes=_PASSES | _HALF),
    "v5e": TpuCosts(131072, 128, 1.5e9, 0.819e12, 1, 1.0, 0.8, 0.0, 1.0, fitted=True, passes=_PASSES | _HALF),
    "v4": TpuCosts(131072, 128, 1.05e9, 1.23e12, 2),
}

#: Cycles of 1024 elements (a vector register of 32 bits) for one operation of a class. Two slots in use of a bundle's
#: four, one for transcendentals: with these attention forward comes out as measured on v7x, where it bounds the time.
VECTOR_CYCLES: Mapping[str, float] = {
    "elementwise": 0.5,
    "transcendental": 1.0,
    "reduction": 0.5,
    "layout": 1.0,
    "scan": 8.0,
    "running_sum": 3.0,
    "sort": 64.0,
    "random": 1.0,
}
#: Products of a running sum by the matrix unit: of the numbers' parts, and two that find infinities and NaNs.
RUNNING_SUM_PRODUCTS: Mapping[str, int] = {"bf16": 3, "f32": 5}
#: Cycles of a vector register that a loop in the kernel hands on in VMEM: its store, which nothing hides. By libtpu's
#: bundles of products of 256 to 1,024 rows and columns on v6e; as a dimension of the grid the loop has none.
CARRY_CYCLES = 1.0
#: Cycles of a visit to a loop in the kernel beside its work, by the same bundles.
VISIT_CYCLES = 100.0
#: Cycles to start one copy of a row: libtpu's bundles for each of the 32 that a visit of the loop starts, whose numbers
#: are clamped to the array (v6e, rows of 4 KiB).
ROW_CYCLES = 10.0


def tpu_costs(chip: TpuChip) -> TpuCosts:
    """The constants of a chip."""
    return chip.costs or TPU_COSTS[chip.name]


@dataclass(frozen=True)
class GpuCosts:
    """The constants of a model of GPUs, from vendors' documents; none is fitted.

    ``flops`` are dense 16-bit products with f32 sums, ``vector_flops`` those of f32, a second; ``threads`` and
    ``programs`` what one multiprocessor holds at once. ``mma_rows`` are those of the matrix unit's own tile, products
    of fewer rows have ``small_share`` of its rate. ``latency_seconds`` is that of memory, ``program_seconds`` what a
    program takes beside its work, ``dispatch_seconds`` a multiprocessor to be given one, ``launch_seconds`` an empty
    kernel.
    """

    multiprocessors: int
    flops: float
    vector_flops: float
    clock_hz: float
    l2_bytes: int
    l2_bytes_per_second: float
    threads: int = 2048
    programs: int = 32
    mma_rows: int = 16
    small_share: float = 1.0
    hbm_share: float = 0.85
    mma_share: float = 0.75
    latency_seconds: float = 0.8e-6
    program_seconds: float = 0.7e-6
    dispatch_seconds: float = 0.1e-6
    launch_seconds: float = 3e-6
    fitted: bool = False

    def multiplied(self, dtype: str) -> float:
        """Operations of products of a dtype, a second. f32 is multiplied exactly, by the vector units."""
        return self.vector_flops if dtype == "f32" else self.flops * _GPU_RATES.get(dtype, 1.0)


#: Shares of the peak of 16-bit products, by dtype.
_GPU_RATES = {"f64": 1 / 16, "i8": 2.0, "f8E4M3FN": 2.0, "f8E5M2": 2.0}
#: Instructions of one lane for an operation of a class; those of special functions are had at a quarter of the rate.
GPU_INSTRUCTIONS: Mapping[str, float] = {
    "elementwise": 1.0,
    "transcendental": 6.0,
    "reduction": 1.5,
    "layout": 1.0,
    "scan": 8.0,
    "running_sum": 8.0,
    "sort": 64.0,
    "random": 20.0,
}
_MiB = 1024 * 1024
# Multiprocessors, dense 16-bit peak, f32 peak, clock, second-level cache and its bandwidth, of the largest published
# part of each architecture.
GPU_COSTS: Mapping[str, GpuCosts] = {
    "sm75": GpuCosts(40, 65e12, 8.1e12, 1.59e9, 4 * _MiB, 1.3e12, 1024, 16),
    "sm80": GpuCosts(108, 312e12, 19.5e12, 1.41e9, 40 * _MiB, 4.5e12),
    "sm86": GpuCosts(82, 71e12, 35.6e12, 1.7e9, 6 * _MiB, 2.0e12, 1536, 16),
    "sm89": GpuCosts(128, 165e12, 82.6e12, 2.52e9, 72 * _MiB, 5.0e12, 1536, 24),
    "sm90": GpuCosts(132, 989e12, 67e12, 1.83e9, 50 * _MiB, 6.5e12, mma_rows=64, small_share=0.6),
    "sm100": GpuCosts(148, 2250e12, 80e12, 1.96e9, 126 * _MiB, 12e12, mma_rows=128, small_share=0.4),
    "sm103": GpuCosts(148, 2500e12, 80e12, 1.96e9, 126 * _MiB, 12e12, mma_rows=128, small_share=0.4),
    "sm120": GpuCosts(170, 210e12, 105e12, 2.41e9, 96 * _MiB, 7.0e12, 1536, 24),
    "gfx90a": GpuCosts(104, 181e12, 22.6e12, 1.7e9, 8 * _MiB, 3.5e12),
    "gfx942": GpuCosts(304, 1307e12, 163e12, 2.1e9, 256 * _MiB, 12e12),
    "gfx950": GpuCosts(256, 2300e12, 157e12, 2.4e9, 256 * _MiB, 14e12),
    "gfx1100": GpuCosts(96, 123e12, 61e12, 2.5e9, 96 * _MiB, 3.5e12),
}
