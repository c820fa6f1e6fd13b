"""Whether kopt's formulas for VMEM and libtpu agree on which configurations of kernels are legal.

    python benchmarks/vmem_legality.py [--chip NAME …] [--count N] [--json] [NAME …]

Block sizes of examples with one launch are drawn at random, small and large. Two formulas say what each takes before
anything is compiled: ``model``, of the plan alone (``Σ blocks × depth + scratch``, and the values that wait and have
no register); and ``lowered``, that of ``plan-vmem``, which knows the kernel that is emitted. libtpu
compiles every one with the memory that a kernel has unless it asks for more. A row is a configuration on which one of
them and libtpu disagree; ``margin`` is that formula's distance from the limit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from support import emit

from examples.registry import BY_NAME, DTYPES, Example
from kopt.analysis.launch_models import launch_model
from kopt.analysis.plans import plan_of
from kopt.analysis.vmem import vmem_bytes
from kopt.clone import cloned
from kopt.context import make_context
from kopt.diagnostics import collect
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import GridOp
from kopt.errors import KoptError
from kopt.lowered import Lowered
from kopt.lowering import emit as printed
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.planning.cost import cost
from kopt.runtime.tpu_report import compile_report
from kopt.specs import spec_of
from kopt.targets.chips import TPU_CHIPS, TpuChip
from kopt.walk import walk

#: Examples with one launch, and the sizes that each of their blocks may have.
_EXAMPLES = {
    "matmul": (256, 512, 1024, 2048),
    "attention": (256, 512, 1024, 2048, 4096),
    "causal_attention": (256, 512, 1024, 2048, 4096),
    "swiglu_matmul": (256, 512, 1024, 2048),
    "softmax": (64, 128, 256, 384, 512, 640, 768, 1024, 1536, 2048),
    "layer_norm": (64, 128, 256, 384, 512, 640, 768, 1024, 1536, 2048),
    "rms_norm": (64, 128, 256, 384, 512, 640, 768, 1024, 1536, 2048),
    "geglu": (128, 256, 512, 1024, 2048, 4096),
    "exp": (256, 512, 1024, 2048, 4096),
    "sum_rows": (64, 256, 512, 768, 1024, 1536, 2048, 3072, 4096),
}
_FORMULAS = ("model", "lowered")
COLUMNS = {"kernel": "", "chip": "", "blocks": "", "formula": "", "bytes": ",", "margin": "+.1%", "libtpu": ""}


def drawn(example: Example, sizes: Sequence[int], chip: TpuChip, count: int) -> Iterator[Lowered]:
    """An example at block sizes that are drawn at random; those that kopt refuses are left out."""
    specs = [spec_of(one) if hasattr(one, "dtype") else one for one in example.unfilled("real", DTYPES["bf16"])]
    opened = example.kernel.lower(*specs, target=f"pallas:{chip.name}")
    choices = list(product(sizes, repeat=len(opened.config.block_sizes or ())))
    for number in np.random.default_rng(0).permutation(len(choices))[:count]:
        config = {"block_sizes": list(choices[number])}
        try:
            yield example.kernel.lower(*specs, target=f"pallas:{chip.name}", config=config)
        except KoptError as error:
            print(example.name, chip.name, config, str(error).splitlines()[0], file=sys.stderr, flush=True)


def judged(low: Lowered, chip: TpuChip) -> dict[str, Any]:
    """What both formulas and libtpu say of a kernel that asks for no memory."""
    passes = [each for each in pipeline(low.target, low.config) if each.name != "plan-vmem"]
    place = [each.name for each in passes].index("plan-accesses") + 1
    module = cloned(low.imported)
    with collect():
        run(module, make_context(), passes[:place])
        (grid,) = walk(module, GridOp)
        plan = plan_of(grid)
        assert plan is not None
        found = cost(launch_model(grid), {}, plan, chip)
        model = int(found.vmem_bytes + found.live_bytes)  # pyright: ignore
        run(module, make_context(), passes[place:])
        lowered = sum(vmem_bytes(call, chip) for call in walk(module, CallOp))
        source = printed(module, low.entry, "pallas", False)
    facts = compile_report(source, low.function, low.signature.specs, chip, (), estimates=False)
    return {"model": model, "lowered": lowered, "libtpu": facts["legal"], "reason": facts.get("reason")}


def configurations(name: str, chip: TpuChip, count: int) -> Iterator[dict[str, Any]]:
    """The configurations of an example, with what is said of each."""
    for low in drawn(BY_NAME[name], _EXAMPLES[name], chip, count):
        blocks = "×".join(map(str, low.config.block_sizes or ()))
        found = {"kernel": name, "chip": chip.name, "blocks": blocks, **judged(low, chip)}
        print(*found.values(), file=sys.stderr, flush=True)
        yield found


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chip", action="append", choices=sorted(TPU_CHIPS))
    parser.add_argument("--count", type=int, default=10, help="configurations of each example (default 10)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(argv)
    chips = [TPU_CHIPS[name] for name in options.chip or ("v6e", "v5e")]
    names = options.names or [*_EXAMPLES]
    found = [row for chip in chips for name in names for row in configurations(name, chip, options.count)]
    known = [row for row in found if row["libtpu"] is not None]
    limits = {chip.name: chip.scoped_vmem_bytes for chip in chips}
    apart = {
        formula: [row for row in known if (row[formula] <= limits[row["chip"]]) != row["libtpu"]]
        for formula in _FORMULAS
    }
    rows = [
        {**row, "formula": formula, "bytes": row[formula], "margin": row[formula] / limits[row["chip"]] - 1}
        for formula, several in apart.items()
        for row in several
    ]
    agree = {f"{formula} agrees": len(known) - len(several) for formula, several in apart.items()}
    legal = sum(row["libtpu"] for row in known)
    emit(
        {"rows": rows, "configurations": len(known), "legal by libtpu": legal, **agree},
        options.json,
        COLUMNS,
    )


if __name__ == "__main__":
    main()
