"""IR files through libtpu for chips that are not here: every layout and schedule is one that Mosaic takes."""

import importlib.util
from itertools import cycle

import pytest

import kopt
from test.pallas.support import FILES, module

SCHEDULES = [("matmul", "fori"), ("attention", "fori"), ("attention", "resident"), ("row_sums", "resident")]
CASES = [(name, "auto") for name in FILES] + SCHEDULES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "loop_type", "chip"),
    [(*case, chip) for case, newer in zip(CASES, cycle(("tpu7x", "v6e"))) for chip in (newer, "v5e")],
)
def test_compiles(name, loop_type, chip):
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    low = kopt.lower_module(module(name), target=f"pallas:{chip}", config={"loop_type": loop_type})
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]
