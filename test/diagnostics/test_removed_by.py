"""The pass that an error names as missing is the one whose absence the error is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

import kopt
from kopt.context import make_context
from kopt.parsing import parse_module
from kopt.pass_manager import parse_pipeline, run
from kopt.passes.pipelines import printable
from kopt.passes.verifying.removed_by import REMOVED_BY

LIT = Path(__file__).parents[1] / "lit" / "passes"
#: Whose last looks name passes, by the table.
LOOKS = {"pallas": ("pallas", "jax"), "triton": ("triton", "torch")}
#: What comes after the pass, so that its absence is seen in kernels; on the host it is seen at once.
AFTER = {
    "pallas": "return-mutated-arguments,functionalise-host,eliminate-output-only,apply-schedule,bind-buffers",
    "triton": "convert-tile-to-triton",
}
#: Options and passes that a pass needs.
NEEDS = {"expand-collectives": "expand-collectives{ranks=4}"}
BEFORE = {"bind-buffers": "return-mutated-arguments,functionalise-host,eliminate-output-only,apply-schedule"}
ENTRIES = [(family, name, by) for family, table in REMOVED_BY.items() for name, by in table.items()]

CELLS = """func.func @f(%x: memref<13x6xf32>, %y: memref<13xi32>, %z: memref<13xf32>) {{
  tile.grid (%i: b0=4) in (13) {{
    %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    {}
  }}
  func.return
}}"""
#: Kernels for what no lit test of the pass has in a form that comes through alone.
MORE = {
    "tile.valid_count": CELLS.format(
        """%n = tile.valid_count %i : !tile.range<b0=4>
    %s = tile.splat %n : index to !tile.tile<b0=4 x i32>
    tile.store %s, %y[%i] : !tile.tile<b0=4 x i32>, memref<13xi32>"""
    ),
    "tile.valid_lanes": CELLS.format(
        """%k = tile.valid_lanes %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<b0=4 x 6 x i1>
    %z0 = tile.full 0.0 : !tile.tile<b0=4 x 6 x f32>
    %s = tile.select %k, %v, %z0 : !tile.tile<b0=4 x 6 x f32>
    tile.store %s, %x[%i, :] : !tile.tile<b0=4 x 6 x f32>, memref<13x6xf32>"""
    ),
    "tile.dynamic_slice": CELLS.format(
        """%c = arith.constant 2 : index
    %e = tile.exp %v : !tile.tile<b0=4 x 6 x f32>
    %d = tile.dynamic_slice %e from %c dim 1 : !tile.tile<b0=4 x 6 x f32> to !tile.tile<b0=4 x 1 x f32>
    %r = tile.reshape %d : !tile.tile<b0=4 x 1 x f32> to !tile.tile<b0=4 x f32>
    tile.store %r, %z[%i] : !tile.tile<b0=4 x f32>, memref<13xf32>"""
    ),
}


def kernels(name: str, by: str) -> Iterator[str]:
    """What the pass's own tests have, and more."""
    for path in sorted(LIT.glob(f"{by}*.mlir")):
        yield from path.read_text().split("// -----")
    if name in MORE:
        yield MORE[name]
    if by in BEFORE:
        yield from (LIT / "functionalise-host.mlir").read_text().split("// -----")


def after(text: str, *passes: str) -> ModuleOp:
    """A module as a pipeline leaves it."""
    module = parse_module(text)
    run(module, make_context(), parse_pipeline(f"builtin.module({','.join(filter(None, passes))})"))
    return module


def named(module: ModuleOp, family: str, by: str) -> set[str]:
    """The operations, and their dialects, of which the last look says that a pass is missing."""
    looks = [look for one in LOOKS[family] for look in printable(one)]
    said = [problem for look in looks for problem in look.problems(module) if problem.id == "pass-order"]
    found = [(problem.op.name, re.search(r": run (\S+) first$", problem.message)) for problem in said]
    ops = {name for name, match in found if match is not None and match[1] == by}
    return ops | {name.partition(".")[0] for name in ops}


def with_and_without(text: str, family: str, name: str, by: str) -> tuple[bool, bool]:
    """Whether the pass is named without it, and with it."""
    before, own = BEFORE.get(by, ""), NEEDS.get(by, by)
    rests = ("",) if by in AFTER[family].split(",") else ("", AFTER[family])
    seen = [rest for rest in rests if name in named(after(text, before, rest), family, by)]
    return bool(seen), any(name in named(after(text, before, own, rest), family, by) for rest in seen)


@pytest.mark.parametrize(("family", "name", "by"), ENTRIES, ids=[f"{family}-{name}" for family, name, _ in ENTRIES])
def test_the_pass_that_is_named_is_what_is_missing(family: str, name: str, by: str) -> None:
    found: list[tuple[bool, bool]] = []
    for text in kernels(name, by):
        try:
            found.append(with_and_without(text, family, name, by))
        except kopt.KoptError:
            continue  # tests of what is refused, and kernels that need more of the pipeline
    assert (True, False) in found and not any(still for _, still in found)
