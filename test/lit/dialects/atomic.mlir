// Atomic updates: kinds, targets, masks, orderings, previous values.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @updates(%x: memref<100x64xf32>, %count: memref<16xi32>, %bins: memref<100xi32>) {
  tile.grid (%i: b0=8) in (100) {
    %v = tile.full 1.0 : !tile.tile<b0=8 x 64 x f32>
    %one = tile.full 1 : !tile.tile<b0=8 x i32>
    %m = tile.full 1 : !tile.tile<b0=8 x i1>
    %bin = tile.load %bins[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    // CHECK: atomic.rmw add %v, %x[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<100x64xf32>
    atomic.rmw add %v, %x[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<100x64xf32>
    // CHECK-NEXT: atomic.rmw max %v, %x[%bin, :] ordering acq_rel {note = "kept"} : !tile.tile<b0=8 x 64 x f32>, memref<100x64xf32>
    atomic.rmw max %v, %x[%bin, :] ordering acq_rel {note = "kept"} : !tile.tile<b0=8 x 64 x f32>, memref<100x64xf32>
    // CHECK-NEXT: %ticket = atomic.rmw add %one, %count[%bin] mask %m : !tile.tile<b0=8 x i32>, memref<16xi32> -> !tile.tile<b0=8 x i32>
    %ticket = atomic.rmw add %one, %count[%bin] mask %m : !tile.tile<b0=8 x i32>, memref<16xi32> -> !tile.tile<b0=8 x i32>
    // CHECK-NEXT: %old = atomic.cas %bin, %ticket, %count[%bin] mask %m ordering acquire {note = "kept"} : !tile.tile<b0=8 x i32>, memref<16xi32>
    %old = atomic.cas %bin, %ticket, %count[%bin] mask %m ordering acquire {note = "kept"} : !tile.tile<b0=8 x i32>, memref<16xi32>
    // CHECK-NEXT: atomic.rmw xchg %old, %count[%bin] : !tile.tile<b0=8 x i32>, memref<16xi32>
    atomic.rmw xchg %old, %count[%bin] : !tile.tile<b0=8 x i32>, memref<16xi32>
  }
  func.return
}
