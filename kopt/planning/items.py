"""What a plan of a launch costs: items, each in its own unit, not one sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kopt.planning.trips import Number


@dataclass(frozen=True)
class Cost:
    """What a launch takes; ``seconds`` in all. Of several candidates each item is an array.

    ``mxu_seconds`` and ``vpu_seconds`` are of one core, as if it did nothing else. ``overhead_seconds`` are of steps
    and visits of loops, in which no unit works, ``exposed_seconds`` of copies that nothing hides, ``host_seconds`` of
    passes over arrays around the kernel. ``cores`` is how many of the chip's take part. ``live_bytes`` are values
    beyond registers, beside the buffers of ``vmem_bytes``: what waits and has none, and what scratch memory carries.
    ``whole_bytes`` are the values of a cell that are alive at once, counted whole: a measure of the code that libtpu
    writes out for them, which takes no memory. ``registers`` are those of a thread, and ``fits`` whether a GPU's
    program has enough of both. ``fitted``: the chip's constants are, to measurements.
    """

    seconds: Number | None = None
    mxu_seconds: Number | None = None
    vpu_seconds: Number | None = None
    bytes_in: Number | None = None
    bytes_out: Number | None = None
    steps: Number | None = None
    overhead_seconds: Number | None = None
    exposed_seconds: Number | None = None
    host_seconds: Number | None = None
    host_bytes: Number | None = None
    vmem_bytes: Number | None = None
    live_bytes: Number | None = None
    whole_bytes: Number | None = None
    smem_bytes: Number | None = None
    shared_bytes: Number | None = None
    registers: Number | None = None
    fits: Number | None = None
    waves: Number | None = None
    cores: int | None = None
    fitted: bool = False

    @property
    def counted_bytes(self) -> Number | None:
        """Bytes by which blocks and plans of a TPU are bounded: buffers and values, counted whole where that is more.

        libtpu takes less for large values, but writes out more for them, and mostly needs no fewer cycles. With blocks
        that fit by what waits alone, nine examples at real size have 1.0 to 4.4 times the bundles: one takes 18 % fewer
        cycles, one 1 % more, and the others the same (v6e, libtpu 0.0.42). A plan of a product with two sums, in blocks
        of 2,048 rows, 512 and 512, kept libtpu busy for three minutes; one that fits so takes it a quarter of that.
        """
        if self.vmem_bytes is None or self.live_bytes is None or self.whole_bytes is None:
            return None
        return self.vmem_bytes + np.maximum(self.live_bytes, self.whole_bytes)
