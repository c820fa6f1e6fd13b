// RUN: kopt %s -p int-range-optimizations --split-input-file --verify-each | filecheck %s

// CHECK-LABEL: func.func @comparisons
func.func @comparisons(%x: memref<64xi32>, %y: memref<100xi32>) {
  tile.grid (%i: b0=16, %j: b1=16) in (64, 100) {
    %a = tile.begin %i : !tile.range<b0=16>
    %s = tile.splat %a : index to !tile.tile<16 x i32>
    %n = tile.arange 0, 1 : !tile.tile<16 x i32>
    %m = tile.add %s, %n : !tile.tile<16 x i32>
    %e = tile.full 64 : !tile.tile<16 x i32>
    // Blocks of 16 that begin before 64 end there.
    // CHECK: %inside = tile.full 1 : !tile.tile<16 x i1>
    %inside = tile.lt %m, %e : !tile.tile<16 x i32>
    // CHECK-NEXT: %beyond = tile.full 0 : !tile.tile<16 x i1>
    %beyond = tile.gt %m, %e : !tile.tile<16 x i32>
    %f = tile.full 63 : !tile.tile<16 x i32>
    // CHECK: %before = tile.lt
    %before = tile.lt %m, %f : !tile.tile<16 x i32>
    // Of 100 elements the last block has 4.
    %b = tile.begin %j : !tile.range<b1=16>
    %t = tile.splat %b : index to !tile.tile<16 x i32>
    %o = tile.add %t, %n : !tile.tile<16 x i32>
    %l = tile.full 100 : !tile.tile<16 x i32>
    // CHECK: %ragged = tile.lt
    %ragged = tile.lt %o, %l : !tile.tile<16 x i32>
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @masks
func.func @masks(%x: memref<64x100xf32>, %y: memref<64x100xf32>) {
  tile.grid (%i: b0=16, %j: b1=16) in (64, 100) {
    // CHECK: %v = tile.load
    %v = tile.load %x[%i, %j] : memref<64x100xf32> -> !tile.tile<b0=16 x b1=16 x f32>
    // Every block of rows is full, which the mask may say no more; the last one of columns is not.
    // CHECK-NEXT: %[[ROWS:.+]] = tile.reshape %v : !tile.tile<b0=16 x b1=16 x f32> to !tile.tile<16 x b1=16 x f32>
    // CHECK-NEXT: %both = tile.mask %[[ROWS]] in (_, %j) else 1.0 : !tile.tile<16 x b1=16 x f32> to !tile.tile<16 x 16 x f32>
    %both = tile.mask %v in (%i, %j) else 1.0 : !tile.tile<b0=16 x b1=16 x f32> to !tile.tile<16 x 16 x f32>
    // CHECK-NEXT: %w = tile.add %v, %v
    %rows = tile.mask %v in (%i, _) else 0.0 : !tile.tile<b0=16 x b1=16 x f32>
    %w = tile.add %rows, %rows : !tile.tile<b0=16 x b1=16 x f32>
    // CHECK-NEXT: tile.reshape %{{.+}} : !tile.tile<b0=16 x b1=16 x f32> to !tile.tile<16 x b1=16 x f32>
    %plain = tile.mask %w in (%i, _) else 0.0 : !tile.tile<b0=16 x b1=16 x f32> to !tile.tile<16 x b1=16 x f32>
  }
  func.return
}

// -----

// Bounds of what is inside go; of what may be outside on one side, the other bound.
// CHECK-LABEL: func.func @bounds
func.func @bounds(%x: memref<64xi32>, %y: memref<16xi32>, %z: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %a = tile.begin %i : !tile.range<b0=16>
    %s = tile.splat %a : index to !tile.tile<16 x i32>
    %n = tile.arange 0, 1 : !tile.tile<16 x i32>
    // CHECK: %m = tile.add
    %m = tile.add %s, %n : !tile.tile<16 x i32>
    %last = tile.full 63 : !tile.tile<16 x i32>
    %zero = tile.full 0 : !tile.tile<16 x i32>
    %low = tile.minimum %m, %last : !tile.tile<16 x i32>
    %inside = tile.maximum %zero, %low : !tile.tile<16 x i32>
    // CHECK-NOT: tile.minimum
    // CHECK: tile.store %m, %y
    tile.store %inside, %y[:] : !tile.tile<16 x i32>, memref<16xi32>
    // CHECK: %less = tile.sub %m
    %one = tile.full 1 : !tile.tile<16 x i32>
    %less = tile.sub %m, %one : !tile.tile<16 x i32>
    %below = tile.minimum %less, %last : !tile.tile<16 x i32>
    // CHECK: %bounded = tile.maximum %less
    %bounded = tile.maximum %below, %zero : !tile.tile<16 x i32>
    tile.store %bounded, %y[:] : !tile.tile<16 x i32>, memref<16xi32>
    // What is loaded may be any number, and a float NaN.
    // CHECK: tile.minimum
    // CHECK: tile.minimum
    %v = tile.load %x[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %top = tile.full 63 : !tile.tile<b0=16 x i32>
    %bound = tile.minimum %v, %top : !tile.tile<b0=16 x i32>
    tile.store %bound, %x[%i] : !tile.tile<b0=16 x i32>, memref<64xi32>
    %w = tile.load %z[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    %l = tile.minimum %w, %w : !tile.tile<b0=16 x f32>
    tile.store %l, %z[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}

// -----

// Truth values have no range.
// CHECK-LABEL: func.func @truth
// CHECK: arith.maxsi %a, %b : i1
func.func @truth(%a: i1, %b: i1) -> i1 {
  %c = arith.maxsi %a, %b : i1
  func.return %c : i1
}
