"""Lanes behind a computed element of each place, of arrays of several dimensions: the interpreter before and after."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.analysis.values.runs import runs
from kopt.dtypes import from_ir
from kopt.interpreter import run
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.per_row_runs import fetch_runs
from test.analysis.values.gathers import Gather

ROWS = "at = add r, j"
CASES = {
    "rows of their own": ("64x90xf32", "%n, %at", ROWS),
    "one row": ("64x90xi32", "3, %at", ROWS),
    "short elements": ("64x128xbf16", "%n, %at", ROWS),
    "three dimensions": ("4x64x90xf32", "2, %n, %at", ROWS),
    "whole blocks": ("4x64x90xf32", "2, 5, %at", ROWS),
    "rows of two dimensions": ("64x64x90xi32", "%n, %n, %at", ROWS),
    "other rows": ("130x90xf32", "%m, %at", f"a = mul n, 2; m = add a, 1; {ROWS}"),
    "every second lane": ("64x130xf32", "%n, %at", "b = mul j, 2; at = add r, b"),
    "an element further": ("64x100xf32", "%n, %at", "b = mul j, 3; a = mul r, 3; c = add a, b; at = add c, 1"),
}


@pytest.mark.parametrize("name", CASES)
def test_as_before(name: str) -> None:
    array, entries, ops = CASES[name]
    gather, sums = Gather(array, entries, *(one.strip() for one in ops.split(";"))), SumAnalysis()
    *shape, element = array.split("x")
    random = np.random.default_rng(3)
    dtype = from_ir(gather.load.result.type.element_type)  # pyright: ignore
    assert dtype is not None
    x = random.integers(-100, 100, [int(each) for each in shape]).astype(dtype.numpy)
    starts = random.integers(0, 1 if "further" in name else 58, 64).astype(np.int32)
    wanted, out = (np.zeros((64, 32), x.dtype) for _ in range(2))
    run(gather.module, "f", [x, starts, wanted])
    found = runs(gather.load, sums)
    assert found is not None and found.units is None
    fetch_runs(gather.load, found, None, sums)  # pyright: ignore[reportArgumentType]
    gather.module.verify()
    run(gather.module, "f", [x, starts, out])
    np.testing.assert_array_equal(out, wanted)
