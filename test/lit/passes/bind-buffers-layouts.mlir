// RUN: kopt %s --split-input-file --verify-each --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,plan-accesses,apply-schedule,bind-buffers)' | filecheck %s

// Short blocks of a rank-1 array are split off; a remark says so.
// CHECK-LABEL: func.func @short
// CHECK: pallas.call @short
// CHECK: [[R:%.+]] = host.reshape {{%.+}} : memref<16x1x64xf32> to memref<1024xf32>
// CHECK: host.slice [[R]] [0] [1000] [1] : memref<1024xf32> to memref<1000xf32>
func.func @short(%x: memref<1000x256xf32>) -> memref<1000xf32> {
  %out = host.alloc : memref<1000xf32>
  // expected-remark @+1 {{'out' is laid out as 16 x 1 x 64 for the kernel: blocks of 64 lanes of dimension 0; single rows of dimension 0}}
  tile.grid (%i: b0=64) in (1000) {
    %v = tile.load %x[%i, :] : memref<1000x256xf32> -> !tile.tile<b0=64 x 256 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=64 x 256 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=64 x f32>, memref<1000xf32>
  }
  func.return %out : memref<1000xf32>
}

// -----

// Of each row of heads a cell takes one: the rows of its block become the rows in memory.
// CHECK-LABEL: func.func @heads
// CHECK: host.permute
// CHECK: pallas.call @heads
func.func @heads(%x: memref<2x96x4x64xf32>) -> memref<2x96x4x64xf32> {
  %out = host.alloc : memref<2x96x4x64xf32>
  // expected-remark @+2 {{'x' is laid out as 4 x 2 x 96 x 64 for the kernel: single rows of dimension 2}}
  // expected-remark @+1 {{'out' is laid out as 4 x 2 x 96 x 64 for the kernel: single rows of dimension 2}}
  tile.grid (%b: b0=1, %h: b1=1, %i: b2=16) in (2, 4, 96) {
    %n = tile.begin %b : !tile.range<b0=1>
    %m = tile.begin %h : !tile.range<b1=1>
    %v = tile.load %x[%n, %i, %m, :] : memref<2x96x4x64xf32> -> !tile.tile<b2=16 x 64 x f32>
    tile.store %v, %out[%n, %i, %m, :] : !tile.tile<b2=16 x 64 x f32>, memref<2x96x4x64xf32>
  }
  func.return %out : memref<2x96x4x64xf32>
}

// -----

// Blocks of 4 of them are no rows of a tile: each row stands alone.
// CHECK-LABEL: func.func @few
// CHECK: host.reshape {{%.+}} : memref<96x4x64xf32> to memref<96x4x1x64xf32>
func.func @few(%x: memref<96x4x64xf32>) -> memref<96x4x64xf32> {
  %out = host.alloc : memref<96x4x64xf32>
  // expected-remark @+2 {{'x' is laid out as 96 x 4 x 1 x 64 for the kernel}}
  // expected-remark @+1 {{'out' is laid out as 96 x 4 x 1 x 64 for the kernel}}
  tile.grid (%h: b1=1, %i: b2=4) in (4, 96) {
    %m = tile.begin %h : !tile.range<b1=1>
    %v = tile.load %x[%i, %m, :] : memref<96x4x64xf32> -> !tile.tile<b2=4 x 64 x f32>
    tile.store %v, %out[%i, %m, :] : !tile.tile<b2=4 x 64 x f32>, memref<96x4x64xf32>
  }
  func.return %out : memref<96x4x64xf32>
}
