// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,fold-slices,dce)' | filecheck %s

// The first 500 of 513 rows, and of 4100 columns 4000: blocks are counted from where the array begins.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: host.slice
// CHECK: host.launch @rows ([[A:%.+]] = %x,
// CHECK: tile.load [[A]][%i, %j] : memref<513x4100xf32>
func.func @rows(%x: memref<513x4100xf32>) -> memref<500x4000xf32> {
  %s = host.slice %x [0, 0] [500, 4000] [1, 1] : memref<513x4100xf32> to memref<500x4000xf32, strided<[4100, 1]>>
  %out = host.alloc : memref<500x4000xf32>
  // expected-remark@+1 {{'s' is read where it stands: its slice is not copied}}
  tile.grid (%i: b0=8, %j: b1=128) in (500, 4000) {
    %v = tile.load %s[%i, %j] : memref<500x4000xf32, strided<[4100, 1]>> -> !tile.tile<b0=8 x b1=128 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=8 x b1=128 x f32>, memref<500x4000xf32>
  }
  func.return %out : memref<500x4000xf32>
}

// -----

// Blocks of a slice that begins at the second row begin nowhere at multiples of their size.
// CHECK-LABEL: func.func @later
// CHECK: [[S:%.+]] = host.slice %x [1] [500] [1]
// CHECK: host.launch @later ({{%.+}} = [[S]],
func.func @later(%x: memref<501xf32>) -> memref<500xf32> {
  %s = host.slice %x [1] [500] [1] : memref<501xf32> to memref<500xf32, strided<[1], offset: 1>>
  %out = host.alloc : memref<500xf32>
  tile.grid (%i: b0=128) in (500) {
    %v = tile.load %s[%i] : memref<500xf32, strided<[1], offset: 1>> -> !tile.tile<b0=128 x f32>
    tile.store %v, %out[%i] : !tile.tile<b0=128 x f32>, memref<500xf32>
  }
  func.return %out : memref<500xf32>
}

// -----

// All of a dimension is as long as the slice. Rows are sliced, and columns are not.
// CHECK-LABEL: func.func @whole
// CHECK: [[S:%.+]] = host.slice %x [0, 0] [60, 30]
// CHECK-NOT: host.slice
// CHECK: host.launch @whole ({{%.+}} = [[S]], [[B:%.+]] = %y,
// CHECK: tile.load [[B]][%i, :] : memref<100x40xf32>
func.func @whole(%x: memref<60x40xf32>, %y: memref<100x40xf32>) -> (memref<60x30xf32>, memref<60x40xf32>) {
  %s = host.slice %x [0, 0] [60, 30] [1, 1] : memref<60x40xf32> to memref<60x30xf32, strided<[40, 1]>>
  %t = host.slice %y [0, 0] [60, 40] [1, 1] : memref<100x40xf32> to memref<60x40xf32>
  %o = host.alloc : memref<60x30xf32>
  %p = host.alloc : memref<60x40xf32>
  // expected-remark@+1 {{'t' is read where it stands: its slice is not copied}}
  tile.grid (%i: b0=8) in (60) {
    %v = tile.load %s[%i, :] : memref<60x30xf32, strided<[40, 1]>> -> !tile.tile<b0=8 x 30 x f32>
    %w = tile.load %t[%i, :] : memref<60x40xf32> -> !tile.tile<b0=8 x 40 x f32>
    tile.store %v, %o[%i, :] : !tile.tile<b0=8 x 30 x f32>, memref<60x30xf32>
    tile.store %w, %p[%i, :] : !tile.tile<b0=8 x 40 x f32>, memref<60x40xf32>
  }
  func.return %o, %p : memref<60x30xf32>, memref<60x40xf32>
}

// -----

// A slice that is read otherwise, too, stays for that.
// CHECK-LABEL: func.func @returned
// CHECK-NEXT: %s = host.slice %x [0, 0] [500, 4000] [1, 1] : memref<513x4096xf32> to memref<500x4000xf32, strided<[4096, 1]>>
// CHECK-NEXT: %out = host.alloc : memref<500x4000xf32>
// CHECK-NEXT: %out_1 = host.launch @returned (%s_1 = %x, %out_2 = %out) writes [1] : (memref<513x4096xf32>, memref<500x4000xf32>) -> memref<500x4000xf32> {
// CHECK-NEXT: tile.grid (%i: b0=8, %j: b1=128) in (500, 4000) {
// CHECK-NEXT: %v = tile.load %s_1[%i, %j] : memref<513x4096xf32> -> !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: tile.store %v, %out_2[%i, %j] : !tile.tile<b0=8 x b1=128 x f32>, memref<500x4000xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out_1, %s : memref<500x4000xf32>, memref<500x4000xf32, strided<[4096, 1]>>
func.func @returned(%x: memref<513x4096xf32>) -> (memref<500x4000xf32>, memref<500x4000xf32, strided<[4096, 1]>>) {
  %s = host.slice %x [0, 0] [500, 4000] [1, 1] : memref<513x4096xf32> to memref<500x4000xf32, strided<[4096, 1]>>
  %out = host.alloc : memref<500x4000xf32>
  // expected-remark@+1 {{'s' is read where it stands: its slice is not copied}}
  tile.grid (%i: b0=8, %j: b1=128) in (500, 4000) {
    %v = tile.load %s[%i, %j] : memref<500x4000xf32, strided<[4096, 1]>> -> !tile.tile<b0=8 x b1=128 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=8 x b1=128 x f32>, memref<500x4000xf32>
  }
  func.return %out, %s : memref<500x4000xf32>, memref<500x4000xf32, strided<[4096, 1]>>
}
