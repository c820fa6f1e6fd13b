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

// A store with a mask stays, and a slice of what is used as a whole, too.
// CHECK-LABEL: func.func @kept
// CHECK: %n = tile.cast %c
// CHECK: tile.store %n, %out[%i, :] mask %m
// CHECK: %e = tile.exp %v
// CHECK-NEXT: %s = tile.slice %e [0, 1] [8, 2] [1, 1]
func.func @kept(%x: memref<16x4xf32>, %out: memref<16x8xi32>, %y: memref<16x2xf32>,
                %z: memref<16x4xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %v = tile.load %x[%i, :] : memref<16x4xf32> -> !tile.tile<b0=8 x 4 x f32>
    %c = tile.concat %v, %v dim 1 : !tile.tile<b0=8 x 4 x f32>, !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 8 x f32>
    %n = tile.cast %c : !tile.tile<b0=8 x 8 x f32> to !tile.tile<b0=8 x 8 x i32>
    %m = tile.full 1 : !tile.tile<b0=8 x 8 x i1>
    tile.store %n, %out[%i, :] mask %m : !tile.tile<b0=8 x 8 x i32>, memref<16x8xi32>
    %e = tile.exp %v : !tile.tile<b0=8 x 4 x f32>
    %s = tile.slice %e [0, 1] [8, 2] [1, 1] : !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 2 x f32>
    tile.store %s, %y[%i, :] : !tile.tile<b0=8 x 2 x f32>, memref<16x2xf32>
    tile.store %e, %z[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<16x4xf32>
  }
  func.return
}

// -----

// What is computed of halves is computed of loads of halves, and each store computes of one input of a concatenation:
// through what is computed lane by lane, broadcasts and dimensions of one lane.
// CHECK-LABEL: func.func @halves
// CHECK: %x.block = tile.load %x[%i, 0:4]
// CHECK: %x.block_1 = tile.load %x[%i, 4:8]
// CHECK-NOT: tile.slice
// CHECK-NOT: tile.concat
// CHECK: [[FIRST:%.+]] = tile.cast {{%.+}} : !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 4 x bf16>
// CHECK: [[SECOND:%.+]] = tile.cast {{%.+}} : !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 4 x bf16>
// CHECK: tile.store [[FIRST]], %out[%i, 0:4]
// CHECK: tile.store [[SECOND]], %out[%i, 4:8]
func.func @halves(%x: memref<16x8xbf16>, %c: memref<8xf32>, %out: memref<16x8xbf16>) {
  tile.grid (%i: b0=8) in (16) {
    %x.block = tile.load %x[%i, :] : memref<16x8xbf16> -> !tile.tile<b0=8 x 8 x bf16>
    %wide = tile.cast %x.block : !tile.tile<b0=8 x 8 x bf16> to !tile.tile<b0=8 x 8 x f32>
    %first = tile.slice %wide [0, 0] [8, 4] [1, 1] : !tile.tile<b0=8 x 8 x f32> to !tile.tile<b0=8 x 4 x f32>
    %second = tile.slice %wide [0, 4] [8, 4] [1, 1] : !tile.tile<b0=8 x 8 x f32> to !tile.tile<b0=8 x 4 x f32>
    %minus = tile.neg %second : !tile.tile<b0=8 x 4 x f32>
    %turned = tile.concat %minus, %first dim 1 : !tile.tile<b0=8 x 4 x f32>, !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 8 x f32>
    %row = tile.load %c[:] : memref<8xf32> -> !tile.tile<8 x f32>
    %cos = tile.broadcast %row dims [1] : !tile.tile<8 x f32> to !tile.tile<b0=8 x 8 x f32>
    %scaled = tile.mul %turned, %cos : !tile.tile<b0=8 x 8 x f32>
    %narrow = tile.cast %scaled : !tile.tile<b0=8 x 8 x f32> to !tile.tile<b0=8 x 8 x bf16>
    tile.store %narrow, %out[%i, :] : !tile.tile<b0=8 x 8 x bf16>, memref<16x8xbf16>
  }
  func.return
}

// -----

// A slice moves up through casts of the bits, choices, transposes, dimensions of one lane, and slices, each with a
// stride of its own: lanes 1, 3, 5 of lanes 2, 5, 8, … are 5, 11, 17.
// CHECK-LABEL: func.func @moves
// CHECK-NEXT: tile.grid (%i: b0=8) in (16) {
// CHECK-NEXT: %v = tile.load %x[%i, 5:18:6] : memref<16x24xf32> -> !tile.tile<b0=8 x 3 x f32>
// CHECK-NEXT: %b = tile.bitcast %v : !tile.tile<b0=8 x 3 x f32> to !tile.tile<b0=8 x 3 x i32>
// CHECK-NEXT: %w = tile.load %y[5:18:6, %i] : memref<24x16xi32> -> !tile.tile<3 x b0=8 x i32>
// CHECK-NEXT: %t = tile.transpose %w [1, 0] : !tile.tile<3 x b0=8 x i32>
// CHECK-NEXT: %m = tile.load %c[5:18:6] : memref<24xi1> -> !tile.tile<3 x i1>
// CHECK-NEXT: %r = tile.reshape %m : !tile.tile<3 x i1> to !tile.tile<1 x 3 x i1>
// CHECK-NEXT: %k = tile.broadcast %r dims [0, 1] : !tile.tile<1 x 3 x i1> to !tile.tile<b0=8 x 3 x i1>
// CHECK-NEXT: %q = tile.select %k, %b, %t : !tile.tile<b0=8 x 3 x i32>
// CHECK-NEXT: tile.store %q, %out[%i, :] : !tile.tile<b0=8 x 3 x i32>, memref<16x3xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @moves(%x: memref<16x24xf32>, %y: memref<24x16xi32>, %c: memref<24xi1>, %out: memref<16x3xi32>) {
  tile.grid (%i: b0=8) in (16) {
    %v = tile.load %x[%i, :] : memref<16x24xf32> -> !tile.tile<b0=8 x 24 x f32>
    %b = tile.bitcast %v : !tile.tile<b0=8 x 24 x f32> to !tile.tile<b0=8 x 24 x i32>
    %w = tile.load %y[:, %i] : memref<24x16xi32> -> !tile.tile<24 x b0=8 x i32>
    %t = tile.transpose %w [1, 0] : !tile.tile<24 x b0=8 x i32>
    %m = tile.load %c[:] : memref<24xi1> -> !tile.tile<24 x i1>
    %r = tile.reshape %m : !tile.tile<24 x i1> to !tile.tile<1 x 24 x i1>
    %k = tile.broadcast %r dims [0, 1] : !tile.tile<1 x 24 x i1> to !tile.tile<b0=8 x 24 x i1>
    %s = tile.select %k, %b, %t : !tile.tile<b0=8 x 24 x i32>
    %p = tile.slice %s [0, 2] [8, 7] [1, 3] : !tile.tile<b0=8 x 24 x i32> to !tile.tile<b0=8 x 7 x i32>
    %q = tile.slice %p [0, 1] [8, 3] [1, 2] : !tile.tile<b0=8 x 7 x i32> to !tile.tile<b0=8 x 3 x i32>
    tile.store %q, %out[%i, :] : !tile.tile<b0=8 x 3 x i32>, memref<16x3xi32>
  }
  func.return
}

// -----

// Slices of masked loads, of sums, of computed lanes, and of a reshape that regroups lanes stay.
// CHECK-LABEL: func.func @stay
// CHECK-NEXT: tile.grid (%i: b0=8) in (16) {
// CHECK-NEXT: %m = tile.full 1 : !tile.tile<b0=8 x 24 x i1>
// CHECK-NEXT: %v = tile.load %x[%i, :] mask %m : memref<16x24xf32> -> !tile.tile<b0=8 x 24 x f32>
// CHECK-NEXT: %a = tile.slice %v [0, 4] [8, 4] [1, 1] : !tile.tile<b0=8 x 24 x f32> to !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: %n = tile.arange 0, 1 : !tile.tile<24 x i32>
// CHECK-NEXT: %w = tile.load %x[%i, %n] : memref<16x24xf32> -> !tile.tile<b0=8 x 24 x f32>
// CHECK-NEXT: %b = tile.slice %w [0, 4] [8, 4] [1, 1] : !tile.tile<b0=8 x 24 x f32> to !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: %u = tile.load %x[0:2, :] : memref<16x24xf32> -> !tile.tile<2 x 24 x f32>
// CHECK-NEXT: %r = tile.reshape %u : !tile.tile<2 x 24 x f32> to !tile.tile<8 x 6 x f32>
// CHECK-NEXT: %c = tile.slice %r [0, 1] [8, 4] [1, 1] : !tile.tile<8 x 6 x f32> to !tile.tile<8 x 4 x f32>
// CHECK-NEXT: tile.store %a, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<16x4xf32>
// CHECK-NEXT: tile.store %b, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<16x4xf32>
// CHECK-NEXT: tile.store %c, %out[0:8, :] : !tile.tile<8 x 4 x f32>, memref<16x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @stay(%x: memref<16x24xf32>, %out: memref<16x4xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %m = tile.full 1 : !tile.tile<b0=8 x 24 x i1>
    %v = tile.load %x[%i, :] mask %m : memref<16x24xf32> -> !tile.tile<b0=8 x 24 x f32>
    %a = tile.slice %v [0, 4] [8, 4] [1, 1] : !tile.tile<b0=8 x 24 x f32> to !tile.tile<b0=8 x 4 x f32>
    %n = tile.arange 0, 1 : !tile.tile<24 x i32>
    %w = tile.load %x[%i, %n] : memref<16x24xf32> -> !tile.tile<b0=8 x 24 x f32>
    %b = tile.slice %w [0, 4] [8, 4] [1, 1] : !tile.tile<b0=8 x 24 x f32> to !tile.tile<b0=8 x 4 x f32>
    %u = tile.load %x[0:2, :] : memref<16x24xf32> -> !tile.tile<2 x 24 x f32>
    %r = tile.reshape %u : !tile.tile<2 x 24 x f32> to !tile.tile<8 x 6 x f32>
    %c = tile.slice %r [0, 1] [8, 4] [1, 1] : !tile.tile<8 x 6 x f32> to !tile.tile<8 x 4 x f32>
    tile.store %a, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<16x4xf32>
    tile.store %b, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<16x4xf32>
    tile.store %c, %out[0:8, :] : !tile.tile<8 x 4 x f32>, memref<16x4xf32>
  }
  func.return
}

// -----

// The part of a join that one input has is a part of that input; a part of two inputs is cut from the join.
// CHECK-LABEL: func.func @joined
// CHECK-NEXT: tile.grid (%i: b0=8) in (16) {
// CHECK-NEXT: %a = tile.load %x[%i, :] : memref<16x6xf32> -> !tile.tile<b0=8 x 6 x f32>
// CHECK-NEXT: %l = tile.load %x[%i, 3:6:2] : memref<16x6xf32> -> !tile.tile<b0=8 x 2 x f32>
// CHECK-NEXT: %b = tile.load %y[%i, :] : memref<16x4xf32> -> !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: %r = tile.load %y[%i, 0:4:3] : memref<16x4xf32> -> !tile.tile<b0=8 x 2 x f32>
// CHECK-NEXT: %c = tile.concat %a, %b dim 1 : !tile.tile<b0=8 x 6 x f32>, !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 10 x f32>
// CHECK-NEXT: %d = tile.slice %c [0, 4] [8, 4] [1, 1] : !tile.tile<b0=8 x 10 x f32> to !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: tile.store %l, %out[%i, :] : !tile.tile<b0=8 x 2 x f32>, memref<16x2xf32>
// CHECK-NEXT: tile.store %r, %out[%i, :] : !tile.tile<b0=8 x 2 x f32>, memref<16x2xf32>
// CHECK-NEXT: tile.store %d, %both[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<16x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @joined(%x: memref<16x6xf32>, %y: memref<16x4xf32>, %out: memref<16x2xf32>, %both: memref<16x4xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %a = tile.load %x[%i, :] : memref<16x6xf32> -> !tile.tile<b0=8 x 6 x f32>
    %b = tile.load %y[%i, :] : memref<16x4xf32> -> !tile.tile<b0=8 x 4 x f32>
    %c = tile.concat %a, %b dim 1 : !tile.tile<b0=8 x 6 x f32>, !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x 10 x f32>
    %l = tile.slice %c [0, 3] [8, 2] [1, 2] : !tile.tile<b0=8 x 10 x f32> to !tile.tile<b0=8 x 2 x f32>
    %r = tile.slice %c [0, 6] [8, 2] [1, 3] : !tile.tile<b0=8 x 10 x f32> to !tile.tile<b0=8 x 2 x f32>
    %d = tile.slice %c [0, 4] [8, 4] [1, 1] : !tile.tile<b0=8 x 10 x f32> to !tile.tile<b0=8 x 4 x f32>
    tile.store %l, %out[%i, :] : !tile.tile<b0=8 x 2 x f32>, memref<16x2xf32>
    tile.store %r, %out[%i, :] : !tile.tile<b0=8 x 2 x f32>, memref<16x2xf32>
    tile.store %d, %both[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<16x4xf32>
  }
  func.return
}
