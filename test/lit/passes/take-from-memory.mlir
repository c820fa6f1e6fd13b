// RUN: kopt %s --split-input-file --verify-each -p take-from-memory,dce | filecheck %s

// A label of each row is loaded by its number, and computed as the row is.
// CHECK-LABEL: func.func @label
// CHECK: tile.load %logits[%rows, :]
// CHECK: %[[LABELS:.+]] = tile.reshape
// CHECK: %[[ROWS:.+]] = tile.index %rows
// CHECK: %[[ROW:.+]] = tile.broadcast %[[ROWS]] dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
// CHECK: tile.minimum %[[LABELS]],
// CHECK: %[[LABEL:.+]] = tile.maximum
// CHECK: %[[TAKEN:.+]] = tile.load %logits[%[[ROW]], %[[LABEL]]] : memref<64x4096xbf16> -> !tile.tile<b0=8 x 1 x bf16>
// CHECK-NEXT: tile.cast %[[TAKEN]]
// CHECK-NOT: tile.take_along
func.func @label(%logits: memref<64x4096xbf16>, %labels: memref<64xi32>, %out: memref<64xf32>) {
  tile.grid (%rows: b0=8) in (64) {
    %row = tile.load %logits[%rows, :] : memref<64x4096xbf16> -> !tile.tile<b0=8 x 4096 x bf16>
    %values = tile.cast %row : !tile.tile<b0=8 x 4096 x bf16> to !tile.tile<b0=8 x 4096 x f32>
    %label = tile.load %labels[%rows] : memref<64xi32> -> !tile.tile<b0=8 x i32>
    %n = tile.reshape %label : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
    %taken = tile.take_along %values, %n dim 1 : !tile.tile<b0=8 x 4096 x f32>, !tile.tile<b0=8 x 1 x i32>
    %at = tile.reshape %taken : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x f32>
    %most = tile.reduce max %values [1] : !tile.tile<b0=8 x 4096 x f32>
    %gap = tile.sub %most, %at : !tile.tile<b0=8 x f32>
    tile.store %gap, %out[%rows] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// -----

// What the launch writes, and many of the lanes, are picked from the block.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: tile.take_along
func.func @kept(%x: memref<64x4096xf32>, %y: memref<64x512xf32>, %n: memref<512xi32>, %out: memref<64x512xf32>) {
  tile.grid (%rows: b0=8) in (64) {
    %row = tile.load %x[%rows, :] : memref<64x4096xf32> -> !tile.tile<b0=8 x 4096 x f32>
    %zero = tile.full 0 : !tile.tile<b0=8 x 1 x i32>
    %first = tile.take_along %row, %zero dim 1 : !tile.tile<b0=8 x 4096 x f32>, !tile.tile<b0=8 x 1 x i32>
    tile.store %first, %x[%rows, 1:2] : !tile.tile<b0=8 x 1 x f32>, memref<64x4096xf32>
    %narrow = tile.load %y[%rows, :] : memref<64x512xf32> -> !tile.tile<b0=8 x 512 x f32>
    %order = tile.load %n[:] : memref<512xi32> -> !tile.tile<512 x i32>
    %numbers = tile.broadcast %order dims [1] : !tile.tile<512 x i32> to !tile.tile<b0=8 x 512 x i32>
    %all = tile.take_along %narrow, %numbers dim 1 : !tile.tile<b0=8 x 512 x f32>, !tile.tile<b0=8 x 512 x i32>
    tile.store %all, %out[%rows, :] : !tile.tile<b0=8 x 512 x f32>, memref<64x512xf32>
  }
  func.return
}

// -----

// What is computed of constants and of bits is computed of the picked lanes; a slice has its own start and step, and a
// dimension that is whole its own lanes.
// CHECK-LABEL: func.func @computed
// CHECK-NEXT: tile.grid (%i: b0=8) in (64) {
// CHECK-NEXT: %k = tile.load %n[%i, :, :] : memref<64x4x1xi32> -> !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %0 = tile.index %i : !tile.range<b0=8>
// CHECK-NEXT: %1 = tile.broadcast %0 dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %2 = tile.arange 1, 2 : !tile.tile<4 x i32>
// CHECK-NEXT: %3 = tile.broadcast %2 dims [1] : !tile.tile<4 x i32> to !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %4 = tile.full 3999 : !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %5 = tile.minimum %k, %4 : !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %6 = tile.full 0 : !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %7 = tile.maximum %5, %6 : !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %8 = tile.full 2 : !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %9 = tile.mul %7, %8 : !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %10 = tile.full 3 : !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %11 = tile.add %9, %10 : !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: %12 = tile.load %x[%1, %3, %11] : memref<64x8x9000xf32> -> !tile.tile<b0=8 x 4 x 1 x f32>
// CHECK-NEXT: %13 = tile.full 2.0 : !tile.tile<b0=8 x 4 x 1 x f32>
// CHECK-NEXT: %14 = tile.mul %12, %13 : !tile.tile<b0=8 x 4 x 1 x f32>
// CHECK-NEXT: %t = tile.bitcast %14 : !tile.tile<b0=8 x 4 x 1 x f32> to !tile.tile<b0=8 x 4 x 1 x i32>
// CHECK-NEXT: tile.store %t, %out[%i, :, :] : !tile.tile<b0=8 x 4 x 1 x i32>, memref<64x4x1xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @computed(%x: memref<64x8x9000xf32>, %n: memref<64x4x1xi32>, %out: memref<64x4x1xi32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, 1:8:2, 3:8003:2] : memref<64x8x9000xf32> -> !tile.tile<b0=8 x 4 x 4000 x f32>
    %two = tile.full 2.0 : !tile.tile<b0=8 x 4 x 4000 x f32>
    %s = tile.mul %v, %two : !tile.tile<b0=8 x 4 x 4000 x f32>
    %b = tile.bitcast %s : !tile.tile<b0=8 x 4 x 4000 x f32> to !tile.tile<b0=8 x 4 x 4000 x i32>
    %k = tile.load %n[%i, :, :] : memref<64x4x1xi32> -> !tile.tile<b0=8 x 4 x 1 x i32>
    %t = tile.take_along %b, %k dim 2 : !tile.tile<b0=8 x 4 x 4000 x i32>, !tile.tile<b0=8 x 4 x 1 x i32>
    tile.store %t, %out[%i, :, :] : !tile.tile<b0=8 x 4 x 1 x i32>, memref<64x4x1xi32>
  }
  func.return
}

// -----

// One in 128 is few, one in 127 is not; masked loads, and lanes of the block's own range stay, as do sums.
// CHECK-LABEL: func.func @limits
// CHECK-NEXT: tile.grid (%i: b0=8, %j: b1=512) in (64, 4096) {
// CHECK-NEXT: %k = tile.load %n[%i, :] : memref<64x1xi32> -> !tile.tile<b0=8 x 1 x i32>
// CHECK-NEXT: %a = tile.load %x[%i, :] : memref<4096x128xf32> -> !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %0 = tile.index %i : !tile.range<b0=8>
// CHECK-NEXT: %1 = tile.broadcast %0 dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
// CHECK-NEXT: %2 = tile.full 127 : !tile.tile<b0=8 x 1 x i32>
// CHECK-NEXT: %3 = tile.minimum %k, %2 : !tile.tile<b0=8 x 1 x i32>
// CHECK-NEXT: %4 = tile.full 0 : !tile.tile<b0=8 x 1 x i32>
// CHECK-NEXT: %5 = tile.maximum %3, %4 : !tile.tile<b0=8 x 1 x i32>
// CHECK-NEXT: %b = tile.load %x[%1, %5] : memref<4096x128xf32> -> !tile.tile<b0=8 x 1 x f32>
// CHECK-NEXT: tile.store %b, %out[%i, :] : !tile.tile<b0=8 x 1 x f32>, memref<64x1xf32>
// CHECK-NEXT: %c = tile.load %y[%i, :] : memref<64x127xf32> -> !tile.tile<b0=8 x 127 x f32>
// CHECK-NEXT: %d = tile.take_along %c, %k dim 1 : !tile.tile<b0=8 x 127 x f32>, !tile.tile<b0=8 x 1 x i32>
// CHECK-NEXT: tile.store %d, %out[%i, :] : !tile.tile<b0=8 x 1 x f32>, memref<64x1xf32>
// CHECK-NEXT: %o = tile.full 1 : !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %e = tile.load %x[%i, :] mask %o : memref<4096x128xf32> -> !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %f = tile.take_along %e, %k dim 1 : !tile.tile<b0=8 x 128 x f32>, !tile.tile<b0=8 x 1 x i32>
// CHECK-NEXT: tile.store %f, %out[%i, :] : !tile.tile<b0=8 x 1 x f32>, memref<64x1xf32>
// CHECK-NEXT: %g = tile.load %x[%j, :] : memref<4096x128xf32> -> !tile.tile<b1=512 x 128 x f32>
// CHECK-NEXT: %p = tile.load %m[:, :] : memref<1x128xi32> -> !tile.tile<1 x 128 x i32>
// CHECK-NEXT: %h = tile.take_along %g, %p dim 0 : !tile.tile<b1=512 x 128 x f32>, !tile.tile<1 x 128 x i32>
// CHECK-NEXT: tile.store %h, %rows[:, :] : !tile.tile<1 x 128 x f32>, memref<1x128xf32>
// CHECK-NEXT: %s = tile.scan add %a dim 1 : !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %q = tile.take_along %s, %k dim 1 : !tile.tile<b0=8 x 128 x f32>, !tile.tile<b0=8 x 1 x i32>
// CHECK-NEXT: tile.store %q, %out[%i, :] : !tile.tile<b0=8 x 1 x f32>, memref<64x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @limits(%x: memref<4096x128xf32>, %y: memref<64x127xf32>, %n: memref<64x1xi32>, %m: memref<1x128xi32>, %out: memref<64x1xf32>, %rows: memref<1x128xf32>) {
  tile.grid (%i: b0=8, %j: b1=512) in (64, 4096) {
    %k = tile.load %n[%i, :] : memref<64x1xi32> -> !tile.tile<b0=8 x 1 x i32>
    %a = tile.load %x[%i, :] : memref<4096x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %b = tile.take_along %a, %k dim 1 : !tile.tile<b0=8 x 128 x f32>, !tile.tile<b0=8 x 1 x i32>
    tile.store %b, %out[%i, :] : !tile.tile<b0=8 x 1 x f32>, memref<64x1xf32>
    %c = tile.load %y[%i, :] : memref<64x127xf32> -> !tile.tile<b0=8 x 127 x f32>
    %d = tile.take_along %c, %k dim 1 : !tile.tile<b0=8 x 127 x f32>, !tile.tile<b0=8 x 1 x i32>
    tile.store %d, %out[%i, :] : !tile.tile<b0=8 x 1 x f32>, memref<64x1xf32>
    %o = tile.full 1 : !tile.tile<b0=8 x 128 x i1>
    %e = tile.load %x[%i, :] mask %o : memref<4096x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %f = tile.take_along %e, %k dim 1 : !tile.tile<b0=8 x 128 x f32>, !tile.tile<b0=8 x 1 x i32>
    tile.store %f, %out[%i, :] : !tile.tile<b0=8 x 1 x f32>, memref<64x1xf32>
    %g = tile.load %x[%j, :] : memref<4096x128xf32> -> !tile.tile<b1=512 x 128 x f32>
    %p = tile.load %m[:, :] : memref<1x128xi32> -> !tile.tile<1 x 128 x i32>
    %h = tile.take_along %g, %p dim 0 : !tile.tile<b1=512 x 128 x f32>, !tile.tile<1 x 128 x i32>
    tile.store %h, %rows[:, :] : !tile.tile<1 x 128 x f32>, memref<1x128xf32>
    %s = tile.scan add %a dim 1 : !tile.tile<b0=8 x 128 x f32>
    %q = tile.take_along %s, %k dim 1 : !tile.tile<b0=8 x 128 x f32>, !tile.tile<b0=8 x 1 x i32>
    tile.store %q, %out[%i, :] : !tile.tile<b0=8 x 1 x f32>, memref<64x1xf32>
  }
  func.return
}
