"""Small kernels through whole pipelines: the interpreter runs each before and after every pass."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.config import make_config
from kopt.context import make_context
from kopt.pass_manager import run
from kopt.passes.pipelines import pipeline
from kopt.targets.target import parse_target
from kopt.validation import Options, Validator

#: By name: the function's arguments, of which the last one is written and returned, the grid, and its body.
KERNELS = {
    "add to rows": (
        "%n: memref<8xi32>, %v: memref<8x12xf32>, %x: memref<16x16xf32>",
        "(%i: b0=8, %j: b1=8) in (8, 12)",
        """%rows = tile.load %n[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
        %b = tile.load %v[%i, %j] : memref<8x12xf32> -> !tile.tile<b0=8 x b1=8 x f32>
        atomic.rmw add %b, %x[%rows, %j] : !tile.tile<b0=8 x b1=8 x f32>, memref<16x16xf32>""",
    ),
    "largest of rows": (
        "%n: memref<11xi32>, %v: memref<11x16xf32>, %x: memref<16x16xf32>",
        "(%i: b0=8, %j: b1=16) in (11, 16)",
        """%rows = tile.load %n[%i] : memref<11xi32> -> !tile.tile<b0=8 x i32>
        %b = tile.load %v[%i, %j] : memref<11x16xf32> -> !tile.tile<b0=8 x b1=16 x f32>
        atomic.rmw max %b, %x[%rows, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<16x16xf32>""",
    ),
    "sums of columns": (
        "%v: memref<21x19xf32>, %x: memref<19xf32>",
        "(%i: b0=8, %j: b1=16) in (21, 19)",
        """%b = tile.load %v[%i, %j] : memref<21x19xf32> -> !tile.tile<b0=8 x b1=16 x f32>
        %s = tile.reduce add %b [0] : !tile.tile<b0=8 x b1=16 x f32>
        atomic.rmw add %s, %x[%j] : !tile.tile<b1=16 x f32>, memref<19xf32>""",
    ),
    "softmax": (
        "%v: memref<13x19xf32>, %x: memref<13x19xf32>",
        "(%i: b0=8) in (13)",
        """%w = tile.whole 19 : !tile.range<w=32>
        %b = tile.load %v[%i, %w] : memref<13x19xf32> -> !tile.tile<b0=8 x w=32 x f32>
        %m = tile.reduce max %b [1] : !tile.tile<b0=8 x w=32 x f32>
        %o = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x w=32 x f32>
        %d = tile.sub %b, %o : !tile.tile<b0=8 x w=32 x f32>
        %e = tile.exp %d : !tile.tile<b0=8 x w=32 x f32>
        %s = tile.reduce add %e [1] : !tile.tile<b0=8 x w=32 x f32>
        %t = tile.broadcast %s dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x w=32 x f32>
        %q = tile.div %e, %t : !tile.tile<b0=8 x w=32 x f32>
        tile.store %q, %x[%i, %w] : !tile.tile<b0=8 x w=32 x f32>, memref<13x19xf32>""",
    ),
    "product": (
        "%a: memref<13x37xf32>, %b: memref<37x21xf32>, %x: memref<13x21xf32>",
        "(%i: b0=8, %j: b1=16) in (13, 21)",
        """%z = tile.full 0.0 : !tile.tile<b0=8 x b1=16 x f32>
        %r = tile.for %k: b2=16 in (0, 37) iter(%c = %z) -> (!tile.tile<b0=8 x b1=16 x f32>) {
          %l = tile.load %a[%i, %k] : memref<13x37xf32> -> !tile.tile<b0=8 x b2=16 x f32>
          %m = tile.load %b[%k, %j] : memref<37x21xf32> -> !tile.tile<b2=16 x b1=16 x f32>
          %n = tile.dot %l, %m, %c : !tile.tile<b0=8 x b2=16 x f32>, !tile.tile<b2=16 x b1=16 x f32>
            -> !tile.tile<b0=8 x b1=16 x f32>
          tile.yield %n : !tile.tile<b0=8 x b1=16 x f32>
        }
        tile.store %r, %x[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<13x21xf32>""",
    ),
    "centred rows": (
        "%v: memref<13x37xf32>, %x: memref<13xf32>",
        "(%i: b0=8) in (13)",
        """%z = tile.full 0.0 : !tile.tile<b0=8 x f32>
        %s = tile.for %k: b1=16 in (0, 37) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
          %b = tile.load %v[%i, %k] : memref<13x37xf32> -> !tile.tile<b0=8 x b1=16 x f32>
          %t = tile.reduce add %b [1] : !tile.tile<b0=8 x b1=16 x f32>
          %n = tile.add %a, %t : !tile.tile<b0=8 x f32>
          tile.yield %n : !tile.tile<b0=8 x f32>
        }
        %q = tile.for %l: b2=16 in (0, 37) iter(%c = %z) -> (!tile.tile<b0=8 x f32>) {
          %d = tile.load %v[%i, %l] : memref<13x37xf32> -> !tile.tile<b0=8 x b2=16 x f32>
          %m = tile.broadcast %s dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x b2=16 x f32>
          %e = tile.sub %d, %m : !tile.tile<b0=8 x b2=16 x f32>
          %f = tile.mul %e, %e : !tile.tile<b0=8 x b2=16 x f32>
          %g = tile.reduce add %f [1] : !tile.tile<b0=8 x b2=16 x f32>
          %h = tile.add %c, %g : !tile.tile<b0=8 x f32>
          tile.yield %h : !tile.tile<b0=8 x f32>
        }
        tile.store %q, %x[%i] : !tile.tile<b0=8 x f32>, memref<13xf32>""",
    ),
    "below the diagonal": (
        "%v: memref<29x29xf32>, %x: memref<29xf32>",
        "(%i: b0=8) in (29)",
        """%z = tile.full 0.0 : !tile.tile<b0=8 x f32>
        %end = tile.end %i : !tile.range<b0=8>
        %r = tile.index %i : !tile.range<b0=8>
        %s = tile.for %k: b1=8 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
          %b = tile.load %v[%i, %k] : memref<29x29xf32> -> !tile.tile<b0=8 x b1=8 x f32>
          %o = tile.full 0.0 : !tile.tile<b0=8 x b1=8 x f32>
          %row = tile.broadcast %r dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x b1=8 x i32>
          %c = tile.index %k : !tile.range<b1=8>
          %column = tile.broadcast %c dims [1] : !tile.tile<b1=8 x i32> to !tile.tile<b0=8 x b1=8 x i32>
          %m = tile.ge %row, %column : !tile.tile<b0=8 x b1=8 x i32>
          %p = tile.select %m, %b, %o : !tile.tile<b0=8 x b1=8 x f32>
          %t = tile.reduce add %p [1] : !tile.tile<b0=8 x b1=8 x f32>
          %n = tile.add %a, %t : !tile.tile<b0=8 x f32>
          tile.yield %n : !tile.tile<b0=8 x f32>
        }
        tile.store %s, %x[%i] : !tile.tile<b0=8 x f32>, memref<29xf32>""",
    ),
    "rows that are picked": (
        "%n: memref<11xi32>, %v: memref<40x16xf32>, %x: memref<11x16xf32>",
        "(%i: b0=8, %j: b1=16) in (11, 16)",
        """%rows = tile.load %n[%i] : memref<11xi32> -> !tile.tile<b0=8 x i32>
        %b = tile.load %v[%rows, %j] : memref<40x16xf32> -> !tile.tile<b0=8 x b1=16 x f32>
        tile.store %b, %x[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<11x16xf32>""",
    ),
    "lanes in steps": (
        "%v: memref<13x48xf32>, %x: memref<13x24xf32>",
        "(%i: b0=8) in (13)",
        """%b = tile.load %v[%i, 0:48:2] : memref<13x48xf32> -> !tile.tile<b0=8 x 24 x f32>
        %c = tile.load %v[%i, 1:48:2] : memref<13x48xf32> -> !tile.tile<b0=8 x 24 x f32>
        %d = tile.sub %b, %c : !tile.tile<b0=8 x 24 x f32>
        tile.store %d, %x[%i, :] : !tile.tile<b0=8 x 24 x f32>, memref<13x24xf32>""",
    ),
    "merged rows": (
        "%v: memref<13x6xf32>, %x: memref<4xf32>",
        "(%i: b0=4) in (13)",
        """%b = tile.load %v[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
        %f = tile.reshape %b : !tile.tile<b0=4 x 6 x f32> to !tile.tile<8 x 3 x f32>
        %s = tile.scan add %f dim 0 : !tile.tile<8 x 3 x f32>
        %e = tile.exp %s : !tile.tile<8 x 3 x f32>
        %t = tile.reduce add %e [0, 1] : !tile.tile<8 x 3 x f32>
        %id = tile.id %i : !tile.range<b0=4>
        tile.store %t, %x[%id] : !tile.tile<f32>, memref<4xf32>""",
    ),
    "shifted blocks": (
        "%v: memref<20xf32>, %x: memref<20xf32>",
        "(%i: b0=8) in (19)",
        """%c1 = arith.constant 1 : index
        %s = tile.shift %i by %c1 : !tile.range<b0=8>
        %lo = tile.begin %s : !tile.range<b0=8>
        %hi = tile.end %s : !tile.range<b0=8>
        tile.for %k: b1=4 in (%lo, %hi) {
          %b = tile.load %v[%k] : memref<20xf32> -> !tile.tile<b1=4 x f32>
          tile.store %b, %x[%k] : !tile.tile<b1=4 x f32>, memref<20xf32>
        }""",
    ),
    "stored and loaded again": (
        "%v: memref<13x16xf32>, %x: memref<13x16xf32>",
        "(%i: b0=8, %j: b1=16) in (13, 16)",
        """%b = tile.load %v[%i, %j] : memref<13x16xf32> -> !tile.tile<b0=8 x b1=16 x f32>
        tile.store %b, %x[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<13x16xf32>
        %c = tile.load %x[%i, %j] : memref<13x16xf32> -> !tile.tile<b0=8 x b1=16 x f32>
        %d = tile.add %b, %c : !tile.tile<b0=8 x b1=16 x f32>
        tile.store %d, %x[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<13x16xf32>""",
    ),
    "part of an array": (
        "%v: memref<13x19xf32>, %x: memref<16x24xf32>",
        "(%i: b0=8, %j: b1=16) in (13, 19)",
        """%b = tile.load %v[%i, %j] : memref<13x19xf32> -> !tile.tile<b0=8 x b1=16 x f32>
        tile.store %b, %x[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<16x24xf32>""",
    ),
    "rows of a part, all columns": (
        "%v: memref<13x24xf32>, %x: memref<16x24xf32>",
        "(%i: b0=8) in (13)",
        """%b = tile.load %v[%i, :] : memref<13x24xf32> -> !tile.tile<b0=8 x 24 x f32>
        tile.store %b, %x[%i, :] : !tile.tile<b0=8 x 24 x f32>, memref<16x24xf32>""",
    ),
    "a place of each block": (
        "%n: memref<3xi32>, %v: memref<2x16xf32>, %x: memref<24x16xf32>",
        "(%i: b0=8, %j: b1=16) in (24, 16)",
        """%id = tile.id %i : !tile.range<b0=8>
        %p = tile.load %n[%id] : memref<3xi32> -> !tile.tile<i32>
        %rows = tile.broadcast %p dims [] : !tile.tile<i32> to !tile.tile<b0=8 x i32>
        %b = tile.load %v[%rows, %j] : memref<2x16xf32> -> !tile.tile<b0=8 x b1=16 x f32>
        tile.store %b, %x[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<24x16xf32>""",
    ),
    "divided by small and by large numbers": (
        "%v: memref<13x16xf32>, %x: memref<13x16xf32>",
        "(%i: b0=8) in (13)",
        """%b = tile.load %v[%i, :] : memref<13x16xf32> -> !tile.tile<b0=8 x 16 x f32>
        %s = tile.full 1.0e-39 : !tile.tile<b0=8 x 16 x f32>
        %l = tile.full 2.0e+38 : !tile.tile<b0=8 x 16 x f32>
        %c = tile.mul %b, %s : !tile.tile<b0=8 x 16 x f32>
        %d = tile.div %c, %s : !tile.tile<b0=8 x 16 x f32>
        %e = tile.div %d, %l : !tile.tile<b0=8 x 16 x f32>
        %f = tile.mul %e, %l : !tile.tile<b0=8 x 16 x f32>
        tile.store %f, %x[%i, :] : !tile.tile<b0=8 x 16 x f32>, memref<13x16xf32>""",
    ),
    "places of the largest": (
        "%v: memref<13x37xf32>, %x: memref<13xi32>",
        "(%i: b0=8) in (13)",
        """%w = tile.whole 37 : !tile.range<w=64>
        %b = tile.load %v[%i, %w] : memref<13x37xf32> -> !tile.tile<b0=8 x w=64 x f32>
        %m = tile.argreduce max %b dim 1 : !tile.tile<b0=8 x w=64 x f32>
        tile.store %m, %x[%i] : !tile.tile<b0=8 x i32>, memref<13xi32>""",
    ),
}
WAYS = {
    "TPU": ("pallas:v6e", {}),
    "TPU, copies in loops": ("pallas:v6e", {"loop_type": "fori"}),
    "GPU": ("triton:sm90", {}),
}
#: What may become of a loop.
WAYS_OF_LOOPS = {
    "TPU, in the grid": ("pallas:v6e", {"loop_type": "grid"}),
    "TPU, a pipeline": ("pallas:v6e", {"loop_type": "pipeline"}),
    "TPU, whole arrays": ("pallas:v6e", {"loop_type": "resident"}),
    "TPU, parts in cells of their own": ("pallas:v6e", {"split_k": 2}),
    "GPU, parts in programs of their own": ("triton:sm90", {"split_k": 2}),
    "GPU, parts that are added in order": ("triton:sm90", {"split_k": 2, "deterministic": True}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KERNELS)
def test_no_pass_changes_what_a_kernel_computes(name: str, way: str) -> None:
    check(name, *WAYS[way])


@pytest.mark.parametrize("way", WAYS_OF_LOOPS)
@pytest.mark.parametrize("name", ["product", "centred rows", "below the diagonal"])
def test_no_pass_changes_what_a_loop_computes(name: str, way: str) -> None:
    check(name, *WAYS_OF_LOOPS[way])


def check(name: str, target: str, config: dict) -> None:
    """Every pass of a target's pipeline is validated."""
    arguments, grid, body = KERNELS[name]
    result = arguments.rpartition("%x: ")[2]
    text = (
        f"func.func @f({arguments}) -> {result} {{\n tile.grid {grid} {{\n {body}\n }}\n func.return %x : {result}\n}}"
    )
    validator = Validator(Options(0, 1))
    passes = pipeline(parse_target(target), make_config(config))
    run(parse(text), make_context(), passes, instrumentation=[validator])
    assert not validator.result.not_run
