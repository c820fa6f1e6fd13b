"""Loops whose blocks stream by pipelines: right beside torch and the reference, and one text for all Pallas targets."""

import importlib.util
from itertools import cycle

import pytest

import kopt
from examples.check import mismatches
from examples.registry import BY_NAME, DTYPES
from kopt.runtime.tolerance import mismatch
from kopt.runtime.wire import unpack
from kopt.targets.target import parse_target
from test.pallas.support import LOOPS, function, module, packed_inputs, reference, result_dtypes
from test.rotating import rotating

#: How many pipelines each kernel has: those of its loops that can be pipelined.
PIPELINES = {
    "conditions": 2,
    "gathers": 1,
    "in_block": 1,
    "in_place": 1,
    "last_visit": 1,
    "lengths": 1,
    "narrow_blocks": 3,
    "nested": 2,
    "refused": 1,
}
#: The examples with loops inside their cells, and their pipelines at the size ``ragged``.
EXAMPLES = {
    "attention": 1,
    "bmm": 1,
    "causal_attention": 1,
    "long_sum": 1,
    "matmul": 1,
    "matmul_epilogue": 1,
    "softmax_two_pass": 2,
    "welford": 2,
}
CHIPS = ("tpu7x", "v6e", "v5e")
TERMS = 1000


def lowered(name: str, target: str, loop_type: str = "pipeline"):
    return kopt.lower_module(module(name), target=target, config={"loop_type": loop_type})


def example_kernel(name: str, size: str):
    example = BY_NAME[name]
    return kopt.kernel(example.kernel, config={**example.sizes[size].config, "loop_type": "pipeline"})


def check(name: str, results):
    for value, wanted, dtype in zip(results, reference(name), result_dtypes(name), strict=True):
        assert mismatch(value, wanted, dtype, TERMS) is None, mismatch(value, wanted, dtype, TERMS)


def test_every_file_is_in_the_table():
    assert set(PIPELINES) == set(LOOPS)


@pytest.mark.parametrize("loop_type", ["pipeline", "fori", "resident"])
@pytest.mark.parametrize("name", LOOPS)
def test_interpreted(name, loop_type):
    pytest.importorskip("jax")
    from kopt.runtime.pallas_interpret import PallasRunner

    low = lowered(name, "pallas:interpret", loop_type)
    runner = PallasRunner(low.source, function(name).sym_name.data, parse_target("pallas:interpret"), False)
    check(name, runner.run([unpack(array, "jax") for array in packed_inputs(name)]))
    assert low.source.count("emit_pipeline(") == (PIPELINES[name] if loop_type == "pipeline" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_strict(name):
    pytest.importorskip("jax")
    from kopt.runtime.pallas_strict import StrictRunner

    low = lowered(name, "pallas:strict")
    entry = function(name).sym_name.data
    runner = StrictRunner(low.source, entry, parse_target("pallas:strict"), False, 64, 120.0)
    check(name, [unpack(value, "numpy") for value in runner.run(packed_inputs(name))])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chip"), rotating(LOOPS, CHIPS[-1], CHIPS[:-1]))
def test_compiles(name, chip):
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    report = lowered(name, f"pallas:{chip}").report(estimates=False)
    assert report["legal"], report["reason"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name):
    args = BY_NAME[name].make_args("ragged", DTYPES["f32"])
    kernel = example_kernel(name, "ragged")
    got = kernel.on("pallas:interpret")(*args)
    assert mismatches(BY_NAME[name], "ragged", got, BY_NAME[name].reference(*args)) == []
    sources = {kernel.lower(*args, target=target).source for target in ("pallas:interpret", "pallas:strict")}
    assert len(sources) == 1 and sources.pop().count("emit_pipeline(") == EXAMPLES[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_in_strict_mode(name):
    args = BY_NAME[name].make_args("tiny", DTYPES["bf16"])
    got = example_kernel(name, "tiny").on("pallas:strict")(*args)
    assert mismatches(BY_NAME[name], "tiny", got, BY_NAME[name].reference(*args)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chip"), list(zip(EXAMPLES, cycle(CHIPS))))
def test_example_compiles(name, chip):
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    args = BY_NAME[name].make_args("ragged", DTYPES["bf16"])
    low = example_kernel(name, "ragged").lower(*args, target=f"pallas:{chip}")
    assert low.source == example_kernel(name, "ragged").lower(*args, target=f"pallas:interpret@{chip}").source
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]


def test_a_loop_that_cannot_be_pipelined_says_why():
    remarks = [str(note) for note in lowered("refused", "pallas:interpret").remarks]
    assert sum("the loop is not pipelined: 'y' is accessed at places that do not move" in note for note in remarks) == 1


@pytest.mark.parametrize("shape", [(5, 0, 6), (0, 7, 6), (1, 1, 1), (1, 129, 1)])
def test_small_sizes(shape):
    torch = pytest.importorskip("torch")
    m, k, n = shape
    x, y = torch.randn(m, k), torch.randn(k, n)
    kernel = kopt.kernel(BY_NAME["matmul"].kernel, config={"block_sizes": [8, 128, 128], "loop_type": "pipeline"})
    torch.testing.assert_close(kernel.on("pallas:interpret")(x, y), x @ y)
