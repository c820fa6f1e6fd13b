func.func @previous(%arg0: memref<64xi32>, %arg1: memref<64x256xf32>, %arg2: memref<64x256xf32>, %arg3: memref<0x256xf32>) -> memref<0x256xf32> {
  %r:2 = host.launch @previous (%n = %arg0, %x = %arg1, %y = %arg2, %out = %arg3) writes [2, 3] : (memref<64xi32>, memref<64x256xf32>, memref<64x256xf32>, memref<0x256xf32>) -> (memref<64x256xf32>, memref<0x256xf32>) {
    tile.grid (%i: b0=5) in (64) plan {order [i] @out = %out one_hot} {
      %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=5 x i32>
      %v = tile.load %x[%i, :] : memref<64x256xf32> -> !tile.tile<b0=5 x 256 x f32>
      %p = atomic.rmw add %v, %out[%rows, :] via @out : !tile.tile<b0=5 x 256 x f32>, memref<0x256xf32> -> !tile.tile<b0=5 x 256 x f32>
      %q = tile.add %p, %v : !tile.tile<b0=5 x 256 x f32>
      tile.store %q, %y[%i, :] : !tile.tile<b0=5 x 256 x f32>, memref<64x256xf32>
    }
  }
  func.return %r#1 : memref<0x256xf32>
}
