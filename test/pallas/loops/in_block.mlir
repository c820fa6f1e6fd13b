// Loops that walk one block of the grid, whose last one is ragged, and a carried number.
func.func @in_block(%x: memref<100x300xf32>) -> (memref<100x300xf32>, memref<4x1xf32>) {
  %out = host.alloc : memref<100x300xf32>
  %sums = host.alloc : memref<4x1xf32>
  tile.grid (%i: b0=32) in (100) {
    %z = tile.full 0.0 : !tile.tile<f32>
    %first = tile.begin %i : !tile.range<b0=32>
    %last = tile.end %i : !tile.range<b0=32>
    %n = tile.id %i : !tile.range<b0=32>
    %total = tile.for %r: b1=8 in (%first, %last) iter(%t = %z) -> (!tile.tile<f32>) {
      %v = tile.load %x[%r, :] : memref<100x300xf32> -> !tile.tile<b1=8 x 300 x f32>
      %w = tile.add %v, %v : !tile.tile<b1=8 x 300 x f32>
      tile.store %w, %out[%r, :] : !tile.tile<b1=8 x 300 x f32>, memref<100x300xf32>
      %s = tile.reduce add %v [0, 1] : !tile.tile<b1=8 x 300 x f32>
      %u = tile.add %t, %s : !tile.tile<f32>
      tile.yield %u : !tile.tile<f32>
    }
    tile.store %total, %sums[%n, 0] : !tile.tile<f32>, memref<4x1xf32>
  }
  func.return %out, %sums : memref<100x300xf32>, memref<4x1xf32>
}
