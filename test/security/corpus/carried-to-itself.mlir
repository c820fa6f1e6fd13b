// A loop carries a value to itself, which is an index after it: what decides the index was followed without end.
func.func @planned(%n: memref<64xi32>, %x: memref<64xi32>) {
  tile.grid (%i: b0=16) in (64) plan {order [i] loop j prefetch @n = %n smem whole} {
    %lengths = tile.load %n[%i] via @n : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %z = tile.full 0 : !tile.tile<b0=16 x i32>
    %r = jagged.for %j: b1=16 in %lengths iter(%a = %z) -> (!tile.tile<b0=16 x i32>) {
      tile.yield %a : !tile.tile<b0=16 x i32>
    }
    tile.store %r, %x[%r] : !tile.tile<b0=16 x i32>, memref<64xi32>
  }
  func.return
}
