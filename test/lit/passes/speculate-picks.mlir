// RUN: kopt %s --split-input-file --verify-each -p 'speculate-picks' | filecheck %s

// A column beside the row's begin: picked from the row where all are inside of it, else fetched from the matrix.
// The branch stands behind what does not need its result.
// CHECK-LABEL: func.func @labels
// CHECK: %most = tile.reduce
// CHECK: %[[#COLUMN:]] = tile.maximum
// CHECK: %near = tile.load %x_1[%{{.+}}, %{{.+}}] : memref<64x1024xf32> -> !tile.tile<b0=8 x f32>
// CHECK: tile.reduce max
// CHECK: %beyond = arith.cmpi sgt
// CHECK: scf.if %beyond -> (!tile.tile<b0=8 x f32>) {
// CHECK: tile.truncdiv
// CHECK: tile.rem
// CHECK: %far = tile.load %x_1[%{{.+}}, %{{.+}}] : memref<64x1024xf32> -> !tile.tile<b0=8 x f32>
// CHECK-NEXT: scf.yield %far
// CHECK: scf.yield %near
// CHECK: }{tile.unlikely}
// CHECK: tile.cast
// CHECK-NEXT: tile.sub %most
func.func @labels(%x: memref<64x1024xf32>, %n: memref<64xi32>) -> memref<64xf32> {
  %flat = host.reshape %x : memref<64x1024xf32> to memref<65536xf32>
  %out = host.launch @labels (%n_1 = %n, %flat_1 = %flat, %x_1 = %x) writes [] yields (%out_1 : memref<64xf32>) : (memref<64xi32>, memref<65536xf32>, memref<64x1024xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) {
      %rows = tile.index %i : !tile.range<b0=8>
      %width = tile.full 1024 : !tile.tile<b0=8 x i32>
      %first = tile.mul %rows, %width : !tile.tile<b0=8 x i32>
      %label = tile.load %n_1[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
      %at = tile.add %first, %label : !tile.tile<b0=8 x i32>
      %v = tile.load %flat_1[%at] : memref<65536xf32> -> !tile.tile<b0=8 x f32>
      %all = tile.load %x_1[%i, :] : memref<64x1024xf32> -> !tile.tile<b0=8 x 1024 x f32>
      %most = tile.reduce max %all [1] : !tile.tile<b0=8 x 1024 x f32>
      %w = tile.cast %v : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x f32>
      %less = tile.sub %most, %w : !tile.tile<b0=8 x f32>
      tile.store %less, %out_1[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %out : memref<64xf32>
}

// -----

// The rows of another width: the begin of a row does not go from the sum.
// CHECK-LABEL: func.func @other_width
// CHECK-NOT: scf.if
func.func @other_width(%x: memref<64x1024xf32>, %n: memref<64xi32>) -> memref<64xf32> {
  %flat = host.reshape %x : memref<64x1024xf32> to memref<65536xf32>
  %out = host.launch @other_width (%n_1 = %n, %flat_1 = %flat, %x_1 = %x) writes [] yields (%out_1 : memref<64xf32>) : (memref<64xi32>, memref<65536xf32>, memref<64x1024xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) {
      %rows = tile.index %i : !tile.range<b0=8>
      %width = tile.full 1000 : !tile.tile<b0=8 x i32>
      %first = tile.mul %rows, %width : !tile.tile<b0=8 x i32>
      %label = tile.load %n_1[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
      %at = tile.add %first, %label : !tile.tile<b0=8 x i32>
      %v = tile.load %flat_1[%at] : memref<65536xf32> -> !tile.tile<b0=8 x f32>
      %all = tile.load %x_1[%i, :] : memref<64x1024xf32> -> !tile.tile<b0=8 x 1024 x f32>
      %most = tile.reduce max %all [1] : !tile.tile<b0=8 x 1024 x f32>
      %less = tile.sub %most, %v : !tile.tile<b0=8 x f32>
      tile.store %less, %out_1[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %out : memref<64xf32>
}

// -----

// Columns that are known to be inside of the row are picked from it, without a branch.
// CHECK-LABEL: func.func @inside
// CHECK-NEXT: %flat = host.reshape %x : memref<64x1024xf32> to memref<65536xf32>
// CHECK-NEXT: %out = host.launch @inside (%n_1 = %n, %flat_1 = %flat, %x_1 = %x) writes [] yields (%out_1 : memref<64xf32>) : (memref<64xi32>, memref<65536xf32>, memref<64x1024xf32>) -> memref<64xf32> {
// CHECK-NEXT: tile.grid (%i: b0=8) in (64) {
// CHECK-NEXT: %rows = tile.index %i : !tile.range<b0=8>
// CHECK-NEXT: %width = tile.full 1024 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %first = tile.mul %rows, %width : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %any = tile.load %n_1[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
// CHECK-NEXT: %label = tile.mod %any, %width : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %at = tile.add %first, %label : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %all = tile.load %x_1[%i, :] : memref<64x1024xf32> -> !tile.tile<b0=8 x 1024 x f32>
// CHECK-NEXT: %most = tile.reduce max %all [1] : !tile.tile<b0=8 x 1024 x f32>
// CHECK-NEXT: %0 = tile.full 1023 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %1 = tile.minimum %label, %0 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %2 = tile.full 0 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %3 = tile.maximum %1, %2 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %4 = tile.index %i : !tile.range<b0=8>
// CHECK-NEXT: %v = tile.load %x_1[%4, %3] : memref<64x1024xf32> -> !tile.tile<b0=8 x f32>
// CHECK-NEXT: %less = tile.sub %most, %v : !tile.tile<b0=8 x f32>
// CHECK-NEXT: tile.store %less, %out_1[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out : memref<64xf32>
func.func @inside(%x: memref<64x1024xf32>, %n: memref<64xi32>) -> memref<64xf32> {
  %flat = host.reshape %x : memref<64x1024xf32> to memref<65536xf32>
  %out = host.launch @inside (%n_1 = %n, %flat_1 = %flat, %x_1 = %x) writes [] yields (%out_1 : memref<64xf32>) : (memref<64xi32>, memref<65536xf32>, memref<64x1024xf32>) -> memref<64xf32> {
    tile.grid (%i: b0=8) in (64) {
      %rows = tile.index %i : !tile.range<b0=8>
      %width = tile.full 1024 : !tile.tile<b0=8 x i32>
      %first = tile.mul %rows, %width : !tile.tile<b0=8 x i32>
      %any = tile.load %n_1[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
      %label = tile.mod %any, %width : !tile.tile<b0=8 x i32>
      %at = tile.add %first, %label : !tile.tile<b0=8 x i32>
      %v = tile.load %flat_1[%at] : memref<65536xf32> -> !tile.tile<b0=8 x f32>
      %all = tile.load %x_1[%i, :] : memref<64x1024xf32> -> !tile.tile<b0=8 x 1024 x f32>
      %most = tile.reduce max %all [1] : !tile.tile<b0=8 x 1024 x f32>
      %less = tile.sub %most, %v : !tile.tile<b0=8 x f32>
      tile.store %less, %out_1[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return %out : memref<64xf32>
}
