"""What ``make demo`` shows: two kernels run on this machine, and compiled for chips that are not here.

What each stage makes of them goes to files, which the last lines name.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import kopt
from examples.check import mismatches
from examples.registry import BY_NAME, DTYPES, Example

SHOWN = ("softmax", "matmul")
CHIPS = ("pallas:tpu7x", "triton:sm90")
CPU_TARGETS = ("reference", "pallas:interpret", "pallas:strict", "triton:interpret")
#: Interpreters take their time for each cell, so they run few and large ones.
BLOCKS = {"softmax": [128], "matmul": [128, 128, 128]}

_COLOURS = {"title": "1;36", "part": "1", "old": "2", "new": "32", "bad": "1;31"}
#: Where the details go, one file for each kernel and chip.
DETAILS = Path("build/demo")
WIDTH = min(shutil.get_terminal_size((100, 24)).columns, 160)


def paint(text: str, style: str) -> str:
    """The text in a style, where the terminal shows colours."""
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return f"\033[{_COLOURS[style]}m{text}\033[0m" if coloured and text else text


def title(text: str) -> None:
    """A heading over the whole width."""
    print(f"\n{paint('━' * WIDTH, 'title')}\n{paint(text, 'title')}\n{paint('━' * WIDTH, 'title')}")


def part(text: str) -> None:
    """A smaller heading."""
    print(f"\n{paint(f'── {text} '.ljust(WIDTH, '─'), 'part')}")


def show_source(text: str) -> None:
    """Code, indented."""
    for line in text.rstrip().splitlines():
        print(f"  {line}".rstrip())


def show_change(before: str, after: str) -> None:
    """IR text; a bar stands before each line that is not in the text before, but for the numbers of values."""
    known = {_without_numbers(line) for line in before.splitlines()}
    for line in after.rstrip().splitlines():
        new = _without_numbers(line) not in known
        print(f"{paint('▌', 'new') if new else ' '} {paint(_fitting(line), 'new' if new else 'old')}")


def _without_numbers(line: str) -> str:
    return re.sub(r"%\d+", "%", line.strip())


def _fitting(line: str) -> str:
    """The line as far as the terminal is wide; whole where the output is not a terminal."""
    return line if not sys.stdout.isatty() or len(line) <= WIDTH - 2 else f"{line[: WIDTH - 3]}…"


def show_stages(low: kopt.Lowered) -> None:
    """The IR after the import and after each pass that changed it; the names of the others."""
    (_, before), *rest = low.stages()
    part("imported")
    show_change("", before)
    idle = []
    for name, text in rest:
        if text == before:
            idle.append(name)
            continue
        part(f"after {name}")
        show_change(before, text)
        before = text
    if idle:
        print(f"\n  nothing to do for: {', '.join(idle)}")


def show_lowering(example: Example) -> None:
    """The kernel, its IR on the way to each chip, and what is emitted."""
    title(f"{example.name}: from Python to a TPU and a GPU")
    part(f"examples/{example.file}.py")
    show_source(inspect.getsource(example.kernel.fn))
    args = example.make_args("real", DTYPES["f32"])
    for target in CHIPS:
        low = example.kernel.lower(*args, target=target)
        title(f"{example.name} for {target}: the IR after each pass that changed it")
        show_stages(low)
        part(f"emitted for {target}")
        show_source(low.source)


def show_runs(examples: Iterable[Example]) -> bool:
    """Runs the kernels on the targets that need no accelerator, beside torch."""
    title("Run on this machine, beside torch: the first call, import and compilation included")
    results = [show_run(example, target) for example in examples for target in CPU_TARGETS]
    return all(results)


def show_run(example: Example, target: str) -> bool:
    """One line: how long the first call takes, import and compilation included, and whether the result is torch's."""
    args = example.make_args("real", DTYPES["f32"])
    wanted = example.reference(*args)
    kernel = kopt.kernel(example.kernel, config={"block_sizes": BLOCKS[example.name]}, target=target)
    start = time.perf_counter()
    got = kernel(*args)
    took = time.perf_counter() - start
    problems = mismatches(example, "real", got, wanted)
    dims = " × ".join(map(str, example.sizes["real"].dims))
    verdict = paint("✗ differs from torch", "bad") if problems else paint("✓ as torch", "new")
    print(f"  {example.name:8} f32  {dims:18} {target:18} {took:6.1f} s   {verdict}", flush=True)
    for problem in problems:
        print(f"      {problem}")
    return not problems


def show_reports(examples: Iterable[Example]) -> bool:
    """Compiles the emitted modules by the chips' own compilers: a line each, the tables go to files."""
    from kopt.runtime.report_table import table

    title("Compiled by the chips' own compilers, with no such chip here")
    examples = tuple(examples)
    legal = True
    for target in CHIPS:
        reports = [_report(example, target) for example in examples]
        legal &= all(report["legal"] for report in reports)
        for report in reports:
            print(f"  {report['target']:8} f32  {target:18} {_limits(report)}", flush=True)
        with details(target):
            show_source(table(reports))
    return legal


def _limits(report: dict[str, object]) -> str:
    """Whether a kernel is legal, and how far its predicted time is from what the chip can do at best."""
    if not report["legal"]:
        return paint("✗ refused by the compiler", "bad")
    predicted, share = report.get("predicted_ms"), report.get("predicted_share")
    if not isinstance(predicted, float) or not isinstance(share, float):
        return "legal; its time is not predicted"
    return f"legal, {predicted:.3g} ms predicted, {share:.0%} of the chip's limit ({report['predicted_bound']})"


@contextmanager
def details(name: str) -> Iterator[None]:
    """What is printed inside goes to the file of a kernel or chip."""
    DETAILS.mkdir(parents=True, exist_ok=True)
    with open(details_of(name), "w", encoding="utf-8") as file, redirect_stdout(file):
        yield


def details_of(name: str) -> Path:
    """Where the details of a kernel or chip are."""
    return DETAILS / f"{name.replace(':', '-')}.txt"


def _report(example: Example, target: str) -> dict[str, object]:
    args = example.make_args("real", DTYPES["f32"])
    report = example.kernel.lower(*args, target=target).report()
    report.pop("target")
    return {"target": example.name, **report}


def main() -> None:
    examples = [BY_NAME[name] for name in SHOWN]
    for example in examples:
        with details(example.name):
            show_lowering(example)
    right = show_runs(examples)
    legal = show_reports(examples)
    title("All results are as torch's, and all kernels legal" if right and legal else "Something is wrong, see above")
    for name in SHOWN:
        print(f"  {details_of(name)}: source, IR after each pass, emitted code")
    for chip in CHIPS:
        print(f"  {details_of(chip)}: the figures, and what to try next")
    raise SystemExit(0 if right and legal else 1)


if __name__ == "__main__":
    main()
