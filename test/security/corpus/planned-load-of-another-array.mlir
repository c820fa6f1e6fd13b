builtin.module {
  func.func @flat(%x: memref<40x20xf32>, %begins: memref<6xi64>, %lens: memref<6xi64>, %out: memref<6x20xf32>) {
    %f = host.reshape %x : memref<40x20xf32> to memref<800xf32>
    tile.grid (%b: b0=4, %m: b1=16) in (6, 20) plan {order [b, m, k] ordered [b, m, k]
        @q0 = %begins row_dma
        @q1 = %lens scratch
        @q2 = %f pick
        @q3 = %out window(b)} {
      %starts = tile.load %begins[%b] via @q0 : memref<6xi64> -> !tile.tile<b0=4 x i64>
      %n = tile.load %lens[%b] via @q1 : memref<6xi64> -> !tile.tile<b0=4 x i64>
      %most = tile.reduce max %n [0] : !tile.tile<b0=4 x i64>
      %end = tile.extract %most : !tile.tile<i64> to index
      %z = tile.full 0.0 : !tile.tile<b0=4 x b1=16 x f32>
      %s = tile.for %k: b2=8 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=4 x b1=16 x f32>) {
        %ki = tile.index %k : !tile.range<b2=8>
        %kw = tile.cast %ki : !tile.tile<b2=8 x i32> to !tile.tile<b2=8 x i64>
        %kb = tile.broadcast %kw dims [1] : !tile.tile<b2=8 x i64> to !tile.tile<b0=4 x b2=8 x i64>
        %nb = tile.broadcast %n dims [0] : !tile.tile<b0=4 x i64> to !tile.tile<b0=4 x b2=8 x i64>
        %has = tile.lt %kb, %nb : !tile.tile<b0=4 x b2=8 x i64>
        %hb = tile.broadcast %has dims [0, 1] : !tile.tile<b0=4 x b2=8 x i1> to !tile.tile<b0=4 x b2=8 x b1=16 x i1>
        %sb = tile.broadcast %starts dims [0] : !tile.tile<b0=4 x i64> to !tile.tile<b0=4 x b2=8 x i64>
        %r = tile.add %sb, %kb : !tile.tile<b0=4 x b2=8 x i64>
        %c = tile.full 20 : !tile.tile<b0=4 x b2=8 x i64>
        %e = tile.mul %r, %c : !tile.tile<b0=4 x b2=8 x i64>
        %eb = tile.broadcast %e dims [0, 1] : !tile.tile<b0=4 x b2=8 x i64> to !tile.tile<b0=4 x b2=8 x b1=16 x i64>
        %mi = tile.index %m : !tile.range<b1=16>
        %mw = tile.cast %mi : !tile.tile<b1=16 x i32> to !tile.tile<b1=16 x i64>
        %mb = tile.broadcast %mw dims [2] : !tile.tile<b1=16 x i64> to !tile.tile<b0=4 x b2=8 x b1=16 x i64>
        %at = tile.add %eb, %mb : !tile.tile<b0=4 x b2=8 x b1=16 x i64>
        %v = tile.load %f[%at] via @q2 mask %hb other 0.0 : memref<800xf32> -> !tile.tile<b0=4 x b2=8 x b1=16 x f32>
        %p = tile.reduce add %v [1] : !tile.tile<b0=4 x b2=8 x b1=16 x f32>
        %next = tile.add %a, %p : !tile.tile<b0=4 x b1=16 x f32>
        tile.yield %next : !tile.tile<b0=4 x b1=16 x f32>
      }
      tile.store %s, %out[%b, %m] via @q3 : !tile.tile<b0=4 x b1=16 x f32>, memref<6x20xf32>
    }
    func.return
  }
}
