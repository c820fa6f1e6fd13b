// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,slice-operands,canonicalize,cse,dce)' | filecheck %s

// Elements of a ring are the first of the array: nothing else of it is handed over.
// CHECK-LABEL: func.func @ring
// CHECK: [[S:%.+]] = host.slice %x [0] [128] [1] : memref<200000xf32> to memref<128xf32>
// CHECK: host.launch @ring ({{%.+}} = [[S]],
// CHECK: tile.load {{%.+}}[%n] : memref<128xf32>
func.func @ring(%x: memref<200000xf32>) -> memref<64xf32> {
  %out = host.alloc : memref<64xf32>
  // expected-remark@+1 {{'x' is sliced to [0:128]: nothing else of it is read}}
  tile.grid (%i: b0=16) in (64) {
    %l = tile.index %i : !tile.range<b0=16>
    %c = tile.full 37 : !tile.tile<b0=16 x i32>
    %n = tile.mod %l, %c : !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n] : memref<200000xf32> -> !tile.tile<b0=16 x f32>
    tile.store %v, %out[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return %out : memref<64xf32>
}

// -----

// A part from a tile of memory on: indices count from there. Columns are those of a block, which a window follows.
// CHECK-LABEL: func.func @backwards
// CHECK: [[S:%.+]] = host.slice %x [240, 0] [64, 256] [1, 1] : memref<1000x256xf32> to memref<64x256xf32>
// CHECK: [[F:%.+]] = tile.full 240
// CHECK: [[N:%.+]] = tile.sub %n, [[F]]
// CHECK: tile.load {{%.+}}{{\[}}[[N]], %j] : memref<64x256xf32>
func.func @backwards(%x: memref<1000x256xf32>) -> memref<64x256xf32> {
  %out = host.alloc : memref<64x256xf32>
  // expected-remark@+1 {{'x' is sliced to [240:304, 0:256]: nothing else of it is read}}
  tile.grid (%i: b0=16, %j: b1=128) in (64, 256) {
    %l = tile.index %i : !tile.range<b0=16>
    %c = tile.full 303 : !tile.tile<b0=16 x i32>
    %n = tile.sub %c, %l : !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n, %j] : memref<1000x256xf32> -> !tile.tile<b0=16 x b1=128 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=16 x b1=128 x f32>, memref<64x256xf32>
  }
  func.return %out : memref<64x256xf32>
}

// -----

// A block that begins where no cell's number tells: no window follows it.
// CHECK-LABEL: func.func @first_rows
// CHECK: host.slice %x [0, 0] [16, 256] [1, 1] : memref<1000x256xf32> to memref<16x256xf32>
func.func @first_rows(%x: memref<1000x256xf32>) -> memref<64x256xf32> {
  %out = host.alloc : memref<64x256xf32>
  // expected-remark@+1 {{'x' is sliced to [0:16, 0:256]: nothing else of it is read}}
  tile.grid (%i: b0=16, %j: b1=128) in (64, 256) {
    %l = tile.index %i : !tile.range<b0=16>
    %c = tile.full 16 : !tile.tile<b0=16 x i32>
    %n = tile.mod %l, %c : !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n, %j] : memref<1000x256xf32> -> !tile.tile<b0=16 x b1=128 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=16 x b1=128 x f32>, memref<64x256xf32>
  }
  func.return %out : memref<64x256xf32>
}

// -----

// Blocks stay as they are, and so do numbers of which nothing is known.
// CHECK-LABEL: func.func @unbounded
// CHECK-NOT: host.slice
func.func @unbounded(%x: memref<1000x256xf32>, %y: memref<1000x256xf32>, %ids: memref<64xi32>) -> memref<64x256xf32> {
  %out = host.alloc : memref<64x256xf32>
  tile.grid (%i: b0=16) in (64) {
    %n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %l = tile.index %i : !tile.range<b0=16>
    %v = tile.load %x[%n, :] : memref<1000x256xf32> -> !tile.tile<b0=16 x 256 x f32>
    %w = tile.load %y[%l, :] : memref<1000x256xf32> -> !tile.tile<b0=16 x 256 x f32>
    %s = tile.add %v, %w : !tile.tile<b0=16 x 256 x f32>
    tile.store %s, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
  }
  func.return %out : memref<64x256xf32>
}

// -----

// There is no slice of an array whose extent differs from call to call.
// CHECK-LABEL: func.func @open
// CHECK-NOT: host.slice
// CHECK: host.launch @open
func.func @open(%x: memref<?xf32>) -> memref<64xf32> {
  %out = host.alloc : memref<64xf32>
  tile.grid (%i: b0=16) in (64) {
    %l = tile.index %i : !tile.range<b0=16>
    %c = tile.full 37 : !tile.tile<b0=16 x i32>
    %n = tile.mod %l, %c : !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n] : memref<?xf32> -> !tile.tile<b0=16 x f32>
    tile.store %v, %out[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return %out : memref<64xf32>
}

// -----

// An array whose elements no lane reads, or of which a slice with a step is read, is handed over whole; so is one whose
// numbers nobody knows.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT: %out = host.alloc : memref<64xf32>
// CHECK-NEXT: %out_1 = host.launch @whole (%n_1 = %n, %x_1 = %x, %y_1 = %y, %out_2 = %out) writes [3] : (memref<64xi32>, memref<200000xf32>, memref<200000xf32>, memref<64xf32>) -> memref<64xf32> {
// CHECK-NEXT: tile.grid (%i: b0=16) in (64) {
// CHECK-NEXT: %k = tile.load %n_1[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
// CHECK-NEXT: %v = tile.load %x_1[%k] : memref<200000xf32> -> !tile.tile<b0=16 x f32>
// CHECK-NEXT: %w = tile.load %y_1[0:32:2] : memref<200000xf32> -> !tile.tile<16 x f32>
// CHECK-NEXT: %s = tile.reduce add %w [0] : !tile.tile<16 x f32>
// CHECK-NEXT: %b = tile.broadcast %s dims [] : !tile.tile<f32> to !tile.tile<b0=16 x f32>
// CHECK-NEXT: %r = tile.add %v, %b : !tile.tile<b0=16 x f32>
// CHECK-NEXT: tile.store %r, %out_2[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out_1 : memref<64xf32>
func.func @whole(%x: memref<200000xf32>, %n: memref<64xi32>, %y: memref<200000xf32>) -> memref<64xf32> {
  %out = host.alloc : memref<64xf32>
  tile.grid (%i: b0=16) in (64) {
    %k = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%k] : memref<200000xf32> -> !tile.tile<b0=16 x f32>
    %w = tile.load %y[0:32:2] : memref<200000xf32> -> !tile.tile<16 x f32>
    %s = tile.reduce add %w [0] : !tile.tile<16 x f32>
    %b = tile.broadcast %s dims [] : !tile.tile<f32> to !tile.tile<b0=16 x f32>
    %r = tile.add %v, %b : !tile.tile<b0=16 x f32>
    tile.store %r, %out[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return %out : memref<64xf32>
}
