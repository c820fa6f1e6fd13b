"""Plans that are written down are obeyed: what ``plan-accesses`` wrote, and what a person made of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from support.imported import imported
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnknownLoc
from xdsl.passes import ModulePass

import kopt
from examples.registry import BY_NAME
from kopt.config import Config
from kopt.context import make_context
from kopt.dialects.tile import Access, GridOp
from kopt.errors import LoweringError
from kopt.lowered import Lowered
from kopt.lowering import emit
from kopt.parsing import parse_module
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.targets.target import parse_target

PRODUCT = """
func.func @product(%x: memref<200x384xf32>, %y: memref<384x256xf32>, %scale: memref<4xf32>) -> memref<200x256xf32> {
  %out = host.alloc : memref<200x256xf32>
  tile.grid (%i: b0=64, %j: b1=128) in (200, 256) {
    %f = tile.load %scale[2] : memref<4xf32> -> !tile.tile<f32>
    %z = tile.full 0.0 : !tile.tile<b0=64 x b1=128 x f32>
    %r = tile.for %k: b2=128 in (0, 384) iter(%a = %z) -> (!tile.tile<b0=64 x b1=128 x f32>) {
      %v = tile.load %x[%i, %k] : memref<200x384xf32> -> !tile.tile<b0=64 x b2=128 x f32>
      %w = tile.load %y[%k, %j] : memref<384x256xf32> -> !tile.tile<b2=128 x b1=128 x f32>
      %n = tile.dot %v, %w, %a : !tile.tile<b0=64 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32> -> !tile.tile<b0=64 x b1=128 x f32>
      tile.yield %n : !tile.tile<b0=64 x b1=128 x f32>
    }
    %b = tile.broadcast %f dims [] : !tile.tile<f32> to !tile.tile<b0=64 x b1=128 x f32>
    %s = tile.mul %r, %b : !tile.tile<b0=64 x b1=128 x f32>
    tile.store %s, %out[%i, %j] : !tile.tile<b0=64 x b1=128 x f32>, memref<200x256xf32>
  }
  func.return %out : memref<200x256xf32>
}
"""  # noqa: E501
INTERPRET = parse_target("pallas:interpret")
#: The loop is a dimension of the grid.
GRID = Config(loop_type="grid")


def planned() -> str:
    """The product as text, with its plan."""
    module, passes = parse_module(PRODUCT), pipeline(INTERPRET, GRID)
    last = [pass_.name for pass_ in passes].index("plan-accesses")
    run(module, make_context(), passes[: last + 1], verify_each=True)
    return str(module)


def in_kernel(kind: str) -> dict[str, str]:
    """The edits that have the loop bring its own blocks."""
    edits = {f"{name}_1 window({axis}, k)": f"{name}_1 {kind}(k)" for name, axis in (("x", "i"), ("y", "j"))}
    return {"order [i, j, k]": "order [i, j]", "schedule grid": f"schedule {kind}", **edits}


#: The edits that have what the loop walks on the chip at once.
RESIDENT = {
    "order [i, j, k]": "order [i, j]",
    "schedule grid": "schedule resident",
    **{f"{name}_1 window({axis}, k)": f"{name}_1 resident({axis})" for name, axis in (("x", "i"), ("y", "j"))},
}


def lowered(text: str) -> Lowered:
    """Text, with a plan or without, through the whole pipeline."""
    return kopt.lower_module(parse_module(text), target="pallas:interpret", config={"loop_type": "grid"})


def check(low: Lowered) -> None:
    """The code computes the product under the interpreter."""
    new = np.random.default_rng(0).standard_normal
    x, y, scale = (new(shape).astype(np.float32) for shape in ((200, 384), (384, 256), (4,)))
    found = np.asarray(low.compile()(x, y, scale))
    np.testing.assert_allclose(found, x @ y * scale[2], rtol=1e-4, atol=1e-4)  # 384 terms of f32


def without_places(code: str) -> list[str]:
    """The lines of code without what names lines of the source."""
    lines = (re.sub(r"(  |^ *)# .*|<string>:[0-9]+", "", line).rstrip() for line in code.splitlines())
    return [line for line in lines if line]


def test_text_of_a_plan_is_the_plan() -> None:
    """Printed, read again and lowered it is the same code as lowered at once."""
    text = planned()
    assert "@x = %x_1 window(i, k) x2" in text and "schedule grid" in text
    low = lowered(text)
    assert without_places(low.source) == without_places(lowered(PRODUCT).source)
    check(low)


@pytest.mark.parametrize(
    ("edits", "expected", "gone"),
    [
        (RESIDENT, "fori_loop", "@pl.when"),
        (RESIDENT | {"schedule grid": "schedule resident unroll 3"}, "unroll=3", "@pl.when"),
        (in_kernel("prefetch"), "make_async_copy", "program_id(2)"),
        (in_kernel("emit_pipeline"), "emit_pipeline", "program_id(2)"),
        ({"scale_1 smem": "scale_1 window"}, "BlockSpec", "SMEM"),
        ({"order [i, j, k]": "order [j, i, k]"}, "lambda j, i, k: (i, k)", "lambda i, j, k"),
        ({"parallel [i, j]": "parallel [i]"}, '"parallel", "arbitrary", "arbitrary"', '"parallel", "parallel"'),
    ],
)
def test_edits_are_obeyed(edits: dict[str, str], expected: str, gone: str) -> None:
    text = planned()
    for old, new in edits.items():
        assert old in text, text
        text = text.replace(old, new)
    low = lowered(text)
    assert expected in low.source, low.source
    assert gone not in low.source, low.source
    check(low)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("x_1 window(i, k)", "x_1 smem", 12, "'x' cannot stand in a buffer of kind 'smem' here: window"),
        ("x_1 window(i, k)", "x_1 prefetch(k)", 12, "'x' cannot stand in a buffer of kind 'prefetch' here: window"),
        ("x_1 window(i, k)", "x_1 window(i)", 12, r"the blocks of 'x' move with \(i, k\) as 'window' here, not"),
        ("x_1 window(i, k) x2", "x_1 window(i, k) x3", 12, "'x' has x2 as 'window' here: no Pallas code is made of x3"),
        ("window(i, j) x2", "window(i, j) x2 accumulate(k)", 19, r"code is made of '@out = %out window\(i, j\) x2 acc"),
        ("order [i, j, k]", "order [k, i, j]", 4, r"\(k\) sums over visits: it is inside of all others in the order"),
        ("schedule grid", "schedule resident", 4, "the order has 'k', which is no dimension of the grid"),
        ("schedule grid", "schedule resident unroll 2", 11, "the loop cannot be unrolled by 2: it has 3 visits"),
        ("schedule grid", "schedule prefetch unroll 3", 11, "its schedule is 'prefetch', and only loops of schedule"),
        ("schedule grid", "schedule resident peel(full | ragged)", 11, "no code is made of that yet"),
        ("schedule grid", "schedule walk", 4, "the order has 'k', which is no dimension of the grid"),
        ("parallel [i, j]", "parallel [i, j] warps 4", 4, "no Pallas call has 'warps' yet"),
        ("parallel [i, j]", "parallel [i, j] views [%x_1 pad]", 4, "no Pallas call has 'views' yet"),
    ],
)
def test_what_cannot_be_is_refused(old: str, new: str, line: int, message: str) -> None:
    """By ``verify-plan``, at the access, the loop or the grid that it is about."""
    text = planned()
    assert old in text, text
    module = parse_module(text.replace(old, new))
    with pytest.raises(LoweringError, match=message) as caught:
        kopt.lower_module(module, target="pallas:interpret")
    assert caught.value.location is not None and caught.value.location.line == line
    with pytest.raises(LoweringError, match=message):
        kopt.run_pipeline(module, "verify-plan")


def test_kinds_that_only_read_are_no_plan_of_a_store() -> None:
    with pytest.raises(kopt.KoptError, match="only reads"):
        lowered(planned().replace("out_1 window(i, j)", "out_1 rows"))


@pytest.mark.parametrize("target", ["pallas:v6e", "triton:sm90"])
@pytest.mark.parametrize("name", BY_NAME)
def test_plans_of_examples_are_text(name: str, target: str) -> None:
    """Every array of every launch has a buffer; printed, read again and lowered, it is the same code.

    Every pass on the way leaves IR that verifies.
    """
    module, entry, named, config = imported(BY_NAME[name], "ragged", target)
    passes = pipeline(named, config)
    last = [pass_.name for pass_ in passes].index("plan-accesses")
    run(module, make_context(), passes[: last + 1], verify_each=True)
    again = parse_module(str(module))
    assert str(again) == str(module)
    for grid in [op for op in again.walk() if isinstance(op, GridOp)]:
        assert grid.plan is not None
        assert all(op.via is not None for op in grid.walk() if isinstance(op, Access) and is_array(op))
    rest, family = passes[last + 1 :], named.family
    assert rest_of(module, rest, entry, family) == rest_of(again, rest, entry, family, verify_each=True)


def rest_of(
    module: ModuleOp, passes: Sequence[ModulePass], entry: str, family: str, *, verify_each: bool = False
) -> str:
    """What becomes of a planned module. Its ops have no places: values of one source line share lines of code."""
    for op in module.walk():
        op.location = UnknownLoc()
    run(module, make_context(), passes, verify_each=verify_each)
    return emit(module, entry, family)


def is_array(access: Access) -> bool:
    """Whether an access is of an array, not of memory of the chip."""
    return isinstance(access.memory.type, MemRefType)
