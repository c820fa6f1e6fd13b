// RUN: kopt %s --verify-each -p 'convert-tile-to-triton,narrow-bounds,cse' | filecheck %s

// Rows from one loaded number to another are counted in 32 bits: also where more arithmetic makes the bounds.
// CHECK-LABEL: triton.launch
// CHECK: [[L:%.+]] = tile.load %offsets
// CHECK: [[N:%.+]] = tile.cast [[L]] : !tile.tile<i64> to !tile.tile<i32>
// CHECK: tile.extract [[N]] : !tile.tile<i32> to index
// CHECK: tile.for %rows
func.func @rows(%offsets: memref<9xi64>, %x: memref<500xf32>, %out: memref<500xf32>) {
  tile.grid (%i: b0=1) in (8) {
    %0 = tile.begin %i : !tile.range<b0=1>
    %begin = tile.load %offsets[%0] : memref<9xi64> -> !tile.tile<i64>
    %1 = tile.extract %begin : !tile.tile<i64> to index
    %2 = arith.constant 64 : index
    %3 = arith.addi %1, %2 : index
    tile.for %rows: b1=64 in (%1, %3) {
      %v = tile.load %x[%rows] : memref<500xf32> -> !tile.tile<b1=64 x f32>
      tile.store %v, %out[%rows] : !tile.tile<b1=64 x f32>, memref<500xf32>
      tile.yield
    }
  }
  func.return
}

// Elements that 32 bits do not name keep the 64 of their bounds, and so does a number that is more than a bound.
// CHECK-LABEL: triton.launch
// CHECK-NOT: tile.cast
// CHECK: tile.for %rows
func.func @large(%offsets: memref<9xi64>, %x: memref<5000000000xf32>, %z: memref<5000000000xf32>, %y: memref<500xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=1) in (8) {
    %0 = tile.begin %i : !tile.range<b0=1>
    %begin = tile.load %offsets[%0] : memref<9xi64> -> !tile.tile<i64>
    %1 = tile.extract %begin : !tile.tile<i64> to index
    %2 = arith.constant 64 : index
    %3 = arith.addi %1, %2 : index
    tile.for %rows: b1=64 in (%1, %3) {
      %v = tile.load %x[%rows] : memref<5000000000xf32> -> !tile.tile<b1=64 x f32>
      tile.store %v, %z[%rows] : !tile.tile<b1=64 x f32>, memref<5000000000xf32>
      tile.yield
    }
    %n = tile.load %offsets[%0] : memref<9xi64> -> !tile.tile<i64>
    %4 = tile.extract %n : !tile.tile<i64> to index
    %one = tile.load %y[%4] : memref<500xf32> -> !tile.tile<f32>
    tile.store %one, %out[%0] : !tile.tile<f32>, memref<8xf32>
  }
  func.return
}
