"""Updates of computed rows, by every formulation: the rewritten IR, the interpreters and the chips."""

from __future__ import annotations

import importlib.util
import itertools
from functools import cache

import numpy as np
import pytest
from xdsl.dialects.builtin import MemRefType

import kopt
from kopt.analysis.entry import entry_function
from kopt.dtypes import DType, from_ir
from kopt.interpreter import run
from kopt.passes import pipelines
from kopt.runtime.tolerance import mismatch
from kopt.runtime.wire import from_reference, to_reference, unpack
from kopt.targets.target import parse_target
from test.pallas.scatter_cases import CASES, Case

KINDS = ("one_hot", "row_loop", "row_dma")


def parsed(text: str):
    return kopt.parse(text, "scatter.mlir")


def argument_types(text: str) -> list[MemRefType]:
    types = entry_function(parsed(text), "f").function_type.inputs
    return [type for type in types if isinstance(type, MemRefType)]


def dtype_of(type) -> DType:
    found = from_ir(type.element_type)
    assert found is not None
    return found


def inputs(case: Case, seed: int = 0) -> list[np.ndarray]:
    """Row numbers in the array, many of them twice; small whole numbers, whose sums are exact in any order."""
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(0, max(1, case.shape[0]), case.updates).astype("i4" if case.index == "i32" else "i8")]
    for type in argument_types(case.text)[1:]:
        dtype = dtype_of(type)
        if dtype.kind == "bool":
            arrays.append(rng.random(type.get_shape()) > 0.4)
            continue
        numbers = rng.integers(-4, 5, type.get_shape())
        arrays.append(to_reference(from_reference(numbers.astype(dtype.numpy), dtype)))
    return arrays


def reference(text: str, arrays: list[np.ndarray]) -> list[np.ndarray]:
    module = kopt.run_pipeline(parsed(text), "return-mutated-arguments")
    return [np.asarray(a) for a in run(module, "f", [a.copy() for a in arrays])]


@pytest.fixture
def forced(monkeypatch):
    """Makes the pipelines use one formulation."""
    make = pipelines._make

    def force(kind: str) -> None:
        def made(name, **options):
            return make(name, **(options | ({"prefer": (kind,)} if name == "plan-values" else {})))

        monkeypatch.setattr(pipelines, "_make", made)

    return force


def interpreted(text: str, arrays: list[np.ndarray], wide: bool = False) -> list[object]:
    pytest.importorskip("jax")
    from kopt.runtime.exchange import wide as wide_numbers
    from kopt.runtime.pallas_interpret import PallasRunner

    target = parse_target("pallas:interpret")
    low = kopt.lower_module(parsed(text), target="pallas:interpret")
    runner = PallasRunner(low.source, "f", target, wide)
    dtypes = [dtype_of(type) for type in argument_types(text)]
    with wide_numbers(wide):
        return runner.run([unpack(from_reference(a, d), "jax") for a, d in zip(arrays, dtypes, strict=True)])


@cache
def expected(case: Case) -> list[np.ndarray]:
    """What the reference makes of `inputs`."""
    return reference(case.text, inputs(case))


def check(case: Case, results: list[object]) -> None:
    written = argument_types(case.text)[-2 if case.previous else -1 :]
    for found, wanted, type in zip(results, expected(case), written, strict=True):
        assert mismatch(found, wanted, dtype_of(type), 100) is None, mismatch(found, wanted, dtype_of(type), 100)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_rewritten_ir_means_the_same(name, kind):
    case = CASES[name]
    arrays = inputs(case)
    values = f"normalise-accesses,plan-values{{prefer={kind}}},realise-values"
    passes = f"return-mutated-arguments,functionalise-host,{values},insert-masks,cse,dce"
    results = run(kopt.run_pipeline(parsed(case.text), passes), "f", [a.copy() for a in arrays], masked=True)
    check(case, list(results))


@pytest.mark.parametrize("name", CASES)
def test_interpreted(name):
    case = CASES[name]
    arrays = inputs(case)
    check(case, interpreted(case.text, arrays, case.index == "i64"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["scatter_add", "histogram_f32", "exchanged"])
def test_each_formulation_interpreted(name, kind, forced):
    forced(kind)
    arrays = inputs(CASES[name])
    check(CASES[name], interpreted(CASES[name].text, arrays))


#: Blocks of rows that no DMA moves.
NARROW = ("stored_in_narrow_blocks", "row_dma")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), [*itertools.product(["scatter_add_f16", "tickets_bf16", "stored"], KINDS), NARROW]
)
def test_strict(name, kind, forced):
    pytest.importorskip("jax")
    from kopt.runtime.pallas_strict import StrictRunner

    forced(kind)
    case = CASES[name]
    arrays = inputs(case)
    low = kopt.lower_module(parsed(case.text), target="pallas:strict")
    runner = StrictRunner(low.source, "f", parse_target("pallas:strict"), False, 64, 240.0)
    dtypes = [dtype_of(type) for type in argument_types(case.text)]
    packed = runner.run([from_reference(a, d) for a, d in zip(arrays, dtypes, strict=True)])
    check(case, [unpack(value, "numpy") for value in packed])


#: One of each shape and formulation.
ON_EACH_CHIP = ("scatter_add", "segment_max_bf16", "histogram_i8_max", "tickets", "compared_rows")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "chip"),
    [*((name, "tpu7x") for name in CASES), *((name, chip) for name in ON_EACH_CHIP for chip in ("v6e", "v5e"))],
)
def test_compiles(name, chip):
    _assert_legal(CASES[name], chip)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"),
    [*itertools.product(["scatter_add", "segment_max_bf16", "tickets", "compared_rows"], KINDS), NARROW],
)
def test_each_formulation_compiles(name, kind, forced):
    forced(kind)
    _assert_legal(CASES[name], "v6e")


def _assert_legal(case: Case, chip: str) -> None:
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    report = kopt.lower_module(parsed(case.text), target=f"pallas:{chip}").report(estimates=False)
    assert report["legal"], report["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "updates", "width"), [(384, 64, 256), (384, 256, 256), (2048, 256, 256)])
def test_choice_is_within_a_tenth_of_the_best(rows, updates, width):
    """By libtpu's own estimates of the formulations."""
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    case = Case(shape=(rows, width), updates=updates, block=updates, columns=width)
    cycles = {}
    for kind in (None, "one_hot", "row_loop"):
        config = {} if kind is None else {"accesses": {"out": kind}}
        report = kopt.lower_module(parsed(case.text), target="pallas:v6e", config=config).report(profile=True)
        cycles[kind] = report["libtpu_cycles"]
    assert cycles[None] <= 1.1 * min(cycles.values()), cycles


@pytest.mark.parametrize("kind", KINDS)
def test_infinities_stay_in_their_rows(kind, forced):
    forced(kind)
    case = CASES["scatter_add"]
    arrays = inputs(case)
    arrays[1][3, 5], arrays[1][4, 6], arrays[1][5, 7], arrays[1][6, 7] = np.inf, np.nan, np.inf, -np.inf
    arrays[0][5] = arrays[0][6]
    (found,) = interpreted(case.text, arrays)
    (wanted,) = reference(case.text, arrays)
    np.testing.assert_array_equal(np.asarray(found), wanted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["scatter_add", "histogram", "stored_elements"])
def test_rows_outside_the_array_update_nothing(name, kind, forced):
    forced(kind)
    case = CASES[name]
    arrays = inputs(case)
    arrays[0][::7] = case.shape[0]
    arrays[0][::11] = -1
    kept = (arrays[0] >= 0) & (arrays[0] < case.shape[0])
    (found,) = interpreted(case.text, arrays)
    fewer = Case(case.what, case.dtype, case.shape, int(kept.sum()), case.index, case.block, case.columns)
    (wanted,) = reference(fewer.text, [arrays[0][kept], arrays[1][kept], arrays[2]])
    assert mismatch(found, wanted, dtype_of(argument_types(case.text)[2]), 100) is None


@pytest.mark.parametrize("block", [16, 64])
def test_tickets_of_several_cells_are_all_different(block):
    case = Case("add", "i32", shape=(5,), updates=100, block=block, previous=True)
    arrays = inputs(case)
    arrays[1][:], arrays[2][:] = 1, 0
    counts, tickets = (np.asarray(result) for result in interpreted(case.text, arrays))
    np.testing.assert_array_equal(counts, np.bincount(arrays[0], minlength=5))
    for bin in range(5):
        assert sorted(tickets[arrays[0] == bin]) == list(range(counts[bin]))
