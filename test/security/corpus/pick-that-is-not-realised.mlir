func.func @picked(%arg0: memref<64xi32>, %arg1: memref<0x7xf32>, %arg2: memref<64x7xf32>) -> memref<64x7xf32> {
  %r = host.launch @picked (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<0x7xf32>, memref<64x7xf32>) -> memref<64x7xf32> {
    tile.grid (%i: b0=16) in (64) plan {order [i] @x = %x pick} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x[%rows, :] via @x : memref<0x7xf32> -> !tile.tile<b0=16 x 7 x f32>
      tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 7 x f32>, memref<64x7xf32>
    }
  }
  func.return %r : memref<64x7xf32>
}


