"""Atomic updates on a TPU: cycles of split reductions and scattered sums by formulation, by the no-hardware compiler.

    python benchmarks/atomics.py [--json] [--chip NAME] [split-k|scatter …]

``split-k`` is a matrix product with a long inner dimension: as it is, dealt out by the config's ``split_k`` (with
``deterministic`` in two launches), and with ``hl.atomic_add`` written by the author, each with every ``loop_type``.
``scatter`` is ``out[idx[i], :] += v[i, :]`` by each kind of buffer that its plan may say. ``auto`` is what kopt chooses
by itself; ``times_best`` says how many times as many cycles it takes as the best formulation of its group.

``kernel_cycles`` are the compiler's own estimates, a sum over a program's kernels; ``hlo_cycles`` those of what XLA
does around them. All of it is compiled side by side in one run; nothing is executed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from support import emit

import kopt
from examples.matmul import matmul
from examples.scatter_add import scatter_add
from examples.split_k import split_matmul
from kopt.analysis.entry import entry_function
from kopt.config import CHOICES
from kopt.errors import KoptError
from kopt.lowered import Lowered
from kopt.runtime.tpu_report import compile_report
from kopt.signatures import mutated_positions
from kopt.specs import spec_of
from kopt.targets.chips import TPU_CHIPS

#: Rows, inner extent and columns of the product, and the number of parts.
PRODUCT, SPLITS = (512, 8192, 512), 4
LOOP_TYPES = CHOICES["loop_type"]
#: Rows of the target, rows that are added, and columns.
SCATTERS = ((384, 256, 256), (384, 64, 256), (2048, 256, 256), (64, 1024, 128), (100_000, 64, 512))
KINDS = ("auto", "one_hot", "row_loop", "row_dma")
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
COLUMNS = {
    "group": "",
    "formulation": "",
    "kernel_cycles": ",",
    "hlo_cycles": ",",
    "times_best": ".2f",
    "vmem_bytes": ",",
    "problem": "",
}


def split_k(chip: str) -> Iterable[dict[str, Any]]:
    """The rows of the products, a group for each way to write one and each dtype."""
    m, k, n = PRODUCT
    ways: Mapping[str, tuple[kopt.Kernel, tuple[Any, ...], Mapping[str, Any]]] = {
        "not split": (matmul, (), {}),
        f"split_k={SPLITS}": (matmul, (), {"split_k": SPLITS}),
        f"split_k={SPLITS} deterministic": (matmul, (), {"split_k": SPLITS, "deterministic": True}),
        "hl.atomic_add": (split_matmul, (SPLITS,), {}),
    }
    for dtype, torch_dtype in DTYPES.items():
        args = [torch.empty(shape, dtype=torch_dtype, device="meta") for shape in ((m, k), (k, n))]
        for way, (kernel, more, config) in ways.items():
            for loop_type in LOOP_TYPES:
                group = f"{m}x{k}x{n} {dtype}, {way}"
                yield measure(group, loop_type, kernel, (*args, *more), chip, {**config, "loop_type": loop_type})


def scatter(chip: str) -> Iterable[dict[str, Any]]:
    """The rows of the scattered sums, a group for each size and dtype."""
    for rows, updates, width in SCATTERS:
        for dtype, torch_dtype in DTYPES.items():
            out, values = (torch.empty([n, width], dtype=torch_dtype, device="meta") for n in (rows, updates))
            numbers = torch.empty([updates], dtype=torch.int32, device="meta")
            for kind in KINDS:
                group = f"{rows}x{width} += {updates} rows {dtype}"
                config = {} if kind == "auto" else {"accesses": {"out": kind}}
                yield _estimated(measure(group, kind, scatter_add, (out, numbers, values), chip, config), updates)


def _estimated(row: dict[str, Any], updates: int) -> dict[str, Any]:
    """A row without its cycles where the compiler left out the loop: they are fewer than the updated rows."""
    cycles = row.get("kernel_cycles")
    return row if cycles is None or cycles >= updates else row | {"kernel_cycles": None}


def measure(
    group: str, formulation: str, kernel: kopt.Kernel, args: Sequence[Any], chip: str, config: Mapping[str, Any]
) -> dict[str, Any]:
    """One row: what the compiler says of a kernel, or why it is refused."""
    row: dict[str, Any] = {"group": group, "formulation": formulation}
    try:
        low = kernel.lower(*args, target=f"pallas:{chip}", config=config)
    except KoptError as error:
        return row | {"problem": error.message}
    return row | _facts(low, chip) | {"choice": _choice(low)}


def _facts(low: Lowered, chip: str) -> dict[str, Any]:
    """What the compiler says, where callers give up the arguments that change."""
    specs = [*low.signature.specs, *(spec_of(value) for value in low.hidden)]
    given_up = mutated_positions(entry_function(low.module, low.entry))
    facts = compile_report(low.source, low.entry, specs, TPU_CHIPS[chip], given_up)
    launches = facts.get("kernels", [])
    cycles = [launch.get("libtpu_cycles") or None for launch in launches]  # 0: the profile missed the kernel
    vmem = [launch["vmem_bytes"] for launch in launches if launch.get("vmem_bytes") is not None]
    return {
        "kernel_cycles": sum(cycles) if cycles and None not in cycles else None,
        "hlo_cycles": facts.get("hlo_cycles"),
        "vmem_bytes": max(vmem, default=None),
        "problem": None if facts["legal"] else facts["reason"].splitlines()[0],
    }


def _choice(low: Lowered) -> list[str]:
    """What the passes said of their choices."""
    return [remark.message for remark in low.remarks]


def judge(rows: Sequence[dict[str, Any]]) -> list[float]:
    """Fills in, for each group, how many times the cycles of the best its ``auto`` takes; gives these numbers."""
    found = []
    for chosen in [row for row in rows if row["formulation"] == "auto"]:
        cycles = [c for row in rows if row["group"] == chosen["group"] and (c := _total(row)) is not None]
        if (own := _total(chosen)) is not None:
            chosen["times_best"] = own / min(cycles)
            found.append(chosen["times_best"])
    return found


def _total(row: Mapping[str, Any]) -> int | None:
    """The cycles of a program: its kernels and what is around them."""
    kernels = row.get("kernel_cycles")
    return None if kernels is None else kernels + (row.get("hlo_cycles") or 0)


PARTS = {"split-k": split_k, "scatter": scatter}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {' '.join(PARTS)} (default: all)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--chip", default="v5e", choices=sorted(TPU_CHIPS))
    options = parser.parse_args(argv)
    rows = [row for part in options.parts or PARTS for row in PARTS[part](options.chip)]
    worst = max(judge(rows), default=None)
    emit({"rows": rows, "chip": options.chip, "worst_times_best": worst}, options.json, COLUMNS)


if __name__ == "__main__":
    main()
