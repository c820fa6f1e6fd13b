"""Every example's GPU code beside hand-written Triton kernels and Helion's default, by the compiler of a chip not here.

    python benchmarks/gpu_static.py [--chip sm90] [--json | --markdown] [--dtype bf16] [--version kopt] [NAME …]

The sizes are the registry's ``real`` and those of ``support/shapes.py``. A row is one version of a kernel, its launches
taken together: ``programs`` and ``occupancy`` of the least, ``registers`` of the most, SASS of all; ``--json`` has each
launch. ``loop`` counts the SASS of the innermost loop with the most matrix instructions, else of the longest;
``loop_per_work`` divides it by what a trip gets done: a warp's share of m64n64k16, or 16 bytes that a thread loads.
``waits`` is how often a trip waits for products that run beside it; its assembler may make it wait for each one.
``issue`` are the cycles in which the busiest multiprocessor issues what all its programs execute, four instructions
each, over the share of its warps that fit, up to half of them: ``support/issue.py``. ``mma`` says which matrix
instructions there are; loads and stores are counted by their bits. ``moved`` is what the accesses of all programs ask
for, and what their threads spill, over what the arrays hold: lanes that a mask leaves out ask for nothing. It is null
where a mask, a condition or the bounds of a loop hang on what arrays hold (`support/trips.py`). ``moved_busiest`` is
the same if all multiprocessors asked for as much as the one with the most programs. ``idle`` are the multiprocessors
without a program, of a launch whose arrays have more than 1 MB. Of AMD's chips what Triton's compiler says of a kernel
is known, and nothing of its loops.

``--config`` adds a version of kopt's with another configuration, as ``--config 'num_stages=3'``.

``ratios`` are kopt's figures over the best of the others. Nothing is executed, and what cannot be told is null.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import hand.triton as hand
from support import ROOT, emit, markdown
from support.shapes import arguments, base_name, subjects
from support.side_by_side import ratios, shown, together

from examples.registry import DTYPES, Example
from kopt.runtime.worker import Worker
from kopt.specs import TensorSpec, spec_of
from kopt.targets.chips import GPU_CHIPS
from kopt.tools.subject import parse_config

Row = dict[str, Any]
COLUMNS = {
    "example": "",
    "version": "",
    "blocks": "",
    "programs": ",",
    "idle": "",
    "warps": "",
    "stages": "",
    "registers": "",
    "spill_bytes": ",",
    "shared_bytes": ",",
    "occupancy": ".3f",
    "issue": ",.0f",
    "sass": ",",
    "loop": ",",
    "loop_per_work": ".1f",
    "waits": "",
    "mma": "",
    "tma": "",
    "loads": "",
    "stores": "",
    "moved": ".2f",
    "moved_busiest": ".2f",
}
SECONDS = 180
_PATHS = {"PYTHONPATH": f"{ROOT}:{ROOT / 'benchmarks'}", "TRITON_INTERPRET": None, "TRITON_DEFAULT_FP_FUSION": "1"}
_compiler, _helion = Worker("support.launches", _PATHS), Worker("support.helion_text", _PATHS)


def by_kopt(example: Example, dtype: str, chip: str, config: Mapping[str, Any] | None = None) -> Row:
    """What kopt emits with what it chooses, but for what a configuration says."""
    args = arguments(example, DTYPES[dtype])
    low = example.kernel.lower(*args, target=f"triton:{chip}", config=dict(config or {}))
    specs = (*low.signature.specs, *(spec_of(value) for value in low.hidden))
    return {**compiled(low.source, low.function, specs, chip), "blocks": low.config.block_sizes}


def by_hand(example: Example, dtype: str, chip: str, name: str) -> Row:
    """One of the hand-written kernels with the example's tensors."""
    specs = [spec_of(value) for value in arguments(example, DTYPES[dtype]) if hasattr(value, "shape")]
    return compiled(hand.source(name), name, tuple(specs), chip)


def by_helion(example: Example, dtype: str, chip: str) -> Row:
    """What Helion generates with its default configuration."""
    source, entry, specs, blocks = _helion.call("generated", example.name, dtype, chip, time_limit=SECONDS)
    return {**compiled(source, entry, specs, chip), "blocks": blocks}


def compiled(source: str, entry: str, specs: Sequence[TensorSpec], chip: str) -> Row:
    """A module's launches, and all of them together."""
    found = _compiler.call("compiled", source, entry, tuple(specs), chip, time_limit=SECONDS)
    return {**together(found["launches"]), **found}


def versions(example: Example, configs: Sequence[str] = ()) -> dict[str, Callable[..., Row]]:
    """Who makes code for an example, by name; kopt also with other configurations."""
    written = {f"hand {name}": partial(by_hand, name=name) for name in hand.HAND.get(base_name(example.name), ())}
    others = {f"kopt {text}": partial(by_kopt, config=parse_config(text.split())) for text in configs}
    return {"kopt": by_kopt, **written, "helion": by_helion, **others}


def measure(
    example: Example, dtype: str, chip: str, only: Sequence[str] = (), configs: Sequence[str] = ()
) -> list[Row]:
    """A row for each version, or for ``only`` some; one that is refused has a reason and no figures."""
    rows = []
    for name, make in versions(example, configs).items():
        if only and name.split()[0] not in only:
            continue
        try:
            row = make(example, dtype, chip)
        except Exception as error:  # any refusal is a row without figures
            row = {"legal": None, "reason": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"}
        rows.append({"example": example.name, "version": name, **row})
    return rows


def of_kopt(found: Sequence[Sequence[Row]], key: str) -> dict[str, int]:
    """kopt's figures of a key by example, of those that have any."""
    return {
        group[0]["example"]: group[0][key] for group in found if group[0]["version"] == "kopt" and group[0].get(key)
    }


def options_of(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples or wider ones; all when left out")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, each launch by itself")
    form.add_argument("--markdown", action="store_true", help="print the section of docs/gpu.md")
    parser.add_argument("--dtype", choices=DTYPES, default="bf16")
    parser.add_argument("--chip", choices=list(GPU_CHIPS), default="sm90")
    parser.add_argument(
        "--config", action="append", default=[], metavar="KEY=VALUE …", help="another version of kopt's"
    )
    parser.add_argument("--version", action="append", choices=("kopt", "hand", "helion"), default=[])
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    options = options_of(argv)
    found = []
    for example in subjects(options.names):
        found.append(measure(example, options.dtype, options.chip, options.version, options.config))
        print(f"{example.name} ({len(found)})", file=sys.stderr, flush=True)
    over = [ratios(group) for group in found]
    spilled, idle = of_kopt(found, "spill_bytes"), of_kopt(found, "idle")
    if options.markdown:
        print("\n".join(markdown.section(options.chip, options.dtype, found, over, spilled, idle)))
        return 0
    problems = [f"{row['version']}: {row['example']}: {row['reason']}"
                for group in found for row in group if row["reason"]]  # fmt: skip
    result: Row = {"chip": options.chip, "dtype": options.dtype, "spilled": spilled, "idle": idle, "problems": problems}
    if options.json:
        result |= {"rows": [row for group in found for row in group], "ratios": over}
    else:
        result["rows"] = [line for pair in zip(found, over, strict=True) for line in shown(*pair, COLUMNS)]
    emit(result, options.json, dict.fromkeys(COLUMNS, ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
