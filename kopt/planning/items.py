"""What a plan of a launch costs: items, each in its own unit, not one sum."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from kopt.planning.trips import Number
from kopt.targets.budget import Budget


@dataclass(frozen=True)
class Cost:
    """What a launch takes; ``seconds`` in all. Of several candidates each item is an array.

    ``mxu_seconds`` and ``vpu_seconds`` are of one core, as if it did nothing else. ``overhead_seconds`` are of steps
    and visits of loops, in which no unit works, ``exposed_seconds`` of copies that nothing hides, ``host_seconds`` of
    passes over arrays around the kernel. ``cores`` is how many of the chip's take part. ``live_bytes`` are values
    beyond registers, beside the buffers of ``vmem_bytes``: what waits and has none, and what scratch memory carries.
    ``slots`` of bundles are those that libtpu fills for a cell: more take it longer. ``registers`` are those of a
    thread, and ``fits`` whether a GPU's program has enough of both. ``fitted``: the chip's constants are, to
    measurements.
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
    slots: Number | None = None
    smem_bytes: Number | None = None
    shared_bytes: Number | None = None
    registers: Number | None = None
    fits: Number | None = None
    waves: Number | None = None
    cores: Number | None = None
    fitted: bool = False

    @property
    def cell_bytes(self) -> Number | None:
        """Bytes of VMEM: buffers, and values that have no register."""
        if self.vmem_bytes is None or self.live_bytes is None:
            return None
        return self.vmem_bytes + self.live_bytes

    @property
    def counted_seconds(self) -> Number | None:
        """Seconds by which blocks and plans are compared: more, in proportion, where code is longer than it should be.

        libtpu takes 0.10 to 0.15 ms for a slot. A product in blocks of 1,024 has 16,640 of them for each cell.
        """
        if self.seconds is None or self.slots is None:
            return self.seconds
        return self.seconds * np.maximum(1.0, self.slots / Budget.SLOTS)


def chosen(which: np.ndarray, one: Cost, other: Cost) -> Cost:
    """Of each candidate the one cost or the other, as far as both are known."""
    names = [item.name for item in fields(Cost) if item.name != "fitted"]
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in names}
    known = {name: pair for name, pair in pairs.items() if not any(item is None for item in pair)}
    return replace(other, **{name: np.where(which, *pair) for name, pair in known.items()})
