"""Every example on this machine's GPU, beside torch, torch.compile, Triton by hand and Helion: right first, then timed.

    python benchmarks/gpu.py [--json] [--dtype bf16] [--size real] [--compile-mode default] [NAME …]

The sizes are the registry's, and with ``real`` those of ``support/shapes.py`` too. A row is one side of an example.
``torch`` is the best call of its libraries in the kernel's own dtype (``device/library.py``), ``torch.compile`` the
same one compiled, ``hand …`` are the kernels of ``hand/triton``. ``helion`` is what Helion chooses without a search,
``helion seeds`` the fastest of the configurations that come with its compiler for such a kernel.

A side gets fresh arguments, since kernels write theirs, and its results are compared with the example's reference;
only one that is ``correct`` is timed. All sides of an example take turns. ``cold_us`` is a call between two events
while the caches hold other bytes, ``graph_us`` one of twenty in a CUDA graph, ``host_us`` what the processor takes to
start one. They are medians, in microseconds. ``tflops`` and ``bandwidth`` are of the cold time: operations of the
products, and the bytes that have to be moved, each once, over what the memory gives. ``over`` and ``over_graph`` are
kopt's times over the side's. What is not known is null, and a side that fails has the reason.

Each example has a process of its own. The exit status is 1 where kopt is not ``correct`` in an example, or nothing can
be told of it. Without a GPU it says so and ends.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from device.sides import Subject, sides, wrong
from device.timing import CACHE_BYTES, Stopwatch, in_turns
from device.work import bytes_per_second, flops, least_bytes
from support import emit, median, ratio
from support.shapes import subjects

import kopt
from examples.registry import DTYPES

Row = dict[str, Any]
COLUMNS = {
    "example": "",
    "side": "",
    "correct": "",
    "cold_us": ",.1f",
    "graph_us": ",.1f",
    "host_us": ",.1f",
    "tflops": ".1f",
    "bandwidth": ".2f",
    "over": ".2f",
    "over_graph": ".2f",
}
MODES = ("default", "max-autotune-no-cudagraphs")
SECONDS = 1800


def measure(subject: Subject, cuda: Any) -> list[Row]:
    """A row for each side of an example."""
    stopwatch = Stopwatch(cuda, torch.empty(CACHE_BYTES, dtype=torch.int8, device=subject.device))
    try:
        truth = _moved(subject.truth())
        results = truth if isinstance(truth, tuple) else (truth,)
        work = (flops(subject.base, subject.args()), least_bytes(subject.base, subject.args(), results))
    except Exception as error:  # with nothing to compare with nobody is timed
        return [{"example": subject.example.name, "side": "reference", "correct": None, "reason": _reason(error)}]
    with torch.no_grad():
        return _measured(subject, cuda, stopwatch, truth, work)


def _measured(subject: Subject, cuda: Any, stopwatch: Stopwatch, truth: Any, work: tuple[Any, Any]) -> list[Row]:
    rows, calls = {}, {}
    for name, make in sides(subject).items():
        rows[name] = {"example": subject.example.name, "side": name, "correct": None, "reason": None}
        try:
            args = subject.args()
            call = make(subject, args)
            problems = wrong(subject, name, args, call(), truth)
            rows[name] |= {"correct": not problems, "reason": "; ".join(problems) or None}
            if not problems:
                graph, rows[name]["reason"] = stopwatch.prepared(call)
                calls[name] = call, graph
        except Exception as error:  # a side that is refused, or not installed, is a row without times
            rows[name]["reason"] = _reason(error)
    for name, times in in_turns(stopwatch, calls).items():
        rows[name] |= {"reason": _reason(times)} if isinstance(times, Exception) else times.medians()
    for row in rows.values():
        row |= _compared(row, rows["kopt"], *work, bytes_per_second(cuda))
    return list(rows.values())


def _moved(value: Any) -> Any:
    """Results off the device, whose memory the sides have then."""
    return tuple(map(_moved, value)) if isinstance(value, tuple) else value.detach().cpu()


def _compared(row: Row, kopt_row: Row, operations: float | None, moved: float, peak: float | None) -> Row:
    """What the times of a row come to, and kopt's over them."""
    microseconds = row.get("cold_us")
    return {
        "tflops": ratio(operations, microseconds and microseconds * 1e6),
        "bandwidth": ratio(ratio(moved, microseconds and microseconds * 1e-6), peak),
        "over": ratio(kopt_row.get("cold_us"), microseconds),
        "over_graph": ratio(kopt_row.get("graph_us"), row.get("graph_us")),
    }


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def in_a_process(name: str, options: argparse.Namespace) -> list[Row]:
    """The rows of an example, measured in a process of its own: a kernel may stop the device for the one it runs in."""
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "rows.json"
        chosen = ("--dtype", options.dtype, "--size", options.size, "--compile-mode", options.compile_mode)
        command = [sys.executable, __file__, name, *chosen, "--into", str(into)]
        try:
            code = subprocess.run(command, stdout=sys.stderr, timeout=SECONDS, check=False).returncode
            reason = f"its process ended with {code}"
        except subprocess.TimeoutExpired:
            reason = f"its process took more than {SECONDS} seconds"
        if into.exists():
            return json.loads(into.read_text())
    return [{"example": name, "side": "all", "correct": None, "reason": reason}]


def summary(rows: Sequence[Row]) -> Row:
    """The medians of kopt's time over each side's, and how many examples they are of."""
    names = list(dict.fromkeys(row["side"] for row in rows if row["side"] != "kopt"))
    known = {name: [row["over"] for row in rows if row["side"] == name and row.get("over")] for name in names}
    return {name: {"median_over": median(found), "examples": len(found)} for name, found in known.items()}


def failed(rows: Sequence[Row]) -> bool:
    """Whether kopt is wrong in an example or refuses it, or the example has no row of kopt's."""
    right = {row["example"] for row in rows if row["side"] == "kopt" and row["correct"]}
    return not right.issuperset(row["example"] for row in rows)


def versions() -> str:
    from importlib.metadata import version

    return f"kopt {kopt.__version__}, torch {torch.__version__}, triton {version('triton')}"


def options_of(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="examples or wider ones; all when left out")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--dtype", choices=DTYPES, default="bf16")
    parser.add_argument("--size", choices=("tiny", "ragged", "real"), default="real")
    parser.add_argument("--compile-mode", choices=MODES, default="default", help="of torch.compile")
    parser.add_argument("--into", type=Path, metavar="FILE", help="measure in this process, and write the rows there")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None, cuda: Any = torch.cuda, device: str = "cuda") -> int:
    options = options_of(argv)
    if not cuda.is_available():
        print("benchmarks/gpu.py: this machine has no GPU that torch can use; nothing was measured")
        return 0
    chosen = [example for example in subjects(options.names) if options.size in example.sizes]
    subject = partial(Subject, size=options.size, dtype=DTYPES[options.dtype], device=device)
    if options.into is not None:
        found = [measure(subject(one, compile_mode=options.compile_mode), cuda) for one in chosen]
        options.into.write_text(json.dumps([row for rows in found for row in rows]))
        return 0
    rows: list[Row] = []
    for example in chosen:
        rows += in_a_process(example.name, options)
        print(f"{example.name}: {len(rows)} rows", file=sys.stderr, flush=True)
    properties = cuda.get_device_properties(0)
    result = {
        "rows": rows,
        "gpu": properties.name,
        "multiprocessors": properties.multi_processor_count,
        "bytes_per_second": bytes_per_second(cuda),
        "versions": versions(),
        "dtype": options.dtype,
        "size": options.size,
        "compile_mode": options.compile_mode,
        "kopt_over": summary(rows),
        "problems": [f"{row['example']}: {row['side']}: {row['reason']}" for row in rows if row["reason"]],
    }
    emit(result, options.json, COLUMNS)
    return int(failed(rows))


if __name__ == "__main__":
    sys.exit(main())
