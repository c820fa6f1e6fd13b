"""Which sums are mended as a maximum grows: by how much, and which are not."""

from __future__ import annotations

import math

import pytest

from kopt.analysis.walks.reduction_walks import visits
from kopt.analysis.walks.rescaling import Rescaling
from kopt.analysis.walks.walkable import walkable
from kopt.dialects.tile import GridOp
from kopt.parsing import parse_module

TILE = "!tile.tile<b0=8 x 1000 x f32>"


def found(lines: str, kind: str = "max", term: str = "e") -> list[Rescaling]:
    """What is mended in a kernel that has the rows ``%v`` and ``%w``, and ``%m`` of ``%v`` in all lanes as ``%b``."""
    text = f"""
func.func @f(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>, %out: memref<64xf32>) {{
  tile.grid (%i: b0=8) in (64) {{
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> {TILE}
    %w = tile.load %y[%i, :] : memref<64x1000xf32> -> {TILE}
    %half = tile.full 0.5 : {TILE}
    %zero = tile.full 0.0 : {TILE}
    %m = tile.reduce {kind} %v [1] : {TILE}
    %b = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to {TILE}
    {lines.replace(" : T", f" : {TILE}")}
    %s = tile.reduce add %{term} [1] : {TILE}
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }}
  func.return
}}"""
    module = parse_module(text)
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    memory = next(op for op in grid.walk() if op.name == "tile.load").operands[0]
    return list(visits(walkable(grid, memory, 1), True).mended.values())


EXP = "%d = tile.sub %v, %b : T\n%e = tile.exp %d : T\n"


@pytest.mark.parametrize(
    ("lines", "kind", "rate"),
    [
        (EXP, "max", -1.0),
        ("%d = tile.sub %b, %v : T\n%e = tile.exp %d : T", "min", 1.0),
        ("%n = tile.neg %b : T\n%d = tile.add %n, %v : T\n%e = tile.exp %d : T", "max", -1.0),
        ("%d = tile.sub %v, %b : T\n%h = tile.mul %d, %half : T\n%e = tile.exp %h : T", "max", -0.5),
        ("%d = tile.sub %v, %b : T\n%h = tile.mul %d, %half : T\n%e = tile.exp2 %h : T", "max", -0.5 * math.log(2)),
        (EXP.replace("%e", "%p") + "%e = tile.mul %p, %w : T", "max", -1.0),
        (EXP.replace("%e", "%p") + "%e = tile.mul %p, %p : T", "max", -2.0),
        (EXP.replace("%e", "%p") + "%e = tile.div %p, %w : T", "max", -1.0),
        (EXP.replace("%e", "%p") + "%q = tile.mul %p, %w : T\n%e = tile.sub %p, %q : T", "max", -1.0),
        (EXP.replace("%e", "%p") + "%c = tile.lt %w, %zero : T\n%e = tile.select %c, %p, %zero : T", "max", -1.0),
    ],
)
def test_sums_that_are_mended(lines: str, kind: str, rate: float) -> None:
    (how,) = found(lines, kind)
    assert math.isclose(how.rate, rate, rel_tol=1e-6) and how.dims == (0,) and not how.guarded


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ("%d = tile.sub %v, %b : T\n%e = tile.mul %d, %d : T", "max"),  # no power
        ("%d = tile.sub %w, %b : T\n%e = tile.exp %d : T", "max"),  # of other rows, which may be larger
        ("%d = tile.sub %b, %v : T\n%e = tile.exp %d : T", "max"),  # grows without bounds
        (EXP, "min"),
        ("%a = tile.add %v, %w : T\n%d = tile.sub %a, %b : T\n%e = tile.exp %d : T", "max"),
        (EXP.replace("%e", "%p") + "%e = tile.add %p, %w : T", "max"),  # in part a power only
        (EXP.replace("%e", "%p") + "%e = tile.div %w, %p : T", "max"),
        (EXP.replace("%e", "%p") + "%c = tile.lt %d, %zero : T\n%e = tile.select %c, %p, %zero : T", "max"),
        (EXP.replace("%e", "%p") + "%e = tile.log %p : T", "max"),
        (EXP, "add"),
    ],
)
def test_sums_that_need_a_walk_of_their_own(lines: str, kind: str) -> None:
    assert found(lines, kind) == []


def test_a_maximum_that_is_0_where_it_is_infinite_guards_itself() -> None:
    row = "!tile.tile<b0=8 x f32>"
    lines = f"""%a = tile.abs %m : {row}
    %inf = tile.full inf : {row}
    %no = tile.eq %a, %inf : {row}
    %none = tile.full 0.0 : {row}
    %safe = tile.select %no, %none, %m : {row}
    %t = tile.broadcast %safe dims [0] : {row} to {TILE}
    %d = tile.sub %v, %t : T
    %e = tile.exp %d : T"""
    (how,) = found(lines)
    assert how.guarded and how.rate == -1.0
    assert found(lines.replace("%a, %inf", "%m, %none")) == []  # 0 where it is 0 only
