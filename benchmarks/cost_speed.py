"""How many configurations of a product the cost model ranks in a second of one core.

    python benchmarks/cost_speed.py [--count N] [--target T]

The model is that of the imported kernel with its block sizes open; all configurations are asked for at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import process_time

import numpy as np

from examples.matmul import matmul
from kopt.analysis.launch_models import launch_models
from kopt.planning.candidates import candidates, gpu_candidate
from kopt.planning.cost import cost
from kopt.targets.chips import TpuChip
from kopt.targets.target import parse_target


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--target", default="pallas:v6e")
    options = parser.parse_args(argv)
    chip = parse_target(options.target).chip
    assert chip is not None
    specs = ("bf16[4096,4096]", "bf16[4096,4096]")
    low = matmul.lower(*specs, target=options.target, config={"block_sizes": [128, 128, 128]})
    (model,) = launch_models(low.module, ("b0", "b1", "b2"))
    plan = next(candidates(model)) if isinstance(chip, TpuChip) else gpu_candidate(model)
    drawn = np.random.default_rng(0)
    sizes = {tag: drawn.choice([128, 256, 512, 1024], options.count) for tag in ("b0", "b1", "b2")}
    cost(model, sizes, plan, chip)
    start = process_time()
    found = cost(model, sizes, plan, chip)
    taken = process_time() - start
    assert found.seconds is not None and found.seconds.shape == (options.count,)
    print(f"{options.count:,} configurations on {chip.name} in {taken:.3f} s: {options.count / taken:,.0f} a second")


if __name__ == "__main__":
    main()
