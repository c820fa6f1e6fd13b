"""What a call on ``pallas:interpret`` takes beside Helion's own interpreter: same kernel, blocks, tensors, process.

    python benchmarks/interpreters.py [--json] [--turns N] [NAME …]

``kopt_ms`` and ``helion_ms`` are the least times of calls in turns, after one that compiles. ``ratio`` is the first
over the second, ``cpu_ratio`` the same of what all threads compute, which other processes do not change. ``growth`` is
how many times longer kopt takes where the first extent is four times as long: 4 is linear. Helion's interpreter is that
of ``HELION_INTERPRET=1``: torch operations on the block of each tile. It takes tiles of open size whole, whatever the
configuration says, so that here they are given their blocks. No accelerator is needed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import helion
import torch
from helion.runtime.ref_mode import RefMode
from support import emit, helion_function, median, ratio, timed

from examples.example import Inputs
from examples.registry import BY_NAME

#: Extents and blocks of examples, each of some dozen to some hundred cells.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "exp": ((1024, 2560), (8, 2560)),
    "add": ((1024, 2560), (16, 1280)),
    "add_row": ((1024, 2560), (16, 1280)),
    "softmax": ((1024, 2560), (8,)),
    "softmax_decomposed": ((1024, 2560), (8,)),
    "softmax_two_pass": ((1024, 2560), (16, 512)),
    "layer_norm": ((1024, 2560), (8,)),
    "layer_norm_no_bias": ((1024, 2560), (8,)),
    "rms_norm": ((1024, 2560), (8,)),
    "sum_rows": ((1024, 2560), (8,)),
    "sum_columns": ((1024, 2560), (128,)),
    "long_sum": ((1024, 2560), (16, 512)),
    "welford": ((1024, 2560), (16, 512)),
    "swiglu": ((1024, 2560), (16, 1280)),
    "geglu": ((1024, 2560), (16, 1280)),
    "cross_entropy_rows": ((1024, 2560), (8,)),
    "cross_entropy": ((1024, 2560), (8,)),
    "sum_middle": ((64, 50, 1280), (8, 128)),
    "dropout": ((1024, 2560), ()),
    "embedding": ((512, 2000, 512), (32, 256)),
    "kl_divergence": ((1024, 2560), (8, 256)),
    "concat_columns": ((512, 1500, 1060), (32,)),
    "concat_masked": ((512, 1500, 1060), (32, 256)),
}
COLUMNS = {"name": "", "kopt_ms": ",.1f", "helion_ms": ",.1f", "ratio": ".2f", "cpu_ratio": ".2f", "growth": ".1f"}


def least(calls: Sequence[Callable[[], Any]], turns: int) -> list[tuple[float, float]]:
    """The least milliseconds of each call, by the clock and of all threads' computing, measured in turns."""
    for call in calls:
        call()
    rounds = [[_times(call) for call in calls] for _ in range(turns)]
    return [tuple(map(min, zip(*times, strict=True))) for times in zip(*rounds, strict=True)]


def _times(call: Callable[[], Any]) -> tuple[float, float]:
    begun = process_time()
    return timed(call), (process_time() - begun) * 1e3


class Blocks:
    """``hl`` of Helion, where tiles and sizes that are open have those of a list, in the order in which they appear."""

    def __init__(self, sizes: Sequence[int]):
        self._left = list(sizes)
        self._at: dict[int, list[int]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(helion.language, name)

    def tile(self, *extents: Any, block_size: Any = None) -> Any:
        """Helion's tiles of the sizes of this place in the kernel."""
        wanted = len(extents[-1]) if isinstance(extents[-1], list | tuple) else 1
        sizes = block_size or self._sizes(sys._getframe(1).f_lineno, wanted)
        return helion.language.tile(*extents, block_size=sizes)

    def register_block_size(self, *limits: Any) -> int:
        """The size itself."""
        return self._sizes(sys._getframe(1).f_lineno, 1)[0]

    def _sizes(self, line: int, count: int) -> list[int]:
        if line not in self._at:
            self._at[line], self._left = self._left[:count], self._left[count:]
        return self._at[line]


def row(name: str, turns: int) -> dict[str, Any]:
    """The times of one example."""
    example, (dims, blocks) = BY_NAME[name], CASES[name]
    args, longer = (example.args(Inputs(torch.float32), first, *dims[1:]) for first in (dims[0], dims[0] * 4))
    config: dict[str, Any] = {"block_sizes": list(blocks)}
    ours, others = (example.kernel.lower(*given, target="pallas:interpret", config=config) for given in (args, longer))
    function = helion_function(example.kernel.fn)
    theirs = helion.kernel(function, config=helion.Config(**config), ref_mode=RefMode.EAGER, static_shapes=True)
    function.__globals__["hl"] = Blocks(blocks)
    run, run_longer = ours.compile(), others.compile()
    calls = [lambda: run(*args), lambda: run_longer(*longer)]
    try:
        theirs(*args)
    except (NotImplementedError, helion.exc.Base) as error:
        print(f"{name}: Helion's interpreter: {str(error).splitlines()[0]}", file=sys.stderr)
    else:
        calls.append(lambda: theirs(*args))
    (kopt_ms, kopt_cpu), (longer_ms, _), (helion_ms, helion_cpu) = [*least(calls, turns), (None, None)][:3]
    return {
        "name": name,
        "kopt_ms": kopt_ms,
        "helion_ms": helion_ms,
        "ratio": ratio(kopt_ms, helion_ms),
        "cpu_ratio": ratio(kopt_cpu, helion_cpu),
        "growth": ratio(longer_ms, kopt_ms),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--turns", type=int, default=5, help="calls of each (default 5)")
    options = parser.parse_args()
    rows = [row(name, options.turns) for name in options.names or CASES]
    ratios = [line["ratio"] for line in rows if line["ratio"] is not None]
    emit(
        {"rows": rows, "median_ratio": median(ratios), "largest_ratio": max(ratios, default=None)},
        options.json,
        COLUMNS,
    )


if __name__ == "__main__":
    main()
