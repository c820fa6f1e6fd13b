// The same in blocks that Mosaic has no address for, which end before the array does.
func.func @narrow_blocks(%x: memref<40x150xf32>, %y: memref<40x150xf32>, %columns: memref<200xf32>, %rows: memref<70x150xf32>) {
  tile.grid (%i: b0=8) in (40) {
    tile.for %j: b1=64 in (0, 150) {
      %v = tile.load %x[%i, %j] : memref<40x150xf32> -> !tile.tile<b0=8 x b1=64 x f32>
      %c = tile.reduce add %v [0] : !tile.tile<b0=8 x b1=64 x f32>
      atomic.rmw add %c, %columns[%j] : !tile.tile<b1=64 x f32>, memref<200xf32>
    }
    tile.for %k: b2=5 in (0, 38) {
      %w = tile.load %y[%k, :] : memref<40x150xf32> -> !tile.tile<b2=5 x 150 x f32>
      atomic.rmw add %w, %rows[%k, :] : !tile.tile<b2=5 x 150 x f32>, memref<70x150xf32>
    }
  }
  func.return
}
