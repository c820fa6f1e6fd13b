builtin.module {
  func.func @planned(%n: memref<64xi32>, %x: memref<64xi32>) {
    tile.grid (%i: b0=16) in (64) plan {order [i] parallel [i]
        @n = %n smem whole
        loop j prefetch} {
      %lengths = tile.load %n[%i] via @n : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %r = jagged.for %j: b1=16 in %lengths iter(%a = %lengths) -> (!tile.tile<b0=16 x i32>) {
        tile.yield %lengths : !tile.tile<b0=16 x i32>
      }
      tile.store %lengths, %x[%i] : !tile.tile<b0=16 x i32>, memref<64xi32>
    }
    func.return
  }
}
