"""Every IR file, under every schedule of its loops: the interpreters compute what the reference does."""

from types import SimpleNamespace

import pytest

import kopt
from kopt.runtime.tolerance import mismatch
from kopt.runtime.wire import unpack
from test.pallas.support import FILES, function, module, packed_inputs, reference, result_dtypes

SCHEDULES = ("auto", "resident", "fori", "pipeline")
LOOPS = ("matmul", "attention", "row_sums", "log_sum_exp", "two_pass", "updates_inner", "updates_hoisted")
#: Sums of up to this many terms.
TERMS = 1000


def lowered(name: str, target: str, loop_type: str):
    return kopt.lower_module(module(name), target=target, config={"loop_type": loop_type})


def check(name: str, results):
    for value, wanted, dtype in zip(results, reference(name), result_dtypes(name), strict=True):
        assert mismatch(value, wanted, dtype, TERMS) is None, mismatch(value, wanted, dtype, TERMS)


@pytest.mark.parametrize("name", FILES)
def test_interpreted(name):
    pytest.importorskip("jax")
    from kopt.runtime.pallas_interpret import PallasRunner
    from kopt.targets.target import parse_target

    schedules = SCHEDULES if name in LOOPS else ("auto",)
    # What is chosen is one of the other schedules, and some kernels have fewer: each text runs once.
    for low in {low.source: low for each in schedules if (low := lowered(name, "pallas:interpret", each))}.values():
        wide = "int64" in {dtype.numpy for dtype in result_dtypes(name)} or name == "element_types"
        runner = PallasRunner(low.source, function(name).sym_name.data, parse_target("pallas:interpret"), wide)
        from kopt.runtime.exchange import wide as wide_numbers

        with wide_numbers(wide):
            arrays = [unpack(array, "jax") for array in packed_inputs(name)]
        check(name, runner.run(arrays))


@pytest.mark.parametrize(
    ("name", "loop_type"),
    [("updates_sums", "auto"), ("updates_crossed", "auto"), ("updates_turns", "auto"), ("updates_hoisted", "grid")]
    + [
        ("matmul", "fori"),
        ("log_sum_exp", "grid"),
        ("attention", "fori"),
        ("partial", "auto"),
        ("two_pass", "resident"),
    ],
)
def test_strict(name, loop_type):
    pytest.importorskip("jax")
    from kopt.runtime.pallas_strict import StrictRunner
    from kopt.targets.target import parse_target

    low = lowered(name, "pallas:strict", loop_type)
    entry = function(name).sym_name.data
    runner = StrictRunner(low.source, entry, parse_target("pallas:strict"), False, 64, 120.0)
    check(name, [unpack(value, "numpy") for value in runner.run(packed_inputs(name))])


def test_split_launches(monkeypatch):
    """Where what no order serves does not fit the chip, each output has a launch of its own."""
    pytest.importorskip("jax")
    from kopt.runtime.pallas_interpret import PallasRunner
    from kopt.targets.target import parse_target

    monkeypatch.setattr("kopt.passes.order_grid.GridMemory", lambda grid: SimpleNamespace(of_windows=lambda: 1 << 40))
    low = lowered("updates_crossed", "pallas:interpret", "auto")
    assert low.source.count("pl.pallas_call(") == 2
    runner = PallasRunner(low.source, "crossed", parse_target("pallas:interpret"), False)
    check("updates_crossed", runner.run([unpack(array, "jax") for array in packed_inputs("updates_crossed")]))
