func.func @sums(%n: memref<40xi32>, %v: memref<40x0xf32>, %out: memref<30x0xf32>) -> memref<30x0xf32> {
  %out_1 = host.launch @sums (%n_1 = %n, %v_1 = %v, %out_2 = %out) writes [2] : (memref<40xi32>, memref<40x0xf32>, memref<30x0xf32>) -> memref<30x0xf32> {
    tile.grid (%i: b0=16, %j: b1=128) in (40, 0) plan {order [i, j] parallel [i, j]
        @out = %out_2 row_loop} {
      %rows = tile.load %n_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v_2 = tile.load %v_1[%i, %j] : memref<40x0xf32> -> !tile.tile<b0=16 x b1=128 x f32>
      atomic.rmw add %v_2, %out_2[%rows, %j] via @out : !tile.tile<b0=16 x b1=128 x f32>, memref<30x0xf32>
    }
  }
  func.return %out_1 : memref<30x0xf32>
}
