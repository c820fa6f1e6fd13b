"""What the benchmarks share: the same kernel for kopt and for Helion, timings, and tables."""

from __future__ import annotations

import json
import statistics
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


def helion_function(function: types.FunctionType) -> types.FunctionType:
    """The function with ``hl`` bound to Helion's language: one source for both compilers."""
    import helion.language

    globals_ = {**function.__globals__, "hl": helion.language}
    copy = types.FunctionType(
        function.__code__, globals_, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__module__ = function.__module__
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def jagged_by_hand_file() -> Path:
    """The Pallas module with the jagged sum by hand, whose function has the file's name."""
    return Path(__file__).with_name("jagged_sum_by_hand.py")


def timed(function: Callable[[], Any]) -> float:
    """Milliseconds of one call."""
    start = perf_counter()
    function()
    return (perf_counter() - start) * 1e3


def ratio(a: float | None, b: float | None) -> float | None:
    """``a / b`` where both are known."""
    return a / b if a is not None and b is not None else None


def median(values: Sequence[float | None]) -> float | None:
    """The median of the values that are known, or None where none is."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def print_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> None:
    """Aligned columns: ``columns`` maps keys to format specs; unknown numbers print as a dash."""
    cells = [[cell(row.get(key), spec) for key, spec in columns.items()] for row in rows]
    widths = [max(len(key), *(len(line[i]) for line in cells)) for i, key in enumerate(columns)]
    for line in [list(columns), *cells]:
        padded = [c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))]
        print("  ".join(padded).rstrip())


def cell(value: Any, spec: str) -> str:
    """A value by its format spec: a dash where it is not known."""
    return "-" if value is None else format(value, spec)


def emit(result: Mapping[str, Any], as_json: bool, columns: Mapping[str, str]) -> None:
    """Prints a result as JSON, or its ``rows`` as a table and the rest below it."""
    if as_json:
        print(json.dumps(result, indent=2))
        return
    print_table(result["rows"], columns)
    print()
    for key, value in result.items():
        if key not in ("rows", "problems"):
            print(f"{key}: {cell(value, '.3f') if isinstance(value, float | None) else value}")
    for problem in result.get("problems", ()):
        print(f"  {problem}")
