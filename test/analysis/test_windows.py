"""Windows: which blocks of arrays a grid sees, from the indices of its accesses."""

import pytest

import kopt
from kopt.analysis.index_maps import over_axes
from kopt.analysis.windows import windows
from kopt.dialects.tile import GridOp, LoadOp, StoreOp
from kopt.ir.from_ssa import IndexAnalysis
from test.named import only

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
    loads = [op for op in module.walk() if isinstance(op, LoadOp)]
    return grid, loads


def test_division_of_block_numbers_is_affine():
    grid, loads = parts()
    assert str(over_axes(IndexAnalysis(numbered=True).expr(loads[1].entries[0]), grid.ranges)) == "(d0 floordiv 4)"


def test_part_of_a_block_has_the_blocks_window():
    grid, loads = parts()
    found = windows(grid, [load.memory for load in loads])
    x, y = (found[load.memory] for load in loads)
    assert [(dim.kind, dim.size, str(dim.index)) for dim in x.dims] == [("block", 128, "d1"), ("whole", 256, "0")]
    assert [(dim.kind, dim.size, str(dim.index)) for dim in y.dims] == [
        ("point", 1, "(d0 floordiv 4)"),
        ("block", 128, "d1"),
        ("point", 1, "3"),
    ]


def test_the_last_block_is_the_last_of_the_range_that_moves_it():
    """Of 1,000 rows in blocks of 128 the eighth; so long an array has to be where the blocks go beyond it."""
    grid, loads = parts()
    for load in loads:
        found = windows(grid, [load.memory])[load.memory]
        assert [dim.last for dim in found.dims if dim.kind == "block"] == [7]


WRITTEN = """
func.func @f(%o: memref<512x512xf32>) {
  tile.grid (%h: b0=1, %i: b1=128) in (8, 512) {
    %n = tile.begin %h : !tile.range<b0=1>
    %four = arith.constant 4 : index
    %g = arith.OP %n, %four : index
    %v = tile.full 0.0 : !tile.tile<b1=128 x f32>
    tile.store %v, %o[%g, %i] : !tile.tile<b1=128 x f32>, memref<512x512xf32>
  }
  func.return
}
"""


def test_what_is_written_several_times_is_made_whole():
    """Rows that the grid comes back to, or stays at; lanes that move with a dimension of their own stay blocks."""
    for op, kinds in (("addi", ["point", "block"]), ("remui", ["whole", "block"]), ("floordivsi", ["whole", "block"])):
        module = kopt.parse(WRITTEN.replace("arith.OP", f"arith.{op}"))
        grid = only(module, GridOp)
        (found,) = windows(grid, [only(module, StoreOp).memory]).values()
        assert [dim.kind for dim in found.dims] == kinds, op


PLACED = """
func.func @f(%x: memref<1000xf32>, %o: memref<1000xf32>) {
  tile.grid (%h: b0=1) in (32) {
    %n = tile.begin %h : !tile.range<b0=1>
    %size = arith.constant 32 : index
    %s = arith.muli %n, %size : index
    %w = tile.whole 32 : !tile.range<b1=32>
    %r = tile.shift %w by %s : !tile.range<b1=32>
    %v = tile.load %x[%r] : memref<1000xf32> -> !tile.tile<b1=32 x f32>
    tile.store %v, %o[%r] : !tile.tile<b1=32 x f32>, memref<1000xf32>
  }
  func.return
}
"""


def test_blocks_that_a_cell_puts_at_their_multiples():
    """Of what is only read, which may stand in a larger array, each is a block; what is written stays whole."""
    module = kopt.parse(PLACED)
    read, written = only(module, LoadOp).memory, only(module, StoreOp).memory
    found = windows(only(module, GridOp), [read, written])
    assert [(dim.kind, dim.size, str(dim.index), dim.last) for dim in found[read].dims] == [("block", 32, "d0", 31)]
    assert [(dim.kind, dim.size, dim.walk) for dim in found[written].dims] == [("whole", 1024, 32)]


HELD = """
func.func @f(%y: memref<{extent}xf32>) {{
  tile.grid (%c: b0={share}, %i: b1=32) in ({extent}, {share}) {{
    %b = tile.begin %c : !tile.range<b0={share}>
    %r = tile.shift %i by %b : !tile.range<b1=32>
    %n = tile.begin %r : !tile.range<b1=32>
    %unit = arith.constant 128 : index
    %k = arith.floordivsi %n, %unit : index
    %first = arith.muli %k, %unit : index
    %w = tile.whole {size} : !tile.range<b2={size}>
    %at = tile.shift %w by %first : !tile.range<b2={size}>
    %v = tile.load %y[%at] : memref<{extent}xf32> -> !tile.tile<b2={size} x f32>
    tile.store %v, %y[%at] : !tile.tile<b2={size} x f32>, memref<{extent}xf32>
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("share", "extent", "size", "expected"),
    [
        (512, 1024, 128, ("block", 512, "d0", 128)),  # one of four parts of a core's elements
        (128, 256, 128, ("block", 128, "d0", 0)),  # all of them
        (512, 1024, 256, ("whole", 1152, "0", 128)),  # the last part ends in the next core's
        (512, 512, 128, ("whole", 512, "0", 128)),  # nothing moves the block
    ],
)
def test_a_part_of_what_a_range_moves_is_in_its_block(share: int, extent: int, size: int, expected: tuple) -> None:
    module = kopt.parse(HELD.format(share=share, extent=extent, size=size))
    grid, load = only(module, GridOp), only(module, LoadOp)
    (dim,) = windows(grid, [load.memory])[load.memory].dims
    assert (dim.kind, dim.size, str(dim.index), dim.walk) == expected
