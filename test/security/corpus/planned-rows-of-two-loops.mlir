func.func @far_in_loops(%x: memref<17x256xf32>, %ids: memref<40xi32>, %out: memref<40x256xf32>, %more: memref<40x256xf32>) -> (memref<40x256xf32>, memref<40x256xf32>) {
  %out_1, %more_1 = host.launch @far_in_loops (%ids_1 = %ids, %x_1 = %x, %out_2 = %out, %more_2 = %more) writes [2, 3] : (memref<40xi32>, memref<17x256xf32>, memref<40x256xf32>, memref<40x256xf32>) -> (memref<40x256xf32>, memref<40x256xf32>) {
    tile.grid (%i: b0=1) in (40) plan {order [i] parallel [i]
        @x = %x_1 rows} {
      %r = tile.begin %i : !tile.range<b0=1>
      %a = tile.load %ids_1[%r] : memref<40xi32> -> !tile.tile<i32>
      %n = tile.extract %a : !tile.tile<i32> to index
      tile.for %k: b1=128 in (0, 256) {
        %v = tile.load %x_1[%n, %k] : memref<17x256xf32> -> !tile.tile<b1=128 x f32>
        tile.store %v, %out_2[%r, %k] : !tile.tile<b1=128 x f32>, memref<40x256xf32>
      }
      tile.for %j: b2=32 in (0, 256) {
        %w = tile.load %x_1[%n, %j] via @x : memref<17x256xf32> -> !tile.tile<b2=32 x f32>
        tile.store %w, %more_2[%r, %j] : !tile.tile<b2=32 x f32>, memref<40x256xf32>
      }
    }
  }
  func.return %out_1, %more_1 : memref<40x256xf32>, memref<40x256xf32>
}
