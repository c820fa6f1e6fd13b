// RUN: kopt %s --split-input-file --verify-diagnostics --verify-each -p convert-slices-to-gathers | filecheck %s

// A slice is picked by lane number, each dimension that it cuts.
// CHECK-LABEL: func.func @slice
// CHECK: [[A:%.+]] = tile.arange 1, 2 : !tile.tile<3 x i32>
// CHECK: [[N:%.+]] = tile.broadcast [[A]] dims [1]
// CHECK: %s = tile.take_along %e, [[N]] dim 1 {triton.inside} : !tile.tile<b0=8 x 6 x f32>, !tile.tile<b0=8 x 3 x i32>
func.func @slice(%x: memref<16x6xf32>, %y: memref<16x3xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %v = tile.load %x[%i, :] : memref<16x6xf32> -> !tile.tile<b0=8 x 6 x f32>
    %e = tile.exp %v : !tile.tile<b0=8 x 6 x f32>
    %s = tile.slice %e [0, 1] [8, 3] [1, 2] : !tile.tile<b0=8 x 6 x f32> to !tile.tile<b0=8 x 3 x f32>
    tile.store %s, %y[%i, :] : !tile.tile<b0=8 x 3 x f32>, memref<16x3xf32>
  }
  func.return
}

// -----

// From a computed lane on: nothing uses the lanes whose number is outside.
// CHECK-LABEL: func.func @from
// CHECK: [[L:%.+]] = tile.arange 0, 1 : !tile.tile<4 x i32>
// CHECK: [[A:%.+]] = tile.broadcast [[L]] dims [1]
// CHECK: [[F:%.+]] = tile.splat %n : index to !tile.tile<b0=8 x 4 x i32>
// CHECK: [[N:%.+]] = tile.add [[A]], [[F]]
// CHECK: %s = tile.take_along %e, [[N]] dim 1 {tile.spare}
func.func @from(%x: memref<16x6xf32>, %y: memref<16x4xf32>, %first: memref<16xi32>) {
  tile.grid (%i: b0=8) in (16) {
    %v = tile.load %x[%i, :] : memref<16x6xf32> -> !tile.tile<b0=8 x 6 x f32>
    %e = tile.exp %v : !tile.tile<b0=8 x 6 x f32>
    %m = tile.load %first[0] : memref<16xi32> -> !tile.tile<i32>
    %n = tile.extract %m : !tile.tile<i32> to index
    %s = tile.dynamic_slice %e from %n dim 1 : !tile.tile<b0=8 x 6 x f32> to !tile.tile<b0=8 x 4 x f32>
    tile.store %s, %y[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<16x4xf32>
  }
  func.return
}

// -----

// Each input of a concatenation is picked to its lanes; a constant is one anywhere.
// CHECK-LABEL: func.func @concat
// CHECK: [[F:%.+]] = tile.full 1.0 : !tile.tile<8 x f32>
// CHECK: [[N:%.+]] = tile.arange 0, 1 : !tile.tile<8 x i32>
// CHECK-NEXT: [[V:%.+]] = tile.take_along %e, [[N]] dim 0 {tile.spare} : !tile.tile<6 x f32>, !tile.tile<8 x i32>
// CHECK-NEXT: [[L:%.+]] = tile.arange 0, 1 : !tile.tile<8 x i32>
// CHECK-NEXT: [[SIX:%.+]] = tile.full 6
// CHECK-NEXT: [[FIRST:%.+]] = tile.lt [[L]], [[SIX]]
// CHECK-NEXT: %c = tile.select [[FIRST]], [[V]], [[F]]
func.func @concat(%x: memref<6xf32>, %y: memref<f32>) {
  tile.grid (%i: b0=1) in (1) {
    %v = tile.load %x[:] : memref<6xf32> -> !tile.tile<6 x f32>
    %e = tile.exp %v : !tile.tile<6 x f32>
    %one = tile.full 1.0 : !tile.tile<2 x f32>
    %c = tile.concat %e, %one dim 0 : !tile.tile<6 x f32>, !tile.tile<2 x f32> to !tile.tile<8 x f32>
    %s = tile.reduce add %c [0] : !tile.tile<8 x f32>
    tile.store %s, %y[] : !tile.tile<f32>, memref<f32>
  }
  func.return
}

// -----

func.func @ragged(%x: memref<50xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=16) in (50) {
    %v = tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=16 x f32>
    // expected-error @+1 {{'tile.concat' moves lanes of b0, whose last block may be ragged: Triton has no form for it}}
    %c = tile.concat %v, %v dim 0 : !tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32> to !tile.tile<32 x f32>
    %s = tile.reduce add %c [0] : !tile.tile<32 x f32>
    tile.store %s, %out[0] : !tile.tile<f32>, memref<8xf32>
  }
  func.return
}
