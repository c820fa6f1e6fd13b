// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(expand-for-mosaic)' | filecheck %s

// Vectors are joined as parts of one row.
// CHECK-LABEL: @join
// CHECK: tile.reshape %a : !tile.tile<b0=32 x f32> to !tile.tile<1 x b0=32 x f32>
// CHECK: tile.concat {{.*}} dim 1 : {{.*}} to !tile.tile<1 x 128 x f32>
// CHECK: tile.reshape %{{.*}} : !tile.tile<1 x 128 x f32> to !tile.tile<128 x f32>
func.func @join(%x: memref<64xf32>, %y: memref<64xf32>, %o: memref<256xf32>) -> memref<256xf32> {
  %q = host.launch @join (%x0 = %x, %y0 = %y, %o0 = %o) writes [2] : (memref<64xf32>, memref<64xf32>, memref<256xf32>) -> memref<256xf32> {
    tile.grid (%i: b0=32) in (64) {
      %a = tile.load %x0[%i] : memref<64xf32> -> !tile.tile<b0=32 x f32>
      %b = tile.load %y0[:] : memref<64xf32> -> !tile.tile<64 x f32>
      %j = tile.concat %a, %b, %a dim 0 : !tile.tile<b0=32 x f32>, !tile.tile<64 x f32>, !tile.tile<b0=32 x f32> to !tile.tile<128 x f32>
      %begin = tile.begin %i : !tile.range<b0=32>
      %whole = tile.whole 128 : !tile.range<b1=128>
      %place = tile.shift %whole by %begin : !tile.range<b1=128>
      %k = tile.broadcast %j dims [0] : !tile.tile<128 x f32> to !tile.tile<b1=128 x f32>
      tile.store %k, %o0[%place] : !tile.tile<b1=128 x f32>, memref<256xf32>
    }
  }
  func.return %q : memref<256xf32>
}
