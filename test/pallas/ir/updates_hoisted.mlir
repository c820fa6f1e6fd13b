// A loop over numbers that becomes a dimension of the grid, with an update in it and one after it.
func.func @hoisted(%x: memref<40x300xf32>) -> (memref<40x128xf32>, memref<40xf32>) {
  %parts = host.alloc fill 0.0 : memref<40x128xf32>
  %best = host.alloc fill -inf : memref<40xf32>
  tile.grid (%h: b2=1, %i: b0=8) in (2, 40) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %sum = tile.for %k: b1=128 in (0, 300) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<40x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %w = tile.broadcast %s dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 128 x f32>
      atomic.rmw add %w, %parts[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<40x128xf32>
      %n = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    atomic.rmw max %sum, %best[%i] : !tile.tile<b0=8 x f32>, memref<40xf32>
  }
  func.return %parts, %best : memref<40x128xf32>, memref<40xf32>
}
