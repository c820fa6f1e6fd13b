// RUN: kopt %s --split-input-file -p drop-unit-dims | filecheck %s

// A block of one batch: its number stands in index lists, and the product is one of two matrices.
// CHECK-LABEL: func.func @bmm
// CHECK: tile.grid (%b: b0=1, %i: b1=64) in (8, 512)
// CHECK-NEXT: [[B:%.+]] = tile.begin %b : !tile.range<b0=1>
// CHECK-NEXT: %l = tile.load %x[[[B]], %i, :] : memref<8x512x32xf32> -> !tile.tile<b1=64 x 32 x f32>
// CHECK: %d = tile.dot %l, %r : !tile.tile<b1=64 x 32 x f32>, !tile.tile<32 x 16 x f32> -> !tile.tile<b1=64 x 16 x f32>
// CHECK: tile.store %d, %out[{{%.+}}, %i, :] : !tile.tile<b1=64 x 16 x f32>, memref<8x512x16xf32>
func.func @bmm(%x: memref<8x512x32xf32>, %y: memref<8x32x16xf32>, %out: memref<8x512x16xf32>) {
  tile.grid (%b: b0=1, %i: b1=64) in (8, 512) {
    %l = tile.load %x[%b, %i, :] : memref<8x512x32xf32> -> !tile.tile<b0=1 x b1=64 x 32 x f32>
    %r = tile.load %y[%b, :, :] : memref<8x32x16xf32> -> !tile.tile<b0=1 x 32 x 16 x f32>
    %d = tile.dot %l, %r : !tile.tile<b0=1 x b1=64 x 32 x f32>, !tile.tile<b0=1 x 32 x 16 x f32> -> !tile.tile<b0=1 x b1=64 x 16 x f32>
    tile.store %d, %out[%b, %i, :] : !tile.tile<b0=1 x b1=64 x 16 x f32>, memref<8x512x16xf32>
  }
  func.return
}

// -----

// Dimensions of other ops are renumbered; one lane reduced is that lane; its number is a splat.
// CHECK-LABEL: func.func @others
// CHECK: %v = tile.load %x[{{%.+}}, %i] : memref<8x512xf32> -> !tile.tile<b1=64 x f32>
// CHECK-NEXT: %m = tile.reduce max %v [0] : !tile.tile<b1=64 x f32>
// CHECK-NEXT: %mb = tile.broadcast %m dims [] : !tile.tile<f32> to !tile.tile<b1=64 x f32>
// CHECK-NEXT: %t = tile.transpose %mb [0] : !tile.tile<b1=64 x f32>
// CHECK-NOT: tile.reduce
// CHECK: %n = tile.splat {{%.+}} : index to !tile.tile<i32>
// CHECK: tile.store %t, %out[%i] : !tile.tile<b1=64 x f32>, memref<512xf32>
func.func @others(%x: memref<8x512xf32>, %out: memref<512xf32>, %ids: memref<8xi32>) {
  tile.grid (%b: b0=1, %i: b1=64) in (8, 512) {
    %v = tile.load %x[%b, %i] : memref<8x512xf32> -> !tile.tile<b0=1 x b1=64 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=1 x b1=64 x f32>
    %mb = tile.broadcast %m dims [0] : !tile.tile<b0=1 x f32> to !tile.tile<b0=1 x b1=64 x f32>
    %t = tile.transpose %mb [1, 0] : !tile.tile<b0=1 x b1=64 x f32>
    %s = tile.reduce add %t [1] : !tile.tile<b1=64 x b0=1 x f32>
    %n = tile.index %b : !tile.range<b0=1>
    tile.store %n, %ids[%b] : !tile.tile<b0=1 x i32>, memref<8xi32>
    tile.store %s, %out[%i] : !tile.tile<b1=64 x f32>, memref<512xf32>
  }
  func.return
}

// -----

// A row of a matrix product stays a dimension.
// CHECK-LABEL: func.func @row
// CHECK: tile.dot %l, %r : !tile.tile<b0=1 x 32 x f32>, !tile.tile<32 x 16 x f32> -> !tile.tile<b0=1 x 16 x f32>
func.func @row(%x: memref<8x32xf32>, %y: memref<32x16xf32>, %out: memref<8x16xf32>) {
  tile.grid (%i: b0=1) in (8) {
    %l = tile.load %x[%i, :] : memref<8x32xf32> -> !tile.tile<b0=1 x 32 x f32>
    %r = tile.load %y[:, :] : memref<32x16xf32> -> !tile.tile<32 x 16 x f32>
    %d = tile.dot %l, %r : !tile.tile<b0=1 x 32 x f32>, !tile.tile<32 x 16 x f32> -> !tile.tile<b0=1 x 16 x f32>
    tile.store %d, %out[%i, :] : !tile.tile<b0=1 x 16 x f32>, memref<8x16xf32>
  }
  func.return
}

// -----

// Updates of one element are updates by a number, and so is what they return.
// CHECK-LABEL: func.func @updates
// CHECK: tile.begin %i
// CHECK: %old = atomic.rmw add {{%.+}}, %x[{{%.+}}, %j] : !tile.tile<b1=8 x f32>, memref<4x20xf32> -> !tile.tile<b1=8 x f32>
// CHECK: atomic.rmw max %old, %x[{{%.+}}, %j]
func.func @updates(%x: memref<4x20xf32>) {
  tile.grid (%i: b0=1, %j: b1=8) in (4, 20) {
    %v = tile.full 1.0 : !tile.tile<b0=1 x b1=8 x f32>
    %old = atomic.rmw add %v, %x[%i, %j] : !tile.tile<b0=1 x b1=8 x f32>, memref<4x20xf32> -> !tile.tile<b0=1 x b1=8 x f32>
    atomic.rmw max %old, %x[%i, %j] : !tile.tile<b0=1 x b1=8 x f32>, memref<4x20xf32>
  }
  func.return
}

// -----

// A lane's number that is repeated is a splat that is.
// CHECK-LABEL: func.func @repeated
// CHECK: [[N:%.+]] = tile.splat {{%.+}} : index to !tile.tile<i32>
// CHECK: %r = tile.broadcast [[N]] dims [] : !tile.tile<i32> to !tile.tile<b1=4 x i32>
func.func @repeated(%out: memref<8x16xi32>) {
  tile.grid (%i: b0=1, %j: b1=4) in (8, 16) {
    %n = tile.index %i : !tile.range<b0=1>
    %r = tile.broadcast %n dims [0] : !tile.tile<b0=1 x i32> to !tile.tile<b0=1 x b1=4 x i32>
    tile.store %r, %out[%i, %j] : !tile.tile<b0=1 x b1=4 x i32>, memref<8x16xi32>
  }
  func.return
}

// -----

// A lane of a block of one is valid wherever the block is, and a mask that limits nothing else is gone; a mask keeps its
// other limits.
// CHECK-LABEL: func.func @masks
// CHECK-NEXT: tile.grid (%b: b0=1, %i: b1=64) in (8, 500) {
// CHECK-NEXT: %0 = tile.begin %b : !tile.range<b0=1>
// CHECK-NEXT: %v = tile.load %x[%0, %i] : memref<8x500xf32> -> !tile.tile<b1=64 x f32>
// CHECK-NEXT: %m = tile.mask %v in (_) else 1.0 : !tile.tile<b1=64 x f32>
// CHECK-NEXT: %n = tile.mask %m in (%i) else 2.0 : !tile.tile<b1=64 x f32>
// CHECK-NEXT: %k = tile.full 1 : !tile.tile<i1>
// CHECK-NEXT: %l = tile.valid %i : !tile.range<b1=64>
// CHECK-NEXT: %w = tile.broadcast %k dims [] : !tile.tile<i1> to !tile.tile<b1=64 x i1>
// CHECK-NEXT: %u = tile.broadcast %l dims [0] : !tile.tile<b1=64 x i1> to !tile.tile<b1=64 x i1>
// CHECK-NEXT: %a = tile.and %w, %u : !tile.tile<b1=64 x i1>
// CHECK-NEXT: %1 = tile.begin %b : !tile.range<b0=1>
// CHECK-NEXT: tile.store %n, %out[%1, %i] mask %a : !tile.tile<b1=64 x f32>, memref<8x500xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @masks(%x: memref<8x500xf32>, %out: memref<8x500xf32>) {
  tile.grid (%b: b0=1, %i: b1=64) in (8, 500) {
    %v = tile.load %x[%b, %i] : memref<8x500xf32> -> !tile.tile<b0=1 x b1=64 x f32>
    %m = tile.mask %v in (%b, _) else 1.0 : !tile.tile<b0=1 x b1=64 x f32>
    %n = tile.mask %m in (%b, %i) else 2.0 : !tile.tile<b0=1 x b1=64 x f32>
    %k = tile.valid %b : !tile.range<b0=1>
    %l = tile.valid %i : !tile.range<b1=64>
    %w = tile.broadcast %k dims [0] : !tile.tile<b0=1 x i1> to !tile.tile<b0=1 x b1=64 x i1>
    %u = tile.broadcast %l dims [1] : !tile.tile<b1=64 x i1> to !tile.tile<b0=1 x b1=64 x i1>
    %a = tile.and %w, %u : !tile.tile<b0=1 x b1=64 x i1>
    tile.store %n, %out[%b, %i] mask %a : !tile.tile<b0=1 x b1=64 x f32>, memref<8x500xf32>
  }
  func.return
}
