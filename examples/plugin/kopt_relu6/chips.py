"""A GPU that kopt's table does not have: Jetson Orin, of compute capability 8.7."""

from dataclasses import replace

from kopt.targets.chips import GPU_CHIPS, KiB
from kopt.targets.costs import GPU_COSTS

# 16 multiprocessors, 8.5e13 dense 16-bit and 5.3e12 f32 operations a second, LPDDR5 of 204.8 GB/s: NVIDIA's data sheet.
SM87 = replace(
    GPU_CHIPS["sm86"],
    name="sm87",
    arch=87,
    shared_bytes=163 * KiB,
    hbm_bytes_per_second=2.05e11,
    costs=replace(GPU_COSTS["sm86"], multiprocessors=16, flops=8.5e13, vector_flops=5.3e12, clock_hz=1.3e9),
)
