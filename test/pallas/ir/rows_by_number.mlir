// One row a cell, as hl.grid gives it: rows are single, sums are single elements.
func.func @rows_by_number(%x: memref<20x300xbf16>, %w: memref<20xf32>) -> (memref<20x300xf32>, memref<20xf32>) {
  %out = host.alloc : memref<20x300xf32>
  %sums = host.alloc : memref<20xf32>
  tile.grid (%i: b0=1) in (20) {
    %n = tile.begin %i : !tile.range<b0=1>
    %v = tile.load %x[%n, :] : memref<20x300xbf16> -> !tile.tile<300 x bf16>
    %c = tile.cast %v : !tile.tile<300 x bf16> to !tile.tile<300 x f32>
    %s = tile.load %w[%n] : memref<20xf32> -> !tile.tile<f32>
    %sb = tile.broadcast %s dims [] : !tile.tile<f32> to !tile.tile<300 x f32>
    %p = tile.mul %c, %sb : !tile.tile<300 x f32>
    %t = tile.reduce add %p [0] : !tile.tile<300 x f32>
    tile.store %p, %out[%n, :] : !tile.tile<300 x f32>, memref<20x300xf32>
    tile.store %t, %sums[%n] : !tile.tile<f32>, memref<20xf32>
  }
  func.return %out, %sums : memref<20x300xf32>, memref<20xf32>
}
