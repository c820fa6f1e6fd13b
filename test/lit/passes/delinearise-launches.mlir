// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(functionalise-host,eliminate-output-only,delinearise-launches)' --remarks 2>&1 | filecheck %s

// What is flattened stays as it is; 16 rows are a block.
// CHECK-DAG: remark: blocks of flattened arrays are 16 rows of 256 elements
// CHECK-DAG: remark: blocks of flattened arrays are 8 rows of 128 elements
// CHECK-LABEL: func.func @rows
// CHECK-NOT: host.reshape
// CHECK: host.launch @rows (%f = %x) writes [] yields (%{{.+}} : memref<100x256xf32>)
// CHECK: tile.grid (%i: b0=16) in (100)
// CHECK-NEXT: %v = tile.load %f[%i, :] : memref<100x256xf32> -> !tile.tile<b0=16 x 256 x f32>
// CHECK-NEXT: %two = tile.full 2.0 : !tile.tile<b0=16 x 256 x f32>
// CHECK-NEXT: %w = tile.mul %v, %two : !tile.tile<b0=16 x 256 x f32>
// CHECK-NEXT: tile.store %w, %{{.+}}[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<100x256xf32>
// CHECK-NOT: host.reshape
// CHECK: func.return
func.func @rows(%x: memref<100x256xf32>) -> memref<100x256xf32> {
  %out = host.alloc : memref<100x256xf32>
  %f = host.reshape %x : memref<100x256xf32> to memref<25600xf32>
  %g = host.reshape %out : memref<100x256xf32> to memref<25600xf32>
  tile.grid (%i: b0=4096) in (25600) {
    %v = tile.load %f[%i] : memref<25600xf32> -> !tile.tile<b0=4096 x f32>
    %two = tile.full 2.0 : !tile.tile<b0=4096 x f32>
    %w = tile.mul %v, %two : !tile.tile<b0=4096 x f32>
    tile.store %w, %g[%i] : !tile.tile<b0=4096 x f32>, memref<25600xf32>
  }
  func.return %out : memref<100x256xf32>
}

// -----

// Dimensions further out are merged, which moves nothing.
// CHECK-LABEL: func.func @planes
// CHECK: [[M:%.+]] = host.reshape %x : memref<3x8x128xbf16> to memref<24x128xbf16>
// CHECK: tile.load %{{.+}}[%i, :] : memref<24x128xbf16> -> !tile.tile<b0=8 x 128 x bf16>
// CHECK: host.reshape %{{.+}} : memref<24x128xbf16> to memref<3x8x128xbf16>
func.func @planes(%x: memref<3x8x128xbf16>) -> memref<3x8x128xbf16> {
  %f = host.reshape %x : memref<3x8x128xbf16> to memref<3072xbf16>
  tile.grid (%i: b0=1024) in (3072) {
    %v = tile.load %f[%i] : memref<3072xbf16> -> !tile.tile<b0=1024 x bf16>
    tile.store %v, %f[%i] : !tile.tile<b0=1024 x bf16>, memref<3072xbf16>
  }
  func.return %x : memref<3x8x128xbf16>
}

// -----

// A part of a row; rows of two lengths; rows shorter than a vector register; what is a vector anyway.
// CHECK-LABEL: func.func @stay
// CHECK-NOT: {{%.+}}, :]
func.func @stay(%x: memref<8x2048xf32>, %y: memref<16x1024xf32>, %z: memref<1024x16xf32>, %w: memref<16384xf32>) {
  %f = host.reshape %x : memref<8x2048xf32> to memref<16384xf32>
  %g = host.reshape %y : memref<16x1024xf32> to memref<16384xf32>
  %h = host.reshape %z : memref<1024x16xf32> to memref<16384xf32>
  tile.grid (%i: b0=1024) in (16384) {
    %a = tile.load %f[%i] : memref<16384xf32> -> !tile.tile<b0=1024 x f32>
    tile.store %a, %f[%i] : !tile.tile<b0=1024 x f32>, memref<16384xf32>
  }
  tile.grid (%i: b1=1024) in (16384) {
    %a = tile.load %g[%i] : memref<16384xf32> -> !tile.tile<b1=1024 x f32>
    tile.store %a, %h[%i] : !tile.tile<b1=1024 x f32>, memref<16384xf32>
  }
  tile.grid (%i: b2=1024) in (16384) {
    %a = tile.load %g[%i] : memref<16384xf32> -> !tile.tile<b2=1024 x f32>
    tile.store %a, %w[%i] : !tile.tile<b2=1024 x f32>, memref<16384xf32>
  }
  func.return
}

// -----

// Where lanes stand matters to a sum, and to their numbers.
// CHECK-LABEL: func.func @places
// CHECK-NOT: {{%.+}}, :]
func.func @places(%x: memref<16x1024xf32>, %s: memref<16xf32>, %n: memref<16x1024xi32>) {
  %f = host.reshape %x : memref<16x1024xf32> to memref<16384xf32>
  %m = host.reshape %n : memref<16x1024xi32> to memref<16384xi32>
  tile.grid (%i: b0=8192) in (16384) {
    %a = tile.load %f[%i] : memref<16384xf32> -> !tile.tile<b0=8192 x f32>
    %r = tile.reduce add %a [0] : !tile.tile<b0=8192 x f32>
    %k = tile.id %i : !tile.range<b0=8192>
    tile.store %r, %s[%k] : !tile.tile<f32>, memref<16xf32>
  }
  tile.grid (%j: b1=8192) in (16384) {
    %a = tile.index %j : !tile.range<b1=8192>
    tile.store %a, %m[%j] : !tile.tile<b1=8192 x i32>, memref<16384xi32>
  }
  func.return
}
