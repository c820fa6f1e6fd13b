// RUN: kopt %s --split-input-file --verify-diagnostics --verify-each --pass-pipeline='builtin.module(functionalise-host)' | filecheck %s

// Two launches in a row: the second reads the first one's version.
// CHECK-LABEL: func.func @chain
// CHECK: [[T:%.+]] = host.alloc
// CHECK: [[T1:%.+]] = host.launch @chain_0 ({{%.+}} = %x, [[A:%.+]] = [[T]]) writes [1]
// CHECK: tile.store {{%.+}}, [[A]][%i]
// CHECK: [[O1:%.+]] = host.launch @chain_1 ({{%.+}} = [[T1]], {{%.+}} = %out) writes [1]
// CHECK: func.return [[O1]], [[T1]]
func.func @chain(%x: memref<100xf32>, %out: memref<100xf32>) -> (memref<100xf32>, memref<100xf32>) {
  %t = host.alloc : memref<100xf32>
  tile.grid (%i: b0=32) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    tile.store %v, %t[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  tile.grid (%j: b1=32) in (100) {
    %v = tile.load %t[%j] : memref<100xf32> -> !tile.tile<b1=32 x f32>
    tile.store %v, %out[%j] : !tile.tile<b1=32 x f32>, memref<100xf32>
  }
  func.return %out, %t : memref<100xf32>, memref<100xf32>
}

// -----

// A write through a transposed slice is carried back to the whole.
// CHECK-LABEL: func.func @through_views
// CHECK: [[S:%.+]] = host.slice %x [0, 8] [10, 16] [1, 1]
// CHECK: [[P:%.+]] = host.permute [[S]] [1, 0]
// CHECK: [[N:%.+]] = host.launch @through_views ({{%.+}} = [[P]]) writes [0]
// CHECK: [[B:%.+]] = host.permute [[N]] [1, 0]
// CHECK-NEXT: [[X:%.+]] = host.insert [[B]] into %x [0, 8] [10, 16] [1, 1]
// CHECK-NEXT: func.return [[X]]
func.func @through_views(%x: memref<10x100xf32>) -> memref<10x100xf32> {
  %s = host.slice %x [0, 8] [10, 16] [1, 1] : memref<10x100xf32> to memref<10x16xf32, strided<[100, 1], offset: 8>>
  %p = host.permute %s [1, 0] : memref<10x16xf32, strided<[100, 1], offset: 8>> to memref<16x10xf32, strided<[1, 100], offset: 8>>
  tile.grid (%i: b0=8) in (16) {
    %v = tile.full 1.0 : !tile.tile<b0=8 x 10 x f32>
    tile.store %v, %p[%i, :] : !tile.tile<b0=8 x 10 x f32>, memref<16x10xf32, strided<[1, 100], offset: 8>>
  }
  func.return %x : memref<10x100xf32>
}

// -----

// A copy is the value it copies, converted where the types differ.
// CHECK-LABEL: func.func @copies
// CHECK: [[C:%.+]] = host.call "prims.convert_element_type.default"(%x) args [unit, "bf16"]
// CHECK: func.return [[C]]
func.func @copies(%x: memref<10xf32>, %y: memref<10xbf16>) -> memref<10xbf16> {
  host.copy %x to %y : memref<10xf32>, memref<10xbf16>
  func.return %y : memref<10xbf16>
}

// -----

func.func @aliases(%x: memref<4x25xf32>) {
  %f = host.reshape %x : memref<4x25xf32> to memref<100xf32>
  // expected-error @below {{one loop nest reads and writes 'x' through different views}}
  tile.grid (%i: b0=4) in (4) {
    %v = tile.load %x[%i, 0] : memref<4x25xf32> -> !tile.tile<b0=4 x f32>
    tile.store %v, %f[%i] : !tile.tile<b0=4 x f32>, memref<100xf32>
  }
  func.return
}

// -----

func.func @expanded(%x: memref<1x8xf32>) {
  %e = host.expand %x : memref<1x8xf32> to memref<4x8xf32, strided<[0, 1]>>
  // expected-error @below {{cannot write through an expanded view}}
  tile.grid (%i: b0=4) in (4) {
    %v = tile.full 0.0 : !tile.tile<b0=4 x 8 x f32>
    tile.store %v, %e[%i, :] : !tile.tile<b0=4 x 8 x f32>, memref<4x8xf32, strided<[0, 1]>>
  }
  func.return
}

// -----

// Constants from around a loop nest are made inside of the launch.
// CHECK-LABEL: func.func @constant
// CHECK: host.launch
// CHECK: arith.constant true
// CHECK: tile.grid
func.func @constant(%x: memref<8xf32>) {
  %c = arith.constant true
  tile.grid (%i: b0=4) in (8) {
    scf.if %c {
      %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=4 x f32>
      tile.store %v, %x[%i] : !tile.tile<b0=4 x f32>, memref<8xf32>
    }
  }
  func.return
}

// -----

func.func @number(%x: memref<8xf32>, %c: i1) {
  tile.grid (%i: b0=4) in (8) {
    // expected-error @+1 {{the loop nest uses %c, which is computed before it, and is no array}}
    scf.if %c {
      %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=4 x f32>
      tile.store %v, %x[%i] : !tile.tile<b0=4 x f32>, memref<8xf32>
    }
  }
  func.return
}

// -----

// Views without common elements are arrays of their own: the second is put back into what the first was put into.
// CHECK-LABEL: func.func @halves
// CHECK: %left_1, %right_1 = host.launch @halves (%left_2 = %left, %right_2 = %right) writes [0, 1]
// CHECK: %x_1 = host.insert %left_1 into %x [0, 0] [4, 4] [1, 2]
// CHECK-NEXT: [[BACK:%.+]] = host.permute %right_1 [1, 0]
// CHECK-NEXT: %x_2 = host.insert [[BACK]] into %x_1 [0, 1] [4, 4] [1, 2]
// CHECK-NEXT: func.return %x_2
func.func @halves(%x: memref<4x8xf32>) -> memref<4x8xf32> {
  %left = host.slice %x [0, 0] [4, 4] [1, 2] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 2]>>
  %odd = host.slice %x [0, 1] [4, 4] [1, 2] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 2], offset: 1>>
  %right = host.permute %odd [1, 0] : memref<4x4xf32, strided<[8, 2], offset: 1>> to memref<4x4xf32, strided<[2, 8], offset: 1>>
  tile.grid (%i: b0=2) in (4) {
    %v = tile.load %left[%i, :] : memref<4x4xf32, strided<[8, 2]>> -> !tile.tile<b0=2 x 4 x f32>
    tile.store %v, %right[%i, :] : !tile.tile<b0=2 x 4 x f32>, memref<4x4xf32, strided<[2, 8], offset: 1>>
    %w = tile.neg %v : !tile.tile<b0=2 x 4 x f32>
    tile.store %w, %left[%i, :] : !tile.tile<b0=2 x 4 x f32>, memref<4x4xf32, strided<[8, 2]>>
  }
  func.return %x : memref<4x8xf32>
}

// -----

func.func @memories(%x: memref<8xf32>, %h: memref<8xf32, #symm.space<"tp">>) {
  // expected-error @+1 {{a copy between memories, memref<8xf32> to memref<8xf32, #symm.space<"tp">>, is more than another version of its value}}
  host.copy %x to %h : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  func.return
}
