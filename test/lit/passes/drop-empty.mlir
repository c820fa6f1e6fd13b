// RUN: kopt %s --split-input-file --verify-diagnostics --verify-each -p drop-empty | filecheck %s

// Reductions give neutral values, products their accumulators; joined are the parts that there are.
// CHECK-LABEL: func.func @values
// CHECK-NOT: x 0 x
// CHECK: %s = tile.full -inf : !tile.tile<b0=4 x f32>
// CHECK-NEXT: tile.store %s, %out[%i, 0]
// CHECK-NEXT: %y = tile.load
// CHECK-NEXT: %d = tile.full 0.0 : !tile.tile<b0=4 x 4 x f32>
// CHECK-NEXT: %c = tile.concat %d, %y dim 1 : {{.*}} to !tile.tile<b0=4 x 8 x f32>
// CHECK-NEXT: tile.store %c, %joined[%i, :]
func.func @values(%x: memref<8x0xf32>, %w: memref<0x4xf32>, %o: memref<8x4xf32>, %out: memref<8x1xf32>, %joined: memref<8x8xf32>) {
  tile.grid (%i: b0=4) in (8) {
    %v = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=4 x 0 x f32>
    %e = tile.exp %v : !tile.tile<b0=4 x 0 x f32>
    %s = tile.reduce max %e [1] : !tile.tile<b0=4 x 0 x f32>
    tile.store %s, %out[%i, 0] : !tile.tile<b0=4 x f32>, memref<8x1xf32>
    %y = tile.load %o[%i, :] : memref<8x4xf32> -> !tile.tile<b0=4 x 4 x f32>
    %r = tile.load %w[:, :] : memref<0x4xf32> -> !tile.tile<0 x 4 x f32>
    %d = tile.dot %e, %r : !tile.tile<b0=4 x 0 x f32>, !tile.tile<0 x 4 x f32> -> !tile.tile<b0=4 x 4 x f32>
    %c = tile.concat %d, %e, %y dim 1 : !tile.tile<b0=4 x 4 x f32>, !tile.tile<b0=4 x 0 x f32>, !tile.tile<b0=4 x 4 x f32> to !tile.tile<b0=4 x 8 x f32>
    tile.store %c, %joined[%i, :] : !tile.tile<b0=4 x 8 x f32>, memref<8x8xf32>
  }
  func.return
}

// -----

// Rows by number of an array without rows: none is loaded or stored.
// CHECK-LABEL: func.func @rows
// CHECK: %v = tile.full 0.0 : !tile.tile<b0=4 x 8 x f32>
// CHECK-NOT: %x[
// CHECK: tile.store %v, %out[%i, :]
// CHECK-NOT: %x[
// CHECK: func.return
func.func @rows(%x: memref<0x8xf32>, %n: memref<8xi32>, %out: memref<8x8xf32>) {
  tile.grid (%i: b0=4) in (8) {
    %r = tile.load %n[%i] : memref<8xi32> -> !tile.tile<b0=4 x i32>
    %m = tile.full 0 : !tile.tile<b0=4 x 8 x i1>
    %v = tile.load %x[%r, :] mask %m : memref<0x8xf32> -> !tile.tile<b0=4 x 8 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=4 x 8 x f32>, memref<8x8xf32>
    tile.store %v, %x[%r, :] mask %m : !tile.tile<b0=4 x 8 x f32>, memref<0x8xf32>
  }
  func.return
}

// -----

// No lanes of a block are stored in an array that has rows; an update of them gives none.
// CHECK-LABEL: func.func @lanes
// CHECK-NOT: x 0 x
// CHECK: tile.store %y, %out[%i, :]
// CHECK-NOT: tile.store
// CHECK-NOT: atomic.rmw
// CHECK: func.return
func.func @lanes(%x: memref<8x0xf32>, %out: memref<8x8xf32>, %n: memref<8x0xi32>) {
  tile.grid (%i: b0=4) in (8) {
    %y = tile.full 1.0 : !tile.tile<b0=4 x 8 x f32>
    tile.store %y, %out[%i, :] : !tile.tile<b0=4 x 8 x f32>, memref<8x8xf32>
    %v = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=4 x 0 x f32>
    %c = tile.load %n[%i, :] : memref<8x0xi32> -> !tile.tile<b0=4 x 0 x i32>
    tile.store %v, %out[%c, %c] : !tile.tile<b0=4 x 0 x f32>, memref<8x8xf32>
    %old = atomic.rmw add %v, %out[%c, %c] : !tile.tile<b0=4 x 0 x f32>, memref<8x8xf32> -> !tile.tile<b0=4 x 0 x f32>
  }
  func.return
}

// -----

// The first of no elements is none.
func.func @first(%x: memref<8x0xf32>, %out: memref<8xi32>) {
  tile.grid (%i: b0=4) in (8) {
    %v = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=4 x 0 x f32> // expected-error {{'tile.load' computes on a block without lanes}}
    %n = tile.argreduce max %v dim 1 : !tile.tile<b0=4 x 0 x f32>
    tile.store %n, %out[%i] : !tile.tile<b0=4 x i32>, memref<8xi32>
  }
  func.return
}
