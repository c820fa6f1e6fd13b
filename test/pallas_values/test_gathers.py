"""Gathers through the whole Pallas pipeline: right in both interpreters, and compiled for chips."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import cycle

import numpy as np
import pytest

import kopt
from kopt.analysis.values.gathers import choices
from kopt.config import Config
from kopt.context import make_context
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp
from kopt.dtypes import BY_SPEC
from kopt.ir.sums import SumAnalysis
from kopt.lowering import emit
from kopt.pass_manager import run as run_passes
from kopt.passes.pipelines import pipeline
from kopt.runtime.pallas_interpret import exact_options, interpreted_module
from kopt.runtime.pallas_strict import StrictRunner
from kopt.runtime.report import report
from kopt.runtime.wire import from_reference, to_reference
from kopt.specs import TensorSpec
from kopt.targets.chips import TPU_CHIPS
from kopt.targets.target import parse_target
from kopt.walk import walk
from test.pallas_values.support import CHIPS
from test.rotating import rotating


@dataclass(frozen=True)
class Case:
    """A kernel of ``%x`` and index arrays: the table, the block to load, and what NumPy makes of it."""

    table: tuple[int, ...]
    index: str
    block: str
    shape: tuple[int, ...]
    expected: str
    ids: tuple[int, ...] = (40,)
    grid: str = "(%i: b0=16) in (40)"
    load: str = "[%i]"
    lanes: str = "b0=16"
    accesses: dict[str, str] = field(default_factory=dict)
    before: str = ""
    after: str = ""
    below: int = 0


#: ``%k``: 130 and the number of the cell.
_BLOCK_NUMBER = """
    %c = arith.constant 130 : index
    %d = tile.id %i : !tile.range<b0=16>
    %k = arith.addi %c, %d : index"""


def _runs(first: str, step: int = 1, start: int = 0, size: int = 40) -> str:
    """``%at``: ``first`` and the elements of ``start``, ``start + step``, … that follow it, for each place."""
    type = f"!tile.tile<b0=16 x {size} x i32>"
    return f"""
    %f = tile.broadcast {first} dims [0] : !tile.tile<b0=16 x i32> to {type}
    %a = tile.arange {start}, {step} : !tile.tile<{size} x i32>
    %w = tile.broadcast %a dims [1] : !tile.tile<{size} x i32> to {type}
    %r = tile.broadcast %l dims [0] : !tile.tile<b0=16 x i32> to {type}
    %at = tile.add %f, %w : {type}"""


_EIGHTS = """
    %e = tile.full 8 : !tile.tile<b0=16 x i32>
    %n8 = tile.mul %n, %e : !tile.tile<b0=16 x i32>"""

_BOUNDS = """
    %z = tile.full 0 : !tile.tile<b0=16 x i32>
    %t = tile.full 3 : !tile.tile<b0=16 x i32>
    %h = tile.full 33 : !tile.tile<b0=16 x i32>
    %b = tile.sub %l, %t : !tile.tile<b0=16 x i32>
    %g = tile.maximum %b, %z : !tile.tile<b0=16 x i32>
    %at = tile.minimum %g, %h : !tile.tile<b0=16 x i32>"""

CASES = {
    "bounded lanes": Case(
        (8, 40),
        "[%j, %at]",
        "b1=8 x b0=16",
        (8, 40),
        "x[:, np.clip(np.arange(40) - 3, 0, 33)]",
        grid="(%i: b0=16, %j: b1=8) in (40, 8)",
        after=_BOUNDS,
    ),
    "runs": Case(
        (6000,),
        "[%at]",
        "b0=16 x 40",
        (40, 40),
        "x[n[:, None] + np.arange(40)]",
        after=_runs("%n"),
        below=5961,
    ),
    "runs from eighths": Case(
        (5999,),
        "[%at]",
        "b0=16 x 140",
        (40, 140),
        "x[n[:, None] * 8 + np.arange(140)]",
        after=_EIGHTS + _runs("%n8", size=140),
        below=733,
    ),
    "own lanes": Case(
        (30, 20, 400),
        "[%r, %f, %w]",
        "b0=16 x 40",
        (40, 40),
        "x[np.arange(40)[:, None] % 30, n[:, None], 40 + np.arange(40)]",
        after=_EIGHTS.replace("8 :", "30 :")
        + _runs("%n", start=40).replace("%r =", "%p =")
        + "\n    %q = tile.rem %l, %e : !tile.tile<b0=16 x i32>"
        + "\n    %r = tile.broadcast %q dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 40 x i32>",
        below=20,
    ),
    "every third lane": Case(
        (6000,),
        "[%at]",
        "b0=16 x 40",
        (40, 40),
        "x[n[:, None] + 5 + 3 * np.arange(40)]",
        after=_runs("%n", 3, 5),
        below=5870,
    ),
    "third lanes from a cell's element on": Case(
        (6000,),
        "[%at]",
        "40",
        (40,),
        "x[np.arange(40) * 3 + 2 + 130]",
        grid="(%i: b0=16, %y: b1=40) in (1, 40)",
        before=_BLOCK_NUMBER,
        after="""
    %s = tile.splat %k : index to !tile.tile<40 x i32>
    %a = tile.arange 2, 3 : !tile.tile<40 x i32>
    %at = tile.add %s, %a : !tile.tile<40 x i32>""",
    ),
    "elements of groups": Case(
        (6000,),
        "[%p]",
        "b0=16",
        (40,),
        "x[n * 8 + 3]",
        after=_EIGHTS
        + """
    %three = tile.full 3 : !tile.tile<b0=16 x i32>
    %p = tile.add %n8, %three : !tile.tile<b0=16 x i32>""",
        below=749,
    ),
    "runs of rows": Case(
        (40, 200),
        "[%r, %at]",
        "b0=16 x 40",
        (40, 40),
        "x[np.arange(40)[:, None], n[:, None] + np.arange(40)]",
        after=_runs("%n"),
        below=161,
    ),
    "runs of a row": Case(
        (3, 200), "[1, %at]", "b0=16 x 40", (40, 40), "x[1, n[:, None] + np.arange(40)]", after=_runs("%n"), below=161
    ),
    "rows by product": Case((30, 200), "[%n, :]", "b0=16 x 200", (40, 200), "x[n]"),
    "rows by DMA": Case((30, 200), "[%n, :]", "b0=16 x 200", (40, 200), "x[n]", accesses={"x": "rows"}),
    "ragged columns": Case(
        (30, 200),
        "[%n, %j]",
        "b0=16 x b1=128",
        (40, 200),
        "x[n]",
        grid="(%i: b0=16, %j: b1=128) in (40, 200)",
        accesses={"x": "rows"},
    ),
    "columns that divide": Case(
        (30, 256),
        "[%n, %j]",
        "b0=16 x b1=128",
        (40, 256),
        "x[n]",
        grid="(%i: b0=16, %j: b1=128) in (40, 256)",
        accesses={"x": "rows"},
    ),
    "elements": Case((5000,), "[%n]", "b0=16", (40,), "x[n]"),
    "few elements": Case((100,), "[%n]", "b0=16", (40,), "x[n]"),
    "lanes of rows": Case((30, 200), "[3, %n]", "b0=16", (40,), "x[3, n]"),
    "one lane of rows": Case((2000, 200), "[%n, 3]", "b0=16", (40,), "x[n, 3]"),
    "a computed lane of rows": Case(
        (2000, 200), "[%n, %k]", "b0=16", (40,), "x[n, 130 + np.arange(40) // 16]", before=_BLOCK_NUMBER
    ),
    "a computed lane of few rows": Case(
        (30, 200), "[%n, %k]", "b0=16", (40,), "x[n, 130 + np.arange(40) // 16]", before=_BLOCK_NUMBER
    ),
    "one inner row": Case((30, 60, 200), "[%n, 21, :]", "b0=16 x 200", (40, 200), "x[n, 21]"),
    "a computed inner row": Case(
        (30, 160, 200),
        "[%n, %k, :]",
        "b0=16 x 200",
        (40, 200),
        "x[n, 130 + np.arange(40) // 16]",
        before=_BLOCK_NUMBER,
    ),
    "both": Case((30, 200), "[%n, %n]", "b0=16", (40,), "x[n, n]"),
    "outer rows": Case((30, 6, 200), "[%n, :, :]", "b0=16 x 6 x 200", (40, 6, 200), "x[n]"),
    "inner rows": Case((3, 30, 200), "[1, %n, :]", "b0=16 x 200", (40, 200), "x[1, n]"),
    "after a block": Case(
        (8, 30, 128),
        "[%j, %n, :]",
        "b1=8 x b0=16 x 128",
        (8, 40, 128),
        "x[:, n]",
        grid="(%i: b0=16, %j: b1=8) in (40, 8)",
    ),
    "a matrix of numbers": Case(
        (30, 128),
        "[%n, :]",
        "b0=16 x 4 x 128",
        (40, 4, 128),
        "x[n]",
        ids=(40, 4),
        load="[%i, :]",
        lanes="b0=16 x 4",
    ),
    "lane numbers": Case((40, 200), "[%l, :]", "b0=16 x 200", (40, 200), "x"),
}
TYPES = {"f32": np.float32, "bf16": np.float32, "i32": np.int32, "i8": np.int8}


def _store_entries(case: Case) -> str:
    names = {"b0": "%i", "b1": "%j"}
    return f"[{', '.join(names.get(part[:2], ':') for part in case.block.split(' x '))}]"


def text_of(case: Case, element: str, index: str = "i32") -> str:
    """The kernel as IR text."""
    dims = lambda shape: "".join(f"{size}x" for size in shape)  # noqa: E731
    table, ids, out = f"{dims(case.table)}{element}", f"{dims(case.ids)}{index}", f"{dims(case.shape)}{element}"
    return f"""
func.func @gather(%x: memref<{table}>, %ids: memref<{ids}>) -> memref<{out}> {{
  %out = host.alloc : memref<{out}>
  tile.grid {case.grid} {{{case.before}
    %l = tile.index %i : !tile.range<b0=16>
    %n = tile.load %ids{case.load} : memref<{ids}> -> !tile.tile<{case.lanes} x {index}>{case.after}
    %v = tile.load %x{case.index} : memref<{table}> -> !tile.tile<{case.block} x {element}>
    tile.store %v, %out{_store_entries(case)} : !tile.tile<{case.block} x {element}>, memref<{out}>
  }}
  func.return %out : memref<{out}>
}}
"""


def emitted(case: Case, element: str, index: str = "i32") -> str:
    """The Pallas module, with what the case pins of its accesses."""
    module = kopt.parse(text_of(case, element, index))
    return kopt.lower_module(module, target="pallas:tpu7x", config={"accesses": case.accesses}).source


def _arrays(case: Case, element: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    numbers = rng.integers(-100, 100, case.table)
    table = numbers.astype(TYPES[element])
    if element == "f32":
        table.reshape(-1)[::7], table.reshape(-1)[1::13] = np.nan, -np.inf
    extents = [
        size for size, entry in zip(case.table, case.index.strip("[]").split(", "), strict=True) if entry == "%n"
    ]
    return table, rng.integers(0, case.below or min(extents or [1]), case.ids).astype(np.int32)


def _expected(case: Case, table: np.ndarray, ids: np.ndarray) -> np.ndarray:
    return eval(case.expected, {"x": table, "n": ids, "np": np})


def _interpreted(source: str, table: np.ndarray, ids: np.ndarray, element: str) -> np.ndarray:
    import jax
    import jax.numpy as jnp

    module = interpreted_module(source, "gather")
    dtype = BY_SPEC[element].jax
    result = jax.jit(module.gather, compiler_options=exact_options())(jnp.asarray(table, dtype), ids)
    return np.asarray(result.astype(table.dtype))


@pytest.mark.parametrize(("name", "element"), list(zip(CASES, cycle(["bf16", "i8"]))))
def test_rows_arrive(name: str, element: str) -> None:
    """Each place holds what NumPy's indexing gives, in a type of two bytes or of one; f32 by every access is below."""
    case = CASES[name]
    table, ids = _arrays(case, element)
    found = _interpreted(emitted(case, element), table, ids, element)
    np.testing.assert_array_equal(found, _expected(case, table, ids))


def _kinds(case: Case, element: str) -> list[str]:
    """The kinds that the access of ``%x``, or its first part, may have."""
    module = kopt.parse(text_of(case, element))
    kopt.run_pipeline(module, "functionalise-host,normalise-accesses")
    (launch,) = walk(module, LaunchOp)
    load, *_ = [op for op in walk(launch, LoadOp) if (op.memory.name_hint or "").startswith("x")]
    return [choice.kind for choice in choices(load, launch, TPU_CHIPS["v6e"], SumAnalysis())]


@pytest.mark.parametrize("name", CASES)
def test_every_kind_is_right(name: str) -> None:
    """What an access may be it can be made, and then has the same values, NaN of other rows notwithstanding."""
    case = CASES[name]
    table, ids = _arrays(case, "f32")
    pinned = {emitted(replace(case, accesses={"x": kind}), "f32"): kind for kind in _kinds(case, "f32")}
    for source, kind in {emitted(case, "f32"): "what is chosen", **pinned}.items():
        found = _interpreted(source, table, ids, "f32")
        np.testing.assert_array_equal(found, _expected(case, table, ids), err_msg=kind)


def test_numbers_outside_the_array_do_not_crash() -> None:
    """Row numbers are clamped: what they fetch is unspecified."""
    case = CASES["rows by DMA"]
    table, ids = _arrays(case, "i32")
    _interpreted(emitted(case, "i32"), table, ids + 10**6, "i32")


def test_masked_lanes_take_other() -> None:
    """A mask of the load is a select after the gather."""
    case = replace(CASES["elements"])
    masked = text_of(case, "f32").replace(
        "    %v = tile.load %x[%n] :",
        "    %z = tile.full 2500 : !tile.tile<b0=16 x i32>\n"
        "    %m = tile.lt %n, %z : !tile.tile<b0=16 x i32>\n"
        "    %v = tile.load %x[%n] mask %m other 7.0 :",
    )
    module = kopt.parse(masked)
    run_passes(module, make_context(), pipeline(parse_target("pallas:tpu7x"), Config()))
    table, ids = _arrays(case, "f32")
    found = _interpreted(emit(module, "gather", "pallas"), table, ids, "f32")
    np.testing.assert_array_equal(found, np.where(ids < 2500, table[ids], 7.0))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_strict(name: str) -> None:
    """No race, nothing out of bounds, no memory that nothing wrote."""
    case = CASES[name]
    table, ids = _arrays(case, "i32")
    specs = BY_SPEC["i32"]
    runner = StrictRunner(emitted(case, "i32"), "gather", parse_target("pallas:strict"), False, 256, None)
    (found,) = runner.run([from_reference(table, specs), from_reference(ids, specs)])
    np.testing.assert_array_equal(to_reference(found), _expected(case, table, ids))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "element", "chip"),
    [
        (name, element, chip)
        for ((name, chip), element) in zip(rotating(CASES, CHIPS[-1], CHIPS[:-1]), cycle((*TYPES, "f32")))
    ],
)
def test_compiles(name: str, element: str, chip: str) -> None:
    """Every case compiles for the chip that has the fewest operations, and for a newer one in another type."""
    case = CASES[name]
    specs = (TensorSpec(case.table, BY_SPEC[element]), TensorSpec(case.ids, BY_SPEC["i32"]))
    facts = report(emitted(case, element), "gather", specs, f"pallas:{chip}", estimates=False)
    assert facts["legal"], facts["reason"]
