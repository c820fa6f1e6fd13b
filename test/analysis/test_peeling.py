"""How many first visits of a loop need no mask, counted beside all lanes of all visits."""

from __future__ import annotations

import numpy as np
import pytest

from kopt import parse
from kopt.analysis.peeling import PEELED, peeling, with_peeling
from kopt.dialects.tile import ForOp, GridOp
from kopt.ir.evaluation import evaluate
from kopt.ir.from_ssa import IndexAnalysis
from kopt.plans.plan import LoopSchedule
from test.named import only

TEXT = """
func.func @f(%x: memref<{n}x{n}xf32>, %o: memref<{n}xf32>) {{
  tile.grid (%i: b0={rows}) in ({n}) {{
    %end = tile.end %i : !tile.range<b0={rows}>
    tile.for %j: b1={columns} in ({lower}, %end) {{
      {inside}
      %i1 = tile.index %i : !tile.range<b0={rows}>
      %j1 = tile.index %j : !tile.range<b1={columns}>
      %row = tile.broadcast %i1 dims [0] : !tile.tile<b0={rows} x i32> to !tile.tile<b0={rows} x b1={columns} x i32>
      %by = tile.full {by} : !tile.tile<b1={columns} x i32>
      %shifted = tile.add %j1, %by : !tile.tile<b1={columns} x i32>
      %column = tile.broadcast %shifted dims [1] : !tile.tile<b1={columns} x i32> to !tile.tile<b0={rows} x b1={columns} x i32>
      %seen = tile.{compare} %row, %column : !tile.tile<b0={rows} x b1={columns} x i32>
    }}
  }}
  func.return
}}
"""  # noqa: E501
NUMBERS = {"n": 96, "rows": 16, "columns": 16, "lower": 0, "by": 0, "compare": "ge", "inside": ""}


def _grid(**numbers: int | str) -> GridOp:
    return only(parse(TEXT.format(**NUMBERS | numbers)), GridOp)


def _is_full(begin: int, row: int, numbers: dict) -> bool:
    rows, columns = np.arange(row, row + numbers["rows"]), np.arange(begin, begin + numbers["columns"])
    compare = {"ge": np.greater_equal, "gt": np.greater}[str(numbers["compare"])]
    return bool(compare(rows[:, None], columns + numbers["by"]).all())


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"compare": "gt"},
        {"rows": 32},
        {"columns": 32},
        {"columns": 24, "n": 100},
        {"by": 5},
        {"by": -5},
        {"lower": 8},
    ],
    ids=str,
)
def test_visits_before_the_split_are_those_without_a_false_lane(numbers: dict) -> None:
    grid, known = _grid(**numbers), NUMBERS | numbers
    loop, analysis = only(grid, ForOp), IndexAnalysis()
    found = peeling(loop, analysis)
    assert found is not None and found.conditions == (loop.body.block.last_op.prev_op.results[0],)  # pyright: ignore
    for block, row in enumerate(range(0, known["n"], known["rows"])):
        split = int(evaluate(found.split, {grid.ranges[0]: block}))
        end = min(row + known["rows"], known["n"])
        begins = range(known["lower"], end, known["columns"])
        full = [begin for begin in begins if _is_full(begin, row, known)]
        assert [begin for begin in begins if begin < split] == full
        if found.rest is not None:
            assert len(begins) - len(full) == found.rest


@pytest.mark.parametrize(
    "numbers",
    [
        {"compare": "le"},  # holds in the last visits
        {"compare": "eq"},
        {"inside": "%number = tile.id %j : !tile.range<b1=16>"},
        {"by": 96},  # in no visit
    ],
    ids=str,
)
def test_other_loops_have_none(numbers: dict) -> None:
    assert peeling(only(_grid(**numbers), ForOp), IndexAnalysis()) is None


def test_loops_are_peeled_where_few_visits_are_left() -> None:
    resident, prefetched = LoopSchedule("resident"), LoopSchedule("prefetch")
    assert with_peeling(_grid(), {"b1": resident}) == {"b1": LoopSchedule("resident", peel=PEELED)}
    assert with_peeling(_grid(rows=32), {}) == {"b1": LoopSchedule("resident", peel=PEELED)}
    assert with_peeling(_grid(rows=48), {"b1": resident}) == {"b1": resident}  # three of them
    assert with_peeling(_grid(n=100), {"b1": resident}) == {"b1": resident}  # the last block of rows has fewer
    assert with_peeling(_grid(), {"b1": prefetched}) == {"b1": prefetched}
