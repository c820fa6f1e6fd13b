// Softmax of rows in two loops: running maximum and sum, then the results.
func.func @two_pass(%x: memref<100x600xf32>) -> memref<100x600xf32> {
  %out = host.alloc : memref<100x600xf32>
  tile.grid (%i: b0=16) in (100) {
    %m0 = tile.full -inf : !tile.tile<b0=16 x f32>
    %s0 = tile.full 0.0 : !tile.tile<b0=16 x f32>
    %m, %s = tile.for %k: b1=256 in (0, 600) iter(%m1 = %m0, %s1 = %s0) -> (!tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32>) {
      %v = tile.load %x[%i, %k] : memref<100x600xf32> -> !tile.tile<b0=16 x b1=256 x f32>
      %local = tile.reduce max %v [1] : !tile.tile<b0=16 x b1=256 x f32>
      %m2 = tile.maximum %m1, %local : !tile.tile<b0=16 x f32>
      %mb = tile.broadcast %m2 dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x b1=256 x f32>
      %d = tile.sub %v, %mb : !tile.tile<b0=16 x b1=256 x f32>
      %e = tile.exp %d : !tile.tile<b0=16 x b1=256 x f32>
      %t = tile.reduce add %e [1] : !tile.tile<b0=16 x b1=256 x f32>
      %md = tile.sub %m1, %m2 : !tile.tile<b0=16 x f32>
      %me = tile.exp %md : !tile.tile<b0=16 x f32>
      %sm = tile.mul %s1, %me : !tile.tile<b0=16 x f32>
      %s2 = tile.add %sm, %t : !tile.tile<b0=16 x f32>
      tile.yield %m2, %s2 : !tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32>
    }
    tile.for %k2: b2=256 in (0, 600) {
      %v = tile.load %x[%i, %k2] : memref<100x600xf32> -> !tile.tile<b0=16 x b2=256 x f32>
      %mb = tile.broadcast %m dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x b2=256 x f32>
      %sb = tile.broadcast %s dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x b2=256 x f32>
      %d = tile.sub %v, %mb : !tile.tile<b0=16 x b2=256 x f32>
      %e = tile.exp %d : !tile.tile<b0=16 x b2=256 x f32>
      %r = tile.div %e, %sb : !tile.tile<b0=16 x b2=256 x f32>
      tile.store %r, %out[%i, %k2] : !tile.tile<b0=16 x b2=256 x f32>, memref<100x600xf32>
    }
  }
  func.return %out : memref<100x600xf32>
}
