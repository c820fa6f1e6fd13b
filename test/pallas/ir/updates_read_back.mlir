// The cell's own updates, read back; what was stored before them counts.
func.func @read_back(%x: memref<40x128xf32>) -> (memref<40x128xf32>, memref<40x128xf32>) {
  %sum = host.alloc : memref<40x128xf32>
  %twice = host.alloc : memref<40x128xf32>
  tile.grid (%i: b0=8) in (40) {
    %v = tile.load %x[%i, :] : memref<40x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    tile.store %v, %sum[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<40x128xf32>
    tile.for %k: b1=1 in (0, 3) {
      atomic.rmw add %v, %sum[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<40x128xf32>
    }
    %w = tile.load %sum[%i, :] : memref<40x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %d = tile.add %w, %w : !tile.tile<b0=8 x 128 x f32>
    tile.store %d, %twice[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<40x128xf32>
  }
  func.return %sum, %twice : memref<40x128xf32>, memref<40x128xf32>
}
