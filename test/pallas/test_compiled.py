"""IR files through libtpu for chips that are not here: every layout and schedule is one that Mosaic takes."""

import importlib.util

import pytest

import kopt
from test.pallas.support import FILES, module
from test.rotating import rotating

SCHEDULES = [("matmul", "fori"), ("attention", "fori"), ("attention", "resident"), ("row_sums", "resident")]
CASES = [(name, "auto") for name in FILES] + SCHEDULES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "loop_type", "chip"),
    [(*case, chip) for case, chip in rotating(CASES, "v5e", ("tpu7x", "v6e"))],
)
def test_compiles(name, loop_type, chip):
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    low = kopt.lower_module(module(name), target=f"pallas:{chip}", config={"loop_type": loop_type})
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]
