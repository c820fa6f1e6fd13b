"""Whether kopt's formula for VMEM and libtpu agree on which configurations of a kernel are legal.

    python benchmarks/vmem_legality.py [--chip NAME] [--count N] [--json]

Block sizes of products are drawn at random, small and large. The formula, ``Σ blocks × depth + scratch`` of the plan
and the values beyond registers, says what each takes before anything is compiled; libtpu compiles every one with the
memory that a kernel has unless it asks for more. A row is a configuration on which they disagree; ``margin`` is the
formula's distance from the limit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from support import emit

from examples.matmul import matmul
from kopt.analysis.launch_models import launch_model
from kopt.analysis.plans import plan_of
from kopt.clone import cloned
from kopt.context import make_context
from kopt.diagnostics import collect
from kopt.dialects.tile import GridOp
from kopt.errors import KoptError
from kopt.lowering import emit as printed
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.passes.set_blocks import SetBlocksPass
from kopt.planning.cost import cost
from kopt.runtime.tpu_report import compile_report
from kopt.targets.chips import TPU_CHIPS, TpuChip
from kopt.walk import walk

_EXTENTS = (4096, 4096, 4096)
_SIZES = (128, 256, 512, 1024, 2048)
COLUMNS = {"blocks": "", "formula": ",", "limit": ",", "margin": "+.1%", "libtpu": ""}


def configurations(chip: TpuChip, count: int) -> Iterator[dict[str, Any]]:
    """Whether each configuration is legal, by the formula and by libtpu."""
    m, k, n = _EXTENTS
    specs = (f"bf16[{m},{k}]", f"bf16[{k},{n}]")
    low = matmul.lower(*specs, target=f"pallas:{chip.name}", config={"block_sizes": [128, 128, 128]})
    passes = [each for each in pipeline(low.target, low.config) if each.name != "plan-vmem"]
    place = [each.name for each in passes].index("plan-accesses") + 1
    drawn = np.random.default_rng(0).permutation([(a, b, c) for a in _SIZES for b in _SIZES for c in _SIZES])
    for number in range(min(count, len(drawn))):
        blocks = [int(size) for size in drawn[number]]
        module = cloned(low.module)
        try:
            with collect():
                sizes = " ".join(f"b{axis}={size}" for axis, size in enumerate(blocks))
                run(module, make_context(), [SetBlocksPass(sizes), *passes[:place]])
                (grid,) = walk(module, GridOp)
                plan = plan_of(grid)
                assert plan is not None
                found = cost(launch_model(grid), {}, plan, chip)
                taken = int(found.vmem_bytes + found.live_bytes)  # pyright: ignore
                run(module, make_context(), passes[place:])
                source = printed(module, low.entry, "pallas", False)
        except KoptError as error:
            yield {"blocks": blocks, "refused": str(error).splitlines()[0]}
            continue
        facts = compile_report(source, low.function, low.signature.specs, chip, (), estimates=False)
        legal, limit = taken <= chip.scoped_vmem_bytes, chip.scoped_vmem_bytes
        print(blocks, taken, facts["legal"], file=sys.stderr, flush=True)
        yield {
            "blocks": "×".join(map(str, blocks)),
            "formula": taken,
            "limit": limit,
            "margin": taken / limit - 1,
            "libtpu": facts["legal"],
            "agrees": facts["legal"] == legal,
            "reason": facts.get("reason"),
        }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chip", default="v6e", choices=sorted(TPU_CHIPS))
    parser.add_argument("--count", type=int, default=100, help="configurations (default 100, at most 125)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(argv)
    found = list(configurations(TPU_CHIPS[options.chip], options.count))
    judged = [row for row in found if row.get("libtpu") is not None]
    apart = [row for row in judged if not row["agrees"]]
    emit(
        {
            "rows": apart,
            "configurations": len(judged),
            "legal by libtpu": sum(row["libtpu"] for row in judged),
            "agree": sum(row["agrees"] for row in judged),
            "not judged": len(found) - len(judged),
        },
        options.json,
        COLUMNS,
    )


if __name__ == "__main__":
    main()
