"""What kopt chooses for every example, what that moves and takes, and what comes out: beside the golden tables.

    python benchmarks/golden.py [--update] [--compiled | --results] [--target NAME] [NAME …]

A row is an example, one of its sizes and a target: the sizes of blocks, and for each launch its grid, windows, loops,
accesses, bytes and VMEM; the first line of the refusal where there is one. ``--compiled`` compares what chips'
compilers say of the size ``real`` instead: legality, VMEM, registers, spills. ``--results`` compares the results of the
size ``tiny`` on the target's interpreter.
The tables are ``benchmarks/golden/*.jsonl``, a row a line. Every difference is printed, and is exit status 1;
``--update`` writes the tables anew. No accelerator is needed.

Results are compared by their hash, and where that differs, since processors round sums differently, by their digest:
a few weighted sums of all elements, to what their dtype tells.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from support import ROOT
from support.choices import blocks, choices
from support.digests import digest, same
from support.imported import imported

import kopt
from examples.check import configured
from examples.registry import BY_NAME, DTYPES, EXAMPLES, Example
from kopt.passes.pipelines import pipeline

TABLES = ROOT / "benchmarks" / "golden"
#: The interpreter that runs what is lowered for each chip.
TARGETS = {"pallas:v6e": "pallas:interpret@v6e", "triton:sm90": "triton:interpret"}
SIZES = ("tiny", "ragged", "real")
#: What chips' compilers say that is compared; times are not.
FACTS = ("legal", "temp_bytes", "vmem_bytes", "registers", "spill_bytes", "shared_bytes")

Row = dict[str, Any]


def chosen(example: Example, size: str, target: str) -> Row:
    """What kopt chooses."""
    module, _, named, config = imported(example, size, target)
    sizes = blocks(module)
    kopt.run_pipeline(module, pipeline(named, config))
    return {"blocks": sizes, **choices(module)}


def computed(example: Example, size: str, target: str) -> Row:
    """What comes out."""
    args = example.make_args(size, DTYPES["bf16"])
    return {"results": digests(configured(example, size).on(TARGETS[target])(*args))}


def compiled(example: Example, size: str, target: str) -> Row:
    """What the chip's own compiler says."""
    low = example.kernel.lower(*example.unfilled(size, DTYPES["bf16"]), target=target)
    report = low.report(estimates=False)
    return {key: report[key] for key in FACTS if key in report}


def digests(results: Any) -> list[Any]:
    """A digest for each result of a call."""
    return [digest(result) for result in (results if isinstance(results, tuple) else (results,))]


def differences(was: Any, now: Any, place: str = "") -> Iterator[str]:
    """A line for each value that differs, with the path that leads to it."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys((*was, *now)):
            yield from differences(was.get(key), now.get(key), f"{place}.{key}")
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for number, pair in enumerate(zip(was, now, strict=True)):
            yield from differences(*pair, f"{place}[{number}]")
    elif was != now:
        yield f"{place}: {json.dumps(was)} -> {json.dumps(now)}"


def compare(was: Row | None, now: Row) -> list[str]:
    """What differs between a row of the table and now."""
    if was is None:
        return [": not in the table"]
    was, now = dict(was), dict(now)
    results = was.pop("results", None), now.pop("results", None)
    return [*differences(was, now), *([] if same(*results) else [".results differ"])]


def table(kind: str, target: str) -> Path:
    """The file of a table."""
    return TABLES / f"{kind}-{target.replace(':', '-')}.jsonl"


def read(path: Path) -> dict[tuple[str, str], Row]:
    """The rows of a table by example and size."""
    lines = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return {(line["example"], line["size"]): line["row"] for line in lines}


def write(path: Path, rows: Mapping[tuple[str, str], Row]) -> None:
    """A table with a line a row, in the order of the examples."""
    keys = [(example.name, size) for example in EXAMPLES for size in SIZES]
    lines = [{"example": key[0], "size": key[1], "row": rows[key]} for key in keys if key in rows]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


KINDS: dict[str, Callable[[Example, str, str], Row]] = {
    "chosen": chosen,
    "compiled": compiled,
    "results": computed,
}
#: Compilers take seconds: they see the sizes of models only. Interpreters see small ones.
SIZES_OF = {"chosen": SIZES, "compiled": ("real",), "results": ("tiny",)}


def found(kind: str, example: Example, size: str, target: str) -> Row:
    """A row as it will be read again; the first line of a refusal where there is one."""
    try:
        return json.loads(json.dumps(KINDS[kind](example, size, target)))
    except kopt.KoptError as error:
        return {"refusal": str(error).splitlines()[0]}


def check(kind: str, target: str, names: Sequence[str], update: bool) -> list[str]:
    """The differences of some examples from the table of a target, which ``update`` brings up to date."""
    path, said = table(kind, target), []
    rows = read(path)
    for name in names:
        for size in SIZES_OF[kind]:
            now = found(kind, BY_NAME[name], size, target)
            said += [f"{name} {size} {target}{line}" for line in compare(rows.get((name, size)), now)]
            rows[name, size] = now
    if update:
        write(path, rows)
    return said


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples (default: all)")
    parser.add_argument("--update", action="store_true", help="write what was found into the tables")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--compiled", action="store_const", dest="kind", const="compiled", help="ask chips' compilers")
    kinds.add_argument("--results", action="store_const", dest="kind", const="results", help="run on interpreters")
    parser.set_defaults(kind="chosen")
    parser.add_argument("--target", action="append", choices=TARGETS, help="default: all")
    options = parser.parse_args(argv)
    names = options.names or list(BY_NAME)
    said = [
        line for target in options.target or TARGETS for line in check(options.kind, target, names, options.update)
    ]  # fmt: skip
    print("\n".join(said) or "as in the golden tables")
    return 1 if said and not options.update else 0


if __name__ == "__main__":
    sys.exit(main())
