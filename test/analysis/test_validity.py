"""The validity of lanes that types do not tell, replayed in IR: masks give what the reference gives without them."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.interpreter import run
from kopt.parsing import parse_module, verify

#: What is done to a ragged block of 4 x 6, and a number that it becomes.
BODIES = {
    "reshape": "%f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>",
    "scan": """%g = tile.transpose %v [1, 0] : !tile.tile<b0=4 x 6 x f32>
      %h = tile.reshape %g : !tile.tile<6 x b0=4 x f32> to !tile.tile<24 x f32>
      %f = tile.scan mul %h dim 0 : !tile.tile<24 x f32>""",
    "sort": """%g = tile.transpose %v [1, 0] : !tile.tile<b0=4 x 6 x f32>
      %h = tile.reshape %g : !tile.tile<6 x b0=4 x f32> to !tile.tile<24 x f32>
      %s, %n = tile.sort %h dim 0 descending : !tile.tile<24 x f32>
      %f = tile.add %s, %h : !tile.tile<24 x f32>""",
    "concat": """%w = tile.full 0.5 : !tile.tile<2 x 6 x f32>
      %c = tile.concat %v, %w, %v dim 0
        : !tile.tile<b0=4 x 6 x f32>, !tile.tile<2 x 6 x f32>, !tile.tile<b0=4 x 6 x f32>
        to !tile.tile<10 x 6 x f32>
      %p = tile.slice %c [1, 0] [8, 3] [1, 2] : !tile.tile<10 x 6 x f32> to !tile.tile<8 x 3 x f32>
      %f = tile.reshape %p : !tile.tile<8 x 3 x f32> to !tile.tile<24 x f32>""",
    "take_along": """%a = tile.arange 3, -1 : !tile.tile<4 x i32>
      %k = tile.broadcast %a dims [0] : !tile.tile<4 x i32> to !tile.tile<4 x 6 x i32>
      %t = tile.take_along %v, %k dim 0 : !tile.tile<b0=4 x 6 x f32>, !tile.tile<4 x 6 x i32>
      %f = tile.reshape %t : !tile.tile<4 x 6 x f32> to !tile.tile<24 x f32>""",
    "reduce": """%h = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<8 x 3 x f32>
      %r = tile.reduce max %h [1] : !tile.tile<8 x 3 x f32>
      %f = tile.broadcast %r dims [0] : !tile.tile<8 x f32> to !tile.tile<8 x 3 x f32>""",
    "branch": """%h = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
      %z = tile.full 2.0 : !tile.tile<24 x f32>
      %q = arith.constant true
      %f = scf.if %q -> (!tile.tile<24 x f32>) {
        scf.yield %h : !tile.tile<24 x f32>
      } else {
        scf.yield %z : !tile.tile<24 x f32>
      }""",
    "while": """%h = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
      %z = tile.full 2.0 : !tile.tile<24 x f32>
      %q = arith.constant true
      %no = arith.constant false
      %f = tile.while %q iter(%b = %z) -> (!tile.tile<24 x f32>) {
        %s = tile.add %b, %h : !tile.tile<24 x f32>
        tile.yield %no, %s : i1, !tile.tile<24 x f32>
      }""",
}
TEXT = """
func.func @f(%x: memref<13x6xf32>, %y: memref<4xf32>) {{
  tile.grid (%i: b0=4) in (13) {{
    %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    {body}
    %e = tile.exp %f : !tile.tile<{shape} x f32>
    %total = tile.reduce add %e [{dims}] : !tile.tile<{shape} x f32>
    %id = tile.id %i : !tile.range<b0=4>
    tile.store %total, %y[%id] : !tile.tile<f32>, memref<4xf32>
  }}
  func.return
}}
"""


def _text(body: str) -> str:
    wide = body.endswith("8 x 3 x f32>")
    shape, dims = ("8 x 3", "0, 1") if wide else ("24", "0")
    return TEXT.format(body=body, shape=shape, dims=dims)


@pytest.mark.parametrize("name", BODIES)
def test_masks_are_what_validity_means(name: str) -> None:
    """The interpreter keeps validity beside each value; the passes spell it out, and lanes are taken as they are."""
    x = np.random.default_rng(1).standard_normal((13, 6)).astype(np.float32)
    plain, masked = (parse_module(_text(BODIES[name])) for _ in range(2))
    verify(plain)
    kopt.run_pipeline(masked, "builtin.module(resolve-validity,canonicalize,cse,insert-masks)")
    outs = [np.zeros(4, np.float32) for _ in range(2)]
    run(plain, "f", [x, outs[0]])
    run(masked, "f", [x, outs[1]], masked=True)
    np.testing.assert_allclose(outs[1], outs[0], rtol=1e-5)
    if name == "reshape":
        np.testing.assert_allclose(outs[0][3], np.exp(x[12]).sum(), rtol=1e-5)


def test_long_chains_take_no_recursion() -> None:
    """Thousands of statements on merged lanes, each of which asks for their validity."""
    count = 3000
    steps = "\n".join(f"%a{n} = tile.add %a{n - 1}, %a{n - 1} : !tile.tile<24 x f32>" for n in range(1, count))
    first = "%a0 = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>\n"
    last = f"\n%f = tile.neg %a{count - 1} : !tile.tile<24 x f32>"
    module = parse_module(_text(first + steps + last))
    kopt.run_pipeline(module, "builtin.module(resolve-validity,insert-masks)")
    assert sum(op.name == "tile.valid" for op in module.walk()) == 1
