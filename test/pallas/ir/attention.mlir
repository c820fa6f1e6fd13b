// Flash attention over one head after another; the last block of keys is ragged.
func.func @attention(%q: memref<4x200x64xbf16>, %k: memref<4x300x64xbf16>, %v: memref<4x300x64xbf16>) -> memref<4x200x64xbf16> {
  %out = host.alloc : memref<4x200x64xbf16>
  tile.grid (%h: b0=1, %i: b1=64) in (4, 200) {
    %n = tile.begin %h : !tile.range<b0=1>
    %ql = tile.load %q[%n, %i, :] : memref<4x200x64xbf16> -> !tile.tile<b1=64 x 64 x bf16>
    %m0 = tile.full -inf : !tile.tile<b1=64 x f32>
    %s0 = tile.full 0.0 : !tile.tile<b1=64 x f32>
    %a0 = tile.full 0.0 : !tile.tile<b1=64 x 64 x f32>
    %m, %s, %a = tile.for %j: b2=128 in (0, 300) iter(%m1 = %m0, %s1 = %s0, %a1 = %a0) -> (!tile.tile<b1=64 x f32>, !tile.tile<b1=64 x f32>, !tile.tile<b1=64 x 64 x f32>) {
      %kl = tile.load %k[%n, %j, :] : memref<4x300x64xbf16> -> !tile.tile<b2=128 x 64 x bf16>
      %kt = tile.transpose %kl [1, 0] : !tile.tile<b2=128 x 64 x bf16>
      %z = tile.full 0.0 : !tile.tile<b1=64 x b2=128 x f32>
      %qk = tile.dot %ql, %kt, %z : !tile.tile<b1=64 x 64 x bf16>, !tile.tile<64 x b2=128 x bf16> -> !tile.tile<b1=64 x b2=128 x f32>
      %local = tile.reduce max %qk [1] : !tile.tile<b1=64 x b2=128 x f32>
      %m2 = tile.maximum %m1, %local : !tile.tile<b1=64 x f32>
      %mb = tile.broadcast %m2 dims [0] : !tile.tile<b1=64 x f32> to !tile.tile<b1=64 x b2=128 x f32>
      %d = tile.sub %qk, %mb : !tile.tile<b1=64 x b2=128 x f32>
      %p = tile.exp %d : !tile.tile<b1=64 x b2=128 x f32>
      %t = tile.reduce add %p [1] : !tile.tile<b1=64 x b2=128 x f32>
      %md = tile.sub %m1, %m2 : !tile.tile<b1=64 x f32>
      %me = tile.exp %md : !tile.tile<b1=64 x f32>
      %sm = tile.mul %s1, %me : !tile.tile<b1=64 x f32>
      %s2 = tile.add %sm, %t : !tile.tile<b1=64 x f32>
      %meb = tile.broadcast %me dims [0] : !tile.tile<b1=64 x f32> to !tile.tile<b1=64 x 64 x f32>
      %am = tile.mul %a1, %meb : !tile.tile<b1=64 x 64 x f32>
      %vl = tile.load %v[%n, %j, :] : memref<4x300x64xbf16> -> !tile.tile<b2=128 x 64 x bf16>
      %pc = tile.cast %p : !tile.tile<b1=64 x b2=128 x f32> to !tile.tile<b1=64 x b2=128 x bf16>
      %a2 = tile.dot %pc, %vl, %am : !tile.tile<b1=64 x b2=128 x bf16>, !tile.tile<b2=128 x 64 x bf16> -> !tile.tile<b1=64 x 64 x f32>
      tile.yield %m2, %s2, %a2 : !tile.tile<b1=64 x f32>, !tile.tile<b1=64 x f32>, !tile.tile<b1=64 x 64 x f32>
    }
    %sb = tile.broadcast %s dims [0] : !tile.tile<b1=64 x f32> to !tile.tile<b1=64 x 64 x f32>
    %r = tile.div %a, %sb : !tile.tile<b1=64 x 64 x f32>
    %c = tile.cast %r : !tile.tile<b1=64 x 64 x f32> to !tile.tile<b1=64 x 64 x bf16>
    tile.store %c, %out[%n, %i, :] : !tile.tile<b1=64 x 64 x bf16>, memref<4x200x64xbf16>
  }
  func.return %out : memref<4x200x64xbf16>
}
