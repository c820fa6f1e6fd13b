// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(split-dot-reduction{chip=gfx942},dce)' | filecheck %s --check-prefixes=CHECK,AMD
// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(split-dot-reduction{chip=sm75},dce)' | filecheck %s --check-prefixes=CHECK,NV

// Rows that stay for all visits have registers on AMD's chips: columns alone are shared. Others share both.
// CHECK-LABEL: func.func @stays
// CHECK: tile.for %j
// AMD-NOT: tile.for
// AMD: tile.dot
// NV: tile.for %k
// NV: tile.dot
// CHECK-LABEL: func.func @both
// CHECK: tile.for %j
// CHECK: tile.for %k
// CHECK: tile.dot
func.func @stays(%x: memref<512x128xf16>, %w: memref<256x128xf16>, %out: memref<512x256xf32>) {
  tile.grid (%i: b0=256) in (512) {
    %l = tile.load %x[%i, :] : memref<512x128xf16> -> !tile.tile<b0=256 x 128 x f16>
    tile.for %j: b1=32 in (0, 256) {
      %r = tile.load %w[%j, :] : memref<256x128xf16> -> !tile.tile<b1=32 x 128 x f16>
      %t = tile.transpose %r [1, 0] : !tile.tile<b1=32 x 128 x f16>
      %d = tile.dot %l, %t : !tile.tile<b0=256 x 128 x f16>, !tile.tile<128 x b1=32 x f16> -> !tile.tile<b0=256 x b1=32 x f32>
      tile.store %d, %out[%i, %j] : !tile.tile<b0=256 x b1=32 x f32>, memref<512x256xf32>
      tile.yield
    }
  }
  func.return
}
func.func @both(%x: memref<512x128xf16>, %w: memref<256x128xf16>, %out: memref<512x256xf32>) {
  tile.grid (%i: b0=256) in (512) {
    tile.for %j: b1=32 in (0, 256) {
      %l = tile.load %x[%i, :] : memref<512x128xf16> -> !tile.tile<b0=256 x 128 x f16>
      %r = tile.load %w[%j, :] : memref<256x128xf16> -> !tile.tile<b1=32 x 128 x f16>
      %t = tile.transpose %r [1, 0] : !tile.tile<b1=32 x 128 x f16>
      %d = tile.dot %l, %t : !tile.tile<b0=256 x 128 x f16>, !tile.tile<128 x b1=32 x f16> -> !tile.tile<b0=256 x b1=32 x f32>
      tile.store %d, %out[%i, %j] : !tile.tile<b0=256 x b1=32 x f32>, memref<512x256xf32>
      tile.yield
    }
  }
  func.return
}
