"""The VMEM that kopt predicts for each launch, beside what libtpu takes.

    python benchmarks/vmem.py [--chip NAME] [--dtype NAME] [--json] [NAME …]

A row is a launch of the examples at the sizes of models, with what kopt chooses. ``buffers`` are windows, scratch
memory and blocks of pipelines, the least that libtpu can take; ``predicted`` counts what registers do not hold
besides, and ``error`` is its distance from ``libtpu``, what the compiler says of the kernel. Arrays are in HBM
(`support.hbm_arrays`). libtpu compiles every module for the chip; nothing is executed. A module that libtpu refuses is
exit status 1: what kopt chose itself always fits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from support import emit, median
from support.hbm_arrays import keep_arrays_in_hbm
from support.shapes import WIDE, arguments, subjects

import kopt
from examples.registry import DTYPES, EXAMPLES, Example
from kopt.analysis.vmem import buffer_bytes, vmem_bytes
from kopt.dialects.pallas import CallOp
from kopt.passes.pipelines import pipeline
from kopt.runtime.tpu_report import compile_report
from kopt.specs import spec_of
from kopt.targets.chips import TPU_CHIPS, TpuChip
from kopt.walk import walk

#: Predictions this close are right.
_CLOSE = 0.05
COLUMNS = {"example": "", "launch": "", "buffers": ",", "predicted": ",", "libtpu": ",", "error": "+.1%"}


def launches(example: Example, chip: TpuChip, dtype: str) -> Iterator[dict[str, Any]]:
    """The rows of an example; of one that is refused a row with the reason."""
    try:
        low = example.kernel.lower(*arguments(example, DTYPES[dtype]), target=f"pallas:{chip.name}")
    except kopt.KoptError as error:
        yield {"example": example.name, "refused": str(error).splitlines()[0]}
        return
    specs = [*low.signature.specs, *(spec_of(value) for value in low.hidden)]
    facts = compile_report(low.source, low.function, specs, chip, (), estimates=False)
    if not facts["legal"]:
        yield {"example": example.name, "refused_by_libtpu": facts["reason"]}
        return
    taken = {kernel["kernel"].rpartition(".")[0]: kernel["vmem_bytes"] for kernel in facts["kernels"]}
    for call in walk(kopt.run_pipeline(low.module.clone(), pipeline(low.target, low.config)), CallOp):
        name, predicted = call.sym_name.data, vmem_bytes(call, chip)
        libtpu = taken.get(name)
        error = predicted / libtpu - 1 if libtpu else None
        buffers = buffer_bytes(call)
        yield {
            "example": example.name,
            "launch": name,
            "buffers": buffers,
            "predicted": predicted,
            "libtpu": libtpu,
            "error": error,
        }


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How many predictions are close, and what was refused."""
    errors = [abs(row["error"]) for row in rows if row.get("error") is not None]
    close = sum(error <= _CLOSE for error in errors)
    refused = [row for row in rows if "refused" in row or "refused_by_libtpu" in row]
    return {
        "launches": len(errors),
        f"within {_CLOSE:.0%}": close,
        "share": close / len(errors) if errors else None,
        "median error": median(errors),
        "below buffers": sum(row["libtpu"] < row["buffers"] for row in rows if row.get("libtpu")),
        "problems": [f"{row['example']}: {row.get('refused') or row['refused_by_libtpu']}" for row in refused],
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [*(example.name for example in EXAMPLES), *WIDE]
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples (default: all)")
    parser.add_argument("--chip", default="v6e", choices=sorted(TPU_CHIPS))
    parser.add_argument("--dtype", default="bf16", choices=sorted(DTYPES))
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(argv)
    if unknown := set(options.names) - set(names):
        parser.error(f"no such example: {' '.join(sorted(unknown))}")
    keep_arrays_in_hbm()
    rows = []
    for example in subjects(options.names):
        print(example.name, "…", file=sys.stderr, flush=True)
        rows += launches(example, TPU_CHIPS[options.chip], options.dtype)
    emit({"rows": [row for row in rows if "launch" in row], **summary(rows)}, options.json, COLUMNS)
    return 1 if any("refused_by_libtpu" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
