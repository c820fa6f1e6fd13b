"""From import to emitted source: this checkout beside another one, over all examples at their golden sizes.

    python benchmarks/compile_versions.py --against CHECKOUT [--json] [--repeats N] [--size SIZE] [NAME …]

A process for each checkout, with the examples of this one; the two take turns, so that a busy machine slows both, and
of each the least processor time of the repeats counts. Both are warm: each row was compiled before. ``chosen`` is
without a config, ``given`` with the block sizes that this checkout chooses. Ratios are this checkout's time over the
other's. No accelerator is needed, and no chip's compiler.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import ROOT, emit, median, ratio
from support.imported import imported

import kopt
from examples.registry import EXAMPLES, Example

TARGETS = ("pallas:v6e", "triton:sm90")
SIZES = ("tiny", "ragged", "real")
COLUMNS = {
    "example": "",
    "size": "",
    "target": "",
    "given_ms": ".1f",
    "given": ".2f",
    "chosen_ms": ".1f",
    "chosen": ".2f",
}


class Worker:
    """A checkout's compiler in a process of its own."""

    def __init__(self, checkout: Path):
        command = [sys.executable, str(ROOT / "benchmarks" / "support" / "compile_worker.py"), str(checkout)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *row: Any) -> float | None:
        """Milliseconds of one compilation."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(row), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def chosen_blocks(example: Example, size: str, target: str) -> list[int] | None:
    """The block sizes that this checkout chooses, or None where the kernel is refused."""
    try:
        return list(imported(example, size, target).config.block_sizes or ())
    except kopt.KoptError:
        return None


def measure(workers: list[Worker], example: Example, size: str, target: str, repeats: int) -> dict[str, Any] | None:
    """A row of the table: times of this checkout and ratios, with a config and without."""
    blocks = chosen_blocks(example, size, target)
    if blocks is None:
        return None
    row: dict[str, Any] = {"example": example.name, "size": size, "target": target}
    for key, config in (("given", blocks), ("chosen", None)):
        rounds = [[worker(example.name, size, target, config) for worker in workers] for _ in range(repeats + 1)]
        ours, theirs = (
            min(known) if (known := [t for t in times if t]) else None for times in zip(*rounds[1:], strict=True)
        )
        row |= {f"{key}_ms": ours, key: ratio(ours, theirs)}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples (default: all)")
    parser.add_argument("--against", type=Path, required=True, metavar="CHECKOUT", help="the other checkout")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--repeats", type=int, default=3, help="timed repeats of each row (default 3)")
    parser.add_argument("--size", action="append", choices=SIZES, help="default: all")
    options = parser.parse_args()
    examples = [example for example in EXAMPLES if not options.names or example.name in options.names]
    workers = [Worker(ROOT), Worker(options.against.resolve())]
    places = [(example, size, target) for example in examples for size in options.size or SIZES for target in TARGETS]
    rows = [row for place in places if (row := measure(workers, *place, options.repeats)) is not None]
    for worker in workers:
        worker.close()
    medians = {f"median_{key}": median([row[key] for row in rows]) for key in ("given", "chosen")}
    emit({"rows": rows, **medians}, options.json, COLUMNS)


if __name__ == "__main__":
    main()
