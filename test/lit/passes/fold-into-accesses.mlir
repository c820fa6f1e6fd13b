// RUN: kopt %s --split-input-file --verify-diagnostics --verify-each -p fold-into-accesses | filecheck %s

// A concatenation that is stored becomes two stores, a slice of a load a load of the slice.
// CHECK-LABEL: func.func @memory
// CHECK: %b = tile.load %y[%i, 1:10:2] : memref<16x10xf32> -> !tile.tile<b0=8 x 5 x f32>
// CHECK-NEXT: tile.store %a, %out[%i, 0:6]
// CHECK-NEXT: tile.store %b, %out[%i, 6:11]
// CHECK-NOT: tile.concat
func.func @memory(%x: memref<16x6xf32>, %y: memref<16x10xf32>, %out: memref<16x11xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %a = tile.load %x[%i, :] : memref<16x6xf32> -> !tile.tile<b0=8 x 6 x f32>
    %w = tile.load %y[%i, :] : memref<16x10xf32> -> !tile.tile<b0=8 x 10 x f32>
    %b = tile.slice %w [0, 1] [8, 5] [1, 2] : !tile.tile<b0=8 x 10 x f32> to !tile.tile<b0=8 x 5 x f32>
    %c = tile.concat %a, %b dim 1 : !tile.tile<b0=8 x 6 x f32>, !tile.tile<b0=8 x 5 x f32> to !tile.tile<b0=8 x 11 x f32>
    tile.store %c, %out[%i, :] : !tile.tile<b0=8 x 11 x f32>, memref<16x11xf32>
  }
  func.return
}

// -----

// A store with a mask, and a slice of what was computed, stay; a cast of a concatenation is one of casts.
// CHECK-LABEL: func.func @kept
// CHECK: [[A:%.+]] = tile.cast %v : !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 4 x i32>
// CHECK-NEXT: [[B:%.+]] = tile.cast %v
// CHECK-NEXT: [[N:%.+]] = tile.concat [[A]], [[B]] dim 1
// CHECK: tile.store [[N]], %out[%i, :] mask %m
// CHECK: %e = tile.exp %v
// CHECK-NEXT: %s = tile.slice %e [0, 1] [8, 2] [1, 1]
func.func @kept(%x: memref<16x4xf32>, %out: memref<16x8xi32>, %y: memref<16x2xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %v = tile.load %x[%i, :] : memref<16x4xf32> -> !tile.tile<b0=8 x 4 x f32>
    %c = tile.concat %v, %v dim 1 : !tile.tile<b0=8 x 4 x f32>, !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 8 x f32>
    %n = tile.cast %c : !tile.tile<b0=8 x 8 x f32> to !tile.tile<b0=8 x 8 x i32>
    %m = tile.full 1 : !tile.tile<b0=8 x 8 x i1>
    tile.store %n, %out[%i, :] mask %m : !tile.tile<b0=8 x 8 x i32>, memref<16x8xi32>
    %e = tile.exp %v : !tile.tile<b0=8 x 4 x f32>
    %s = tile.slice %e [0, 1] [8, 2] [1, 1] : !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 2 x f32>
    tile.store %s, %y[%i, :] : !tile.tile<b0=8 x 2 x f32>, memref<16x2xf32>
  }
  func.return
}
