"""Outputs that are only written: what each way of handing them to a TPU kernel costs, by the no-hardware compiler.

    python benchmarks/output_only.py [--json] [--chip NAME] [--size ragged|real] [NAME …]

First the exponential of 104,857,600 f32 in 50 blocks, in four ways (the config's ``output_only``), the first of them
twice:

| way | the output is |
|---|---|
| ``off, default limit`` | as ``off``, with no more VMEM than a kernel has unless it asks |
| ``off`` | an operand, whose blocks are copied to VMEM and whose buffer the result takes over |
| ``donate`` | an operand that stays in HBM, whose buffer the result takes over |
| ``return`` | no operand: the call makes it |
| ``swap`` | as ``return``; a caller's own tensor takes over its storage |

Then kernels that people write, before (``off``) and after (``return``). ``kernel_cycles`` and ``hlo_cycles`` are the
compiler's own estimates for the kernels and for the operations around them; ``worse`` lists kernels for which any
number grew. All of it is compiled side by side in one run; nothing is executed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from support import emit

import kopt
from examples.exp import exp
from examples.registry import DTYPES, EXAMPLES, Example
from kopt.lowered import Lowered
from kopt.runtime.tpu_report import compile_report
from kopt.specs import spec_of
from kopt.targets.chips import TPU_CHIPS

ELEMENTS, BLOCKS = 104_857_600, 50
WAYS = ("off", "donate", "return", "swap")
FALLBACK = "v6e"
DEFAULT_LIMIT = re.compile(r",? *vmem_limit_bytes=\d+")
REVIEWED = ("exp", "add", "softmax_two_pass", "welford", "attention", "bmm", "geglu", "dropout", "swiglu")
#: Facts of which less is better.
COSTS = ("arguments", "aliases", "temp_bytes", "hlo_ops", "vmem_bytes", "kernel_cycles", "hlo_cycles")
COLUMNS = {
    "kernel": "",
    "output_only": "",
    "chip": "",
    "arguments": ",",
    "aliases": ",",
    "arg_bytes": ",",
    "temp_bytes": ",",
    "vmem_bytes": ",",
    "hlo_ops": "",
    "kernel_cycles": ",",
    "hlo_cycles": ",",
    "problem": "",
}


def measure(kernel: str, low: Lowered, way: str, chip: str, cycles: bool = True) -> dict[str, Any]:
    """One row: what the compiler says of a lowered kernel, and what its calls take.

    Without ``cycles`` the compiler is not asked for them, which takes it most of the time.
    """
    specs = [*low.signature.specs, *(spec_of(value) for value in low.hidden)]
    facts = compile_report(low.source, low.entry, specs, TPU_CHIPS[chip], (), profile=cycles)
    launches = facts.get("kernels", [])
    taken = [launch.get("libtpu_cycles") for launch in launches]
    vmem = [launch["vmem_bytes"] for launch in launches if launch.get("vmem_bytes") is not None]
    return {
        "kernel": kernel,
        "output_only": way,
        "chip": chip,
        **calls_of(low),
        **{key: facts.get(key) for key in ("arg_bytes", "alias_bytes", "temp_bytes", "hlo_ops", "hlo_cycles")},
        "vmem_bytes": max(vmem, default=None),
        "kernel_cycles": sum(taken) if taken and None not in taken else None,
        "problem": None if facts["legal"] else facts["reason"],
    }


def calls_of(low: Lowered) -> dict[str, int]:
    """How many arrays the kernel's calls take and how many of them they give up to a result."""
    from kopt.dialects.pallas import CallOp

    module = kopt.parse(low.stages()[-1][1])
    calls = [op for op in module.walk() if isinstance(op, CallOp)]
    aliases = sum(operand >= 0 for call in calls for operand in call.aliased)
    return {"arguments": sum(len(call.inputs) for call in calls), "aliases": aliases}


def exponential(chip: str, cycles: bool = True) -> list[dict[str, Any]]:
    """The rows of the stages of one elementwise kernel, with ``cycles`` where they are asked for."""
    rows = []
    for way in WAYS:
        config = {"block_sizes": [ELEMENTS // BLOCKS], "output_only": way}
        low = exp.lower(f"f32[{ELEMENTS}]", target=f"pallas:{chip}", config=config)
        if way == "off":
            modest = replace(low, source=DEFAULT_LIMIT.sub("", low.source))
            rows.append(measure("exp, stages", modest, "off, default limit", chip, cycles))
        rows.append(measure("exp, stages", low, way, chip, cycles))
    return rows


def compare(example: Example, size: str, chip: str) -> list[dict[str, Any]]:
    """The rows of one example; on `FALLBACK` where the chip's compiler gives up before it has estimated the cycles."""
    rows = before_and_after(example, size, chip)
    if any(row["kernel_cycles"] is None for row in rows):
        rows = before_and_after(example, size, FALLBACK)
    return rows


def before_and_after(example: Example, size: str, chip: str) -> list[dict[str, Any]]:
    """The rows of one example on one chip."""
    args = example.make_args(size, DTYPES["f32"])
    rows = []
    for way in ("off", "return"):
        config = {**example.sizes[size].config, "output_only": way}
        low = example.kernel.lower(*args, target=f"pallas:{chip}", config=config)
        rows.append(measure(example.name, low, way, chip))
    return rows


def is_worse(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The costs that grew."""
    return [key for key in COSTS if None not in (_cost(before, key), _cost(after, key))
            and _cost(after, key) > _cost(before, key)]  # fmt: skip


def _cost(row: dict[str, Any], key: str) -> Any:
    value = row[key]
    return len(value) if isinstance(value, list) else value


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"examples (default: {' '.join(REVIEWED)})")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--chip", default="tpu7x", choices=sorted(TPU_CHIPS))
    parser.add_argument("--size", default="real", choices=("tiny", "ragged", "real"))
    options = parser.parse_args(argv)
    examples = {example.name: example for example in EXAMPLES}
    pairs = [compare(examples[name], options.size, options.chip) for name in options.names or REVIEWED]
    worse = {after["kernel"]: grown for before, after in pairs if (grown := is_worse(before, after))}
    stages = exponential(options.chip)
    rows = [*stages, *(row for pair in pairs for row in pair)]
    for row in rows:
        row["hlo_ops"] = " ".join(row["hlo_ops"] or []) or None
    emit({"rows": rows, "worse": worse or "none"}, options.json, COLUMNS)


if __name__ == "__main__":
    main()
