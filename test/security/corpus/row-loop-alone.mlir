builtin.module {
  func.func @far(%arg0: memref<64xi32>, %arg1: memref<64x256xf32>, %arg2: memref<300000x256xf32>) -> memref<300000x256xf32> {
    %r = host.launch @far (%n = %arg0, %x = %arg1, %out = %arg2) writes [2] : (memref<64xi32>, memref<64x256xf32>, memref<300000x256xf32>) -> memref<300000x256xf32> {
      tile.grid (%i: b0=256) in (64) plan {order [i] parallel [i]
          @out = %out row_loop} {
        %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=256 x i32>
        %v = tile.load %x[%i, :] : memref<64x256xf32> -> !tile.tile<b0=256 x 256 x f32>
        %v_1 = tile.load %x[%i, :] : memref<64x256xf32> -> !tile.tile<b0=256 x 256 x f32>
        atomic.rmw add %v_1, %out[%rows, :] via @out : !tile.tile<b0=256 x 256 x f32>, memref<300000x256xf32>
      }
    }
    func.return %r : memref<300000x256xf32>
  }
}