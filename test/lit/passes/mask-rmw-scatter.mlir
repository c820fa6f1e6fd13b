// RUN: kopt %s -p mask-rmw-scatter | filecheck %s

// Computed rows of which some get back what lay there: the others alone are stored. Not where something was written since.
// CHECK-LABEL: func.func @some_rows
// CHECK: tile.store %v, %x[%n, :] mask %m
// CHECK: [[K:%.+]] = tile.select %m, %v, %again
// CHECK: tile.store [[K]], %x[%n, :] :
func.func @some_rows(%x: memref<30x128xf32>, %y: memref<8x128xf32>, %ids: memref<8xi32>) {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.load %ids[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
    %v = tile.load %y[%i, :] : memref<8x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %z = tile.full 0.0 : !tile.tile<b0=8 x 128 x f32>
    %m = tile.lt %z, %v : !tile.tile<b0=8 x 128 x f32>
    %old = tile.load %x[%n, :] : memref<30x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %w = tile.select %m, %v, %old : !tile.tile<b0=8 x 128 x f32>
    tile.store %w, %x[%n, :] : !tile.tile<b0=8 x 128 x f32>, memref<30x128xf32>
    %again = tile.load %x[%n, :] : memref<30x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    tile.store %z, %x[%n, :] : !tile.tile<b0=8 x 128 x f32>, memref<30x128xf32>
    %k = tile.select %m, %v, %again : !tile.tile<b0=8 x 128 x f32>
    tile.store %k, %x[%n, :] : !tile.tile<b0=8 x 128 x f32>, memref<30x128xf32>
  }
  func.return
}

// The other way round, and by way of a wider type.
// CHECK-LABEL: func.func @other_rows
// CHECK: [[N:%.+]] = tile.not %m
// CHECK: [[V:%.+]] = tile.cast %v
// CHECK: tile.store [[V]], %x[%n, :] mask [[N]]
func.func @other_rows(%x: memref<30x128xbf16>, %y: memref<8x128xf32>, %ids: memref<8xi32>) {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.load %ids[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
    %v = tile.load %y[%i, :] : memref<8x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %z = tile.full 0.0 : !tile.tile<b0=8 x 128 x f32>
    %m = tile.lt %z, %v : !tile.tile<b0=8 x 128 x f32>
    %old = tile.load %x[%n, :] : memref<30x128xbf16> -> !tile.tile<b0=8 x 128 x bf16>
    %wide = tile.cast %old : !tile.tile<b0=8 x 128 x bf16> to !tile.tile<b0=8 x 128 x f32>
    %w = tile.select %m, %wide, %v : !tile.tile<b0=8 x 128 x f32>
    %s = tile.cast %w : !tile.tile<b0=8 x 128 x f32> to !tile.tile<b0=8 x 128 x bf16>
    tile.store %s, %x[%n, :] : !tile.tile<b0=8 x 128 x bf16>, memref<30x128xbf16>
  }
  func.return
}

// Nor where the way by another type would change a number.
// CHECK-LABEL: func.func @rounded_rows
// CHECK: tile.select
// CHECK: tile.store %s, %x[%n, :] :
func.func @rounded_rows(%x: memref<30x128xi32>, %y: memref<8x128xf32>, %ids: memref<8xi32>) {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.load %ids[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
    %v = tile.load %y[%i, :] : memref<8x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %z = tile.full 0.0 : !tile.tile<b0=8 x 128 x f32>
    %m = tile.lt %z, %v : !tile.tile<b0=8 x 128 x f32>
    %old = tile.load %x[%n, :] : memref<30x128xi32> -> !tile.tile<b0=8 x 128 x i32>
    %float = tile.cast %old : !tile.tile<b0=8 x 128 x i32> to !tile.tile<b0=8 x 128 x f32>
    %w = tile.select %m, %v, %float : !tile.tile<b0=8 x 128 x f32>
    %s = tile.cast %w : !tile.tile<b0=8 x 128 x f32> to !tile.tile<b0=8 x 128 x i32>
    tile.store %s, %x[%n, :] : !tile.tile<b0=8 x 128 x i32>, memref<30x128xi32>
  }
  func.return
}
