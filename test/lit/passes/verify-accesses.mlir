// RUN: kopt %s --split-input-file --verify-diagnostics -p verify-accesses | filecheck %s

// What stays inside, is masked where it does not, or is not known before a call is left as it is.
// CHECK-LABEL: func.func @right
// CHECK: tile.load %x[%before] mask %inside
// CHECK: tile.load %x[%rows]
func.func @right(%x: memref<10xf32>, %n: memref<10xi32>, %out: memref<10xf32>) {
  tile.grid (%i: b0=4) in (10) {
    %one = tile.full 1 : !tile.tile<b0=4 x i32>
    %zero = tile.full 0 : !tile.tile<b0=4 x i32>
    %lanes = tile.index %i : !tile.range<b0=4>
    %before = tile.sub %lanes, %one : !tile.tile<b0=4 x i32>
    %inside = tile.ge %before, %zero : !tile.tile<b0=4 x i32>
    %v = tile.load %x[%before] mask %inside : memref<10xf32> -> !tile.tile<b0=4 x f32>
    %rows = tile.load %n[%i] : memref<10xi32> -> !tile.tile<b0=4 x i32>
    %w = tile.load %x[%rows] : memref<10xf32> -> !tile.tile<b0=4 x f32>
    %sum = tile.add %v, %w : !tile.tile<b0=4 x f32>
    tile.store %sum, %out[%i] : !tile.tile<b0=4 x f32>, memref<10xf32>
  }
  func.return
}

// -----

// A loop that visits nothing reads nothing.
// CHECK-LABEL: func.func @empty
func.func @empty(%x: memref<0xf32>, %out: memref<0xf32>) {
  tile.grid (%i: b0=4) in (0) {
    %v = tile.load %x[0:0] : memref<0xf32> -> !tile.tile<0 x f32>
    %w = tile.load %x[%i] : memref<0xf32> -> !tile.tile<b0=4 x f32>
    tile.store %w, %out[%i] : !tile.tile<b0=4 x f32>, memref<0xf32>
  }
  func.return
}

// -----

func.func @a_tile_of_more(%x: memref<10xf32>, %out: memref<12xf32>) {
  tile.grid (%i: b0=4) in (12) {
    // expected-error @+1 {{'tile.load' of %x, shape [10]: lane [2] of the block is outside the array (dimension 0 of 10: 8 to 12)}}
    %v = tile.load %x[%i] : memref<10xf32> -> !tile.tile<b0=4 x f32>
    tile.store %v, %out[%i] : !tile.tile<b0=4 x f32>, memref<12xf32>
  }
  func.return
}

// -----

// Of an inner loop; the number of the row is data, and taken to be right.
func.func @inner(%x: memref<3x10xf32>, %n: memref<1xi32>, %out: memref<4xf32>) {
  tile.grid (%i: b0=4) in (4) {
    %row = tile.load %n[0] : memref<1xi32> -> !tile.tile<i32>
    %number = tile.extract %row : !tile.tile<i32> to index
    %c3 = arith.constant 3 : index
    tile.for %k: b1=4 in (0, 8) {
      %later = tile.shift %k by %c3 : !tile.range<b1=4>
      // expected-error @+1 {{'tile.load' of %x, shape [3, 10]: lane [3] of the block is outside the array (dimension 0 of 3: not known; dimension 1 of 10: 7 to 11)}}
      %v = tile.load %x[%number, %later] : memref<3x10xf32> -> !tile.tile<b1=4 x f32>
    }
  }
  func.return
}

// -----

func.func @lost_update(%x: memref<12xf32>, %out: memref<1xf32>) {
  tile.grid (%i: b0=4) in (12) {
    %v = tile.load %x[%i] : memref<12xf32> -> !tile.tile<b0=4 x f32>
    %s = tile.reduce add %v [0] : !tile.tile<b0=4 x f32>
    // expected-note @+2 {{the other access is at}}
    // expected-error @+1 {{'tile.load' reads what 'tile.store' of another cell of the grid accesses: cells run in no order}}
    %o = tile.load %out[0] : memref<1xf32> -> !tile.tile<f32>
    %t = tile.add %o, %s : !tile.tile<f32>
    tile.store %t, %out[0] : !tile.tile<f32>, memref<1xf32>
  }
  func.return
}

// -----

// In order, one after the other.
// CHECK-LABEL: func.func @ordered
func.func @ordered(%x: memref<12xf32>, %out: memref<1xf32>) {
  tile.grid (%i: b0=4) in (12) ordered [0] {
    %v = tile.load %x[%i] : memref<12xf32> -> !tile.tile<b0=4 x f32>
    %s = tile.reduce add %v [0] : !tile.tile<b0=4 x f32>
    %o = tile.load %out[0] : memref<1xf32> -> !tile.tile<f32>
    %t = tile.add %o, %s : !tile.tile<f32>
    tile.store %t, %out[0] : !tile.tile<f32>, memref<1xf32>
  }
  func.return
}

// -----

// All cells write the same, or not.
// CHECK-LABEL: func.func @the_same
func.func @the_same(%out: memref<1xi32>) {
  tile.grid (%i: b0=1) in (5) {
    %one = tile.full 1 : !tile.tile<i32>
    tile.store %one, %out[0] : !tile.tile<i32>, memref<1xi32>
  }
  func.return
}

// -----

func.func @another(%out: memref<1xi32>) {
  tile.grid (%i: b0=1) in (5) {
    %n = tile.index %i : !tile.range<b0=1>
    %s = tile.reduce add %n [0] : !tile.tile<b0=1 x i32>
    // expected-note @+2 {{the other access is at}}
    // expected-error @+1 {{'tile.store' writes what 'tile.store' of another cell of the grid accesses}}
    tile.store %s, %out[0] : !tile.tile<i32>, memref<1xi32>
  }
  func.return
}
