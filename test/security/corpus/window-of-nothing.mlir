// Windows have elements: the pipeline runs drop-empty first.
func.func @ordinary(%arg0: memref<64xi32>, %arg1: memref<64x0xf32>, %arg2: memref<64x0xf32>) -> memref<64x0xf32> {
  %r = host.launch @ordinary (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<64x0xf32>, memref<64x0xf32>) -> memref<64x0xf32> {
    tile.grid (%i: b0=256) in (64) plan {order [i] @x = %x one_hot} {
      %v = tile.load %x[%i, :] via @x : memref<64x0xf32> -> !tile.tile<b0=256 x 0 x f32>
      tile.store %v, %out[%i, :] : !tile.tile<b0=256 x 0 x f32>, memref<64x0xf32>
    }
  }
  func.return %r : memref<64x0xf32>
}
