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
