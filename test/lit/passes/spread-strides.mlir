// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(return-mutated-arguments,functionalise-host,spread-strides,canonicalize,cse)' | filecheck %s

// Every second lane is read with its neighbours, and written among them.
// CHECK-LABEL: @lanes
// CHECK: [[ROW:%.+]] = tile.load %{{.*}}[:] : memref<32xf32> -> !tile.tile<32 x f32>
// CHECK: [[V:%.+]] = tile.slice [[ROW]] [0] [16] [2] : !tile.tile<32 x f32> to !tile.tile<16 x f32>
// CHECK: tile.mod
// CHECK: tile.floordiv
// CHECK: tile.take_along
// CHECK: tile.store %{{.*}}, %{{.*}}[:] mask %{{.*}} : !tile.tile<32 x f32>, memref<32xf32>
func.func @lanes(%x: memref<32xf32>, %out: memref<32xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %v = tile.load %x[0:32:2] : memref<32xf32> -> !tile.tile<16 x f32>
    tile.store %v, %out[1:32:2] : !tile.tile<16 x f32>, memref<32xf32>
  }
  func.return
}

// One number is that in all lanes; rows of 32 bits are taken as they are.
// CHECK-LABEL: @rows
// CHECK: [[ONES:%.+]] = tile.full 1.0 : !tile.tile<8 x 64 x bf16>
// CHECK: tile.store [[ONES]], %{{.*}}[:, :] mask
// CHECK: tile.store %{{.*}}, %{{.*}}[0:8:2, :] : !tile.tile<4 x 64 x f32>
func.func @rows(%x: memref<8x64xbf16>, %y: memref<8x64xf32>) {
  tile.grid (%i: b1=1) in (1) {
    %v = tile.full 1.0 : !tile.tile<3 x 64 x bf16>
    tile.store %v, %x[1:8:3, :] : !tile.tile<3 x 64 x bf16>, memref<8x64xbf16>
    %w = tile.full 1.0 : !tile.tile<4 x 64 x f32>
    tile.store %w, %y[0:8:2, :] : !tile.tile<4 x 64 x f32>, memref<8x64xf32>
  }
  func.return
}
