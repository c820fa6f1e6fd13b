"""Every example through Triton's compiler for every GPU of the table: what it refuses, and what it spills.

    python benchmarks/gpu_legality.py [--chip gfx942 …] [--json] [--dtype bf16] [NAME …]

The sizes are the registry's ``real`` and those of ``support/shapes.py``. A row is a chip, with the bytes that a thread
spills by example. No GPU is needed. The exit status is 1 where a kernel is refused.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from support import emit
from support.shapes import arguments, subjects

from examples.registry import DTYPES, Example
from kopt.targets.chips import GPU_CHIPS

Row = dict[str, Any]
COLUMNS = {"chip": "", "kernels": ",", "refused": ",", "spilling": ",", "spilled": ""}


def compiled(example: Example, dtype: str, chip: str) -> Row:
    """What Triton's compiler says of an example: ``spill_bytes``, or the ``reason`` of a refusal, kopt's own too."""
    try:
        low = example.kernel.lower(*arguments(example, DTYPES[dtype]), target=f"triton:{chip}")
        said = low.report(estimates=False)
    except Exception as error:  # any refusal counts
        return {"spill_bytes": 0, "reason": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"}
    reason = None if said["legal"] else str(said["reason"] or "not legal")
    return {"spill_bytes": said.get("spill_bytes") or 0, "reason": reason}


def measure(chip: str, examples: Sequence[Example], dtype: str) -> Row:
    """The row of a chip, and the ``problems`` of its refusals."""
    found = {}
    for example in examples:
        found[example.name] = compiled(example, dtype, chip)
        print(f"{chip}: {example.name} ({len(found)})", file=sys.stderr, flush=True)
    spilled = {name: said["spill_bytes"] for name, said in found.items() if said["spill_bytes"]}
    problems = [f"{chip}: {name}: {said['reason']}" for name, said in found.items() if said["reason"]]
    counts = {"kernels": len(found), "refused": len(problems), "spilling": len(spilled)}
    return {"chip": chip, **counts, "spilled": spilled, "problems": problems}


def options_of(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples or wider ones; all when left out")
    parser.add_argument("--chip", action="append", choices=list(GPU_CHIPS), help="all when left out")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--dtype", choices=DTYPES, default="bf16")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    options = options_of(argv)
    examples = list(subjects(options.names))
    rows = [measure(chip, examples, options.dtype) for chip in options.chip or GPU_CHIPS]
    problems = [problem for row in rows for problem in row.pop("problems")]
    if not options.json:
        rows = [row | {"spilled": ", ".join(f"{name} {size}" for name, size in row["spilled"].items())} for row in rows]
    emit({"rows": rows, "dtype": options.dtype, "problems": problems}, options.json, COLUMNS)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
