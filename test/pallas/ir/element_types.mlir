// Bool, i64 and f16 arrays are cast at the boundary.
func.func @element_types(%x: memref<64x256xf16>, %keep: memref<64x256xi1>, %label: memref<64xi64>) -> (memref<64x256xf16>, memref<64x256xi1>) {
  %out = host.alloc : memref<64x256xf16>
  %hit = host.alloc : memref<64x256xi1>
  tile.grid (%i: b0=32, %j: b1=128) in (64, 256) {
    %h = tile.load %x[%i, %j] : memref<64x256xf16> -> !tile.tile<b0=32 x b1=128 x f16>
    %v = tile.cast %h : !tile.tile<b0=32 x b1=128 x f16> to !tile.tile<b0=32 x b1=128 x f32>
    %k = tile.load %keep[%i, %j] : memref<64x256xi1> -> !tile.tile<b0=32 x b1=128 x i1>
    %z = tile.full 0.0 : !tile.tile<b0=32 x b1=128 x f32>
    %e = tile.exp %v : !tile.tile<b0=32 x b1=128 x f32>
    %s = tile.select %k, %e, %z : !tile.tile<b0=32 x b1=128 x f32>
    %r = tile.cast %s : !tile.tile<b0=32 x b1=128 x f32> to !tile.tile<b0=32 x b1=128 x f16>
    tile.store %r, %out[%i, %j] : !tile.tile<b0=32 x b1=128 x f16>, memref<64x256xf16>
    %l = tile.load %label[%i] : memref<64xi64> -> !tile.tile<b0=32 x i64>
    %n = tile.index %j : !tile.range<b1=128>
    %w = tile.cast %n : !tile.tile<b1=128 x i32> to !tile.tile<b1=128 x i64>
    %lb = tile.broadcast %l dims [0] : !tile.tile<b0=32 x i64> to !tile.tile<b0=32 x b1=128 x i64>
    %nb = tile.broadcast %w dims [1] : !tile.tile<b1=128 x i64> to !tile.tile<b0=32 x b1=128 x i64>
    %q = tile.eq %lb, %nb : !tile.tile<b0=32 x b1=128 x i64>
    tile.store %q, %hit[%i, %j] : !tile.tile<b0=32 x b1=128 x i1>, memref<64x256xi1>
  }
  func.return %out, %hit : memref<64x256xf16>, memref<64x256xi1>
}
