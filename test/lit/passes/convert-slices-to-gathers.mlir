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

// -----

// Single lanes of as many inputs as some power of two are joined two by two: in the order of the inputs, last.
// CHECK-LABEL: func.func @stacked
func.func @stacked(%x: memref<4x8x16xf32>, %out: memref<8x4x16xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %a = tile.load %x[0, %i, :] : memref<4x8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
    %b = tile.load %x[1, %i, :] : memref<4x8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
    %c = tile.load %x[2, %i, :] : memref<4x8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
    %d = tile.load %x[3, %i, :] : memref<4x8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
    // CHECK: [[AC:%.+]] = triton.join %a, %c : !tile.tile<b0=8 x 16 x f32>
    // CHECK-NEXT: [[BD:%.+]] = triton.join %b, %d : !tile.tile<b0=8 x 16 x f32>
    // CHECK-NEXT: [[J:%.+]] = triton.join [[AC]], [[BD]] : !tile.tile<b0=8 x 16 x 2 x f32>
    // CHECK-NEXT: [[R:%.+]] = tile.reshape [[J]] : !tile.tile<b0=8 x 16 x 2 x 2 x f32> to !tile.tile<b0=8 x 16 x 4 x f32>
    // CHECK-NEXT: %s = tile.transpose [[R]] [0, 2, 1] : !tile.tile<b0=8 x 16 x 4 x f32>
    %e = tile.reshape %a : !tile.tile<b0=8 x 16 x f32> to !tile.tile<b0=8 x 1 x 16 x f32>
    %f = tile.reshape %b : !tile.tile<b0=8 x 16 x f32> to !tile.tile<b0=8 x 1 x 16 x f32>
    %g = tile.reshape %c : !tile.tile<b0=8 x 16 x f32> to !tile.tile<b0=8 x 1 x 16 x f32>
    %h = tile.reshape %d : !tile.tile<b0=8 x 16 x f32> to !tile.tile<b0=8 x 1 x 16 x f32>
    %s = tile.concat %e, %f, %g, %h dim 1 : !tile.tile<b0=8 x 1 x 16 x f32>, !tile.tile<b0=8 x 1 x 16 x f32>, !tile.tile<b0=8 x 1 x 16 x f32>, !tile.tile<b0=8 x 1 x 16 x f32> to !tile.tile<b0=8 x 4 x 16 x f32>
    tile.store %s, %out[%i, :, :] : !tile.tile<b0=8 x 4 x 16 x f32>, memref<8x4x16xf32>
  }
  func.return
}

// -----

// In a last dimension they are where they belong.
// CHECK-LABEL: func.func @stacked_last
// CHECK: %s = triton.join %a, %b : !tile.tile<b0=8 x 16 x f32>
// CHECK-NEXT: tile.store %s
func.func @stacked_last(%x: memref<2x8x16xf32>, %out: memref<8x16x2xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %a = tile.load %x[0, %i, :] : memref<2x8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
    %b = tile.load %x[1, %i, :] : memref<2x8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
    %c = tile.reshape %a : !tile.tile<b0=8 x 16 x f32> to !tile.tile<b0=8 x 16 x 1 x f32>
    %d = tile.reshape %b : !tile.tile<b0=8 x 16 x f32> to !tile.tile<b0=8 x 16 x 1 x f32>
    %s = tile.concat %c, %d dim 2 : !tile.tile<b0=8 x 16 x 1 x f32>, !tile.tile<b0=8 x 16 x 1 x f32> to !tile.tile<b0=8 x 16 x 2 x f32>
    tile.store %s, %out[%i, :, :] : !tile.tile<b0=8 x 16 x 2 x f32>, memref<8x16x2xf32>
  }
  func.return
}
