// One loop that carries two vectors, which hoisting puts into scratch memory.
func.func @log_sum_exp(%x: memref<300x700xf32>) -> memref<300xf32> {
  %out = host.alloc : memref<300xf32>
  tile.grid (%i: b0=128) in (300) {
    %m0 = tile.full -inf : !tile.tile<b0=128 x f32>
    %s0 = tile.full 0.0 : !tile.tile<b0=128 x f32>
    %m, %s = tile.for %k: b1=256 in (0, 700) iter(%m1 = %m0, %s1 = %s0) -> (!tile.tile<b0=128 x f32>, !tile.tile<b0=128 x f32>) {
      %v = tile.load %x[%i, %k] : memref<300x700xf32> -> !tile.tile<b0=128 x b1=256 x f32>
      %local = tile.reduce max %v [1] : !tile.tile<b0=128 x b1=256 x f32>
      %m2 = tile.maximum %m1, %local : !tile.tile<b0=128 x f32>
      %mb = tile.broadcast %m2 dims [0] : !tile.tile<b0=128 x f32> to !tile.tile<b0=128 x b1=256 x f32>
      %d = tile.sub %v, %mb : !tile.tile<b0=128 x b1=256 x f32>
      %e = tile.exp %d : !tile.tile<b0=128 x b1=256 x f32>
      %t = tile.reduce add %e [1] : !tile.tile<b0=128 x b1=256 x f32>
      %md = tile.sub %m1, %m2 : !tile.tile<b0=128 x f32>
      %me = tile.exp %md : !tile.tile<b0=128 x f32>
      %sm = tile.mul %s1, %me : !tile.tile<b0=128 x f32>
      %s2 = tile.add %sm, %t : !tile.tile<b0=128 x f32>
      tile.yield %m2, %s2 : !tile.tile<b0=128 x f32>, !tile.tile<b0=128 x f32>
    }
    %l = tile.log %s : !tile.tile<b0=128 x f32>
    %r = tile.add %l, %m : !tile.tile<b0=128 x f32>
    tile.store %r, %out[%i] : !tile.tile<b0=128 x f32>, memref<300xf32>
  }
  func.return %out : memref<300xf32>
}
