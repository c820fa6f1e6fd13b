"""Index arithmetic as sums, and the windows that follow from it."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr

import kopt
from kopt.analysis.linear import affine, linear
from kopt.analysis.windows import windows
from kopt.dialects.tile import ForOp, GridOp, LoadOp

TEXT = """
func.func @f(%x: memref<1000x256xf32>, %y: memref<8x1000x256xf32>) {
  tile.grid (%h: b0=1, %i: b1=128) in (32, 1000) {
    %n = tile.begin %h : !tile.range<b0=1>
    %four = arith.constant 4 : index
    %g = arith.floordivsi %n, %four : index
    %b = tile.begin %i : !tile.range<b1=128>
    %e = tile.end %i : !tile.range<b1=128>
    tile.for %k: b2=64 in (%b, %e) {
      %v = tile.load %x[%k, :] : memref<1000x256xf32> -> !tile.tile<b2=64 x 256 x f32>
      %w = tile.load %y[%g, %k, 3] : memref<8x1000x256xf32> -> !tile.tile<b2=64 x f32>
    }
  }
  func.return
}
"""


def parts():
    module = kopt.parse(TEXT)
    grid = next(op for op in module.walk() if isinstance(op, GridOp))
    loop = next(op for op in module.walk() if isinstance(op, ForOp))
    loads = [op for op in module.walk() if isinstance(op, LoadOp)]
    return grid, loop, loads


def test_begins_are_sums_of_block_numbers():
    grid, loop, _ = parts()
    lower = loop.bounds[0]
    assert linear(lower).terms == ((grid.ranges[1], 128),)
    assert linear(lower).divisor == 128
    assert (linear(lower) - linear(lower)).terms == ()


def test_division_of_block_numbers_is_affine():
    grid, _, loads = parts()
    assert str(affine(loads[1].entries[0], grid.ranges)) == "(d0 floordiv 4)"


def test_part_of_a_block_has_the_blocks_window():
    grid, _, loads = parts()
    found = windows(grid, [load.memory for load in loads])
    x, y = (found[load.memory] for load in loads)
    assert [(dim.kind, dim.size, str(dim.index)) for dim in x.dims] == [("block", 128, "d1"), ("whole", 256, "0")]
    assert [(dim.kind, dim.size, str(dim.index)) for dim in y.dims] == [
        ("point", 1, "(d0 floordiv 4)"),
        ("block", 128, "d1"),
        ("point", 1, "3"),
    ]


def test_exact_quotients_are_sums():
    """A number that divides all parts of a sum divides it; another leaves a value of its own."""
    grid, loop, _ = parts()
    begin, quotients = loop.bounds[0], []
    assert not isinstance(begin, int)
    for number in (32, 48):
        divisor = arith.ConstantOp(IntegerAttr(number, IndexType()))
        quotients.append(arith.FloorDivSIOp(begin, divisor).result)
    assert linear(quotients[0]).terms == ((grid.ranges[1], 4),)
    assert linear(quotients[1]).terms == ((quotients[1], 1),)
