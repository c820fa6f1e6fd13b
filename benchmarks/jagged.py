"""Jagged sum on TPU beside a version by hand, and beside the padded dense formulation, by the no-hardware compiler.

    python benchmarks/jagged.py [--json] [--chip NAME]

512 items of 256 columns and 10,240 rows in all, their lengths drawn in several ways, in tiles of 64 rows. ``cycles``
are the bundles of each loop of the compiled program times its real trips, every condition counted as taken;
``copied`` is what the kernel moves between memories; ``us`` the longer of the two times, which overlap, and what
the compiler estimates for operations around the kernel. It leaves out waiting: the version by hand fetches an item's
first tile while the item before it is summed, kopt's does so where the chip has one core.

``dense_us`` is what no kernel over items padded to the longest undercuts: reading all of them at the memory's
bandwidth. ``ratio`` compares kopt's ``us`` with the version's by hand. Nothing is executed.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from support import emit, jagged_by_hand_file, ratio

import kopt
import kopt.language as hl
from kopt.runtime.tpu_report import compile_report
from kopt.specs import parse_spec
from kopt.targets.chips import TPU_CHIPS, TpuChip

ITEMS, COLUMNS_OF_X, ROWS, TILE = 512, 256, 10_240, 64
ROW_BYTES = COLUMNS_OF_X * 4
SPECS = (f"f32[{ROWS},{COLUMNS_OF_X}]", f"i32[{ITEMS + 1}]")
COLUMNS = {
    "lengths": "",
    "kernel": "",
    "longest": ",",
    "bundles": ",",
    "in_tiles": ",",
    "cycles": ",",
    "copied": ",",
    "vmem_bytes": ",",
    "us": ".1f",
    "dense_us": ".1f",
}


def jagged_sum(x, offsets):
    """The sum of each item's rows."""
    items, columns = offsets.size(0) - 1, x.size(1)
    out = torch.empty([items, columns], dtype=x.dtype)
    for item, column in hl.tile([items, columns]):
        starts = offsets[item]
        total = hl.zeros([item, column], dtype=torch.float32)
        for k in hl.jagged_tile(offsets[item.index + 1] - starts):
            total = total + x[starts[:, None] + k.index[None, :], column].to(torch.float32).sum(1)
        out[item, column] = total.to(x.dtype)
    return out


def drawn(seed: int = 0) -> dict[str, np.ndarray]:
    """Lengths of all items, by how they are drawn."""
    random = np.random.default_rng(seed)
    spread = {name: random.multinomial(ROWS, random.dirichlet(np.full(ITEMS, alpha)))
              for name, alpha in (("mixed", 4.0), ("skewed", 0.2))}  # fmt: skip
    huge = np.full(ITEMS, 4)
    huge[ITEMS // 2] = ROWS - 4 * (ITEMS - 1)
    return {"even": np.full(ITEMS, ROWS // ITEMS), **spread, "one huge": huge}


def tiles(lengths: np.ndarray) -> int:
    """How many tiles of rows the items have in all: each begins at the group of 8 rows before its first."""
    ends = np.cumsum(lengths)
    begins = (ends - lengths) // 8 * 8
    return int(np.where(lengths > 0, -(-(ends - begins) // TILE), 0).sum())


def compiled(chip: TpuChip) -> dict[str, dict[str, Any]]:
    """What the compiler says of both kernels."""
    config = {"block_sizes": [1, COLUMNS_OF_X, TILE]}
    low = kopt.kernel(jagged_sum).lower(*SPECS, target=f"pallas:{chip.name}", config=config)
    by_hand: Path = jagged_by_hand_file()
    sources = {"kopt": (low.source, low.entry), "by hand": (by_hand.read_text(), by_hand.stem)}
    specs = [parse_spec(spec) for spec in SPECS]
    return {name: compile_report(source, entry, specs, chip, ()) for name, (source, entry) in sources.items()}


def cost(facts: Mapping[str, Any], lengths: np.ndarray, chip: TpuChip) -> dict[str, Any]:
    """One row: a compiled kernel at some lengths."""
    kernel = facts["kernels"][0]
    trips = {0: 1, 1: ITEMS, 2: tiles(lengths)}
    cycles = sum(loop["bundles"] * trips[loop["depth"]] for loop in kernel["loops"])
    copied = trips[2] * TILE * ROW_BYTES + ITEMS * ROW_BYTES
    busy = max(cycles / chip.clock_hz, copied / chip.hbm_bytes_per_second)
    return {
        "longest": int(lengths.max()),
        "bundles": kernel["bundles"],
        "in_tiles": sum(loop["bundles"] for loop in kernel["loops"] if loop["depth"] == 2),
        "cycles": cycles,
        "copied": copied,
        "vmem_bytes": kernel["vmem_bytes"],
        "us": 1e6 * (busy + facts["hlo_cycles"] / chip.clock_hz),
        "dense_us": 1e6 * int(lengths.max()) * ITEMS * ROW_BYTES / chip.hbm_bytes_per_second,
    }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--chip", default="tpu7x", choices=sorted(TPU_CHIPS))
    options = parser.parse_args(argv)
    chip = TPU_CHIPS[options.chip]
    facts = compiled(chip)
    problems = [f"{name}: {fact['reason']}" for name, fact in facts.items() if not fact["legal"]]
    rows = [{"lengths": name, "kernel": kernel, **cost(fact, lengths, chip)}
            for name, lengths in drawn().items() for kernel, fact in facts.items() if not problems]  # fmt: skip
    ratios = {row["lengths"]: ratio(row["us"], other["us"])
              for row, other in zip(rows[::2], rows[1::2], strict=True)}  # fmt: skip
    emit({"rows": rows, "ratio": ratios, "problems": problems}, options.json, COLUMNS)


if __name__ == "__main__":
    main()
