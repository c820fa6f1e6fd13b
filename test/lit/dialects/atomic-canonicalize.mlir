// What canonicalisation does to atomic updates, and what it leaves alone.
// RUN: kopt %s --pass-pipeline='builtin.module(canonicalize)' | filecheck %s

// CHECK-LABEL: func.func @previous
func.func @previous(%x: memref<8xi32>, %v: !tile.tile<8 x i32>, %m: !tile.tile<8 x i1>) -> !tile.tile<8 x i32> {
  // CHECK-NEXT: atomic.rmw add %v, %x[:] mask %m ordering release {note = "kept"} : !tile.tile<8 x i32>, memref<8xi32>
  %unused = atomic.rmw add %v, %x[:] mask %m ordering release {note = "kept"} : !tile.tile<8 x i32>, memref<8xi32> -> !tile.tile<8 x i32>
  // CHECK-NEXT: %used = atomic.rmw add %v, %x[:] : !tile.tile<8 x i32>, memref<8xi32> -> !tile.tile<8 x i32>
  %used = atomic.rmw add %v, %x[:] : !tile.tile<8 x i32>, memref<8xi32> -> !tile.tile<8 x i32>
  // CHECK-NEXT: func.return %used
  func.return %used : !tile.tile<8 x i32>
}

// CHECK-LABEL: func.func @masks
func.func @masks(%x: memref<8xi32>, %v: !tile.tile<8 x i32>) -> (!tile.tile<8 x i32>, !tile.tile<8 x i32>) {
  %no = tile.full 0 : !tile.tile<8 x i1>
  %yes = tile.full 1 : !tile.tile<8 x i1>
  atomic.rmw xchg %v, %x[:] mask %no : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK: %a = tile.full 0 : !tile.tile<8 x i32>
  %a = atomic.cas %v, %v, %x[:] mask %no ordering acq_rel : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK-NEXT: %b = atomic.cas %v, %v, %x[:] ordering acq_rel {note = "kept"} : !tile.tile<8 x i32>, memref<8xi32>
  %b = atomic.cas %v, %v, %x[:] mask %yes ordering acq_rel {note = "kept"} : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK-NEXT: atomic.rmw max %v, %x[:] : !tile.tile<8 x i32>, memref<8xi32>
  atomic.rmw max %v, %x[:] mask %yes : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK-NEXT: func.return %a, %b
  func.return %a, %b : !tile.tile<8 x i32>, !tile.tile<8 x i32>
}

// CHECK-LABEL: func.func @no_lanes
func.func @no_lanes(%x: memref<8x0xf32>, %y: memref<0xi32>, %v: !tile.tile<8 x 0 x f32>, %w: !tile.tile<4 x i32>) {
  atomic.rmw add %v, %x[:, :] : !tile.tile<8 x 0 x f32>, memref<8x0xf32>
  atomic.rmw add %w, %y[%w] : !tile.tile<4 x i32>, memref<0xi32>
  // CHECK-NEXT: func.return
  func.return
}

// CHECK-LABEL: func.func @neutral
func.func @neutral(%x: memref<8xi32>, %f: memref<8xf32>, %b: memref<8xi1>) {
  %zero = tile.full 0 : !tile.tile<8 x i32>
  %ones = tile.full -1 : !tile.tile<8 x i32>
  %least = tile.full -2147483648 : !tile.tile<8 x i32>
  %minus = tile.full -0.0 : !tile.tile<8 x f32>
  %low = tile.full -inf : !tile.tile<8 x f32>
  %true = tile.full 1 : !tile.tile<8 x i1>
  atomic.rmw add %zero, %x[:] : !tile.tile<8 x i32>, memref<8xi32>
  atomic.rmw xor %zero, %x[:] : !tile.tile<8 x i32>, memref<8xi32>
  atomic.rmw and %ones, %x[:] : !tile.tile<8 x i32>, memref<8xi32>
  atomic.rmw max %least, %x[:] : !tile.tile<8 x i32>, memref<8xi32>
  atomic.rmw add %minus, %f[:] : !tile.tile<8 x f32>, memref<8xf32>
  atomic.rmw max %low, %f[:] : !tile.tile<8 x f32>, memref<8xf32>
  atomic.rmw and %true, %b[:] : !tile.tile<8 x i1>, memref<8xi1>
  // CHECK-NOT: atomic.rmw
  // CHECK: func.return
  func.return
}

// CHECK-LABEL: func.func @not_neutral
func.func @not_neutral(%x: memref<8xi32>, %f: memref<8xf32>) {
  %zero = tile.full 0 : !tile.tile<8 x i32>
  %plus = tile.full 0.0 : !tile.tile<8 x f32>
  // CHECK: atomic.rmw add %plus
  atomic.rmw add %plus, %f[:] : !tile.tile<8 x f32>, memref<8xf32>
  // CHECK-NEXT: atomic.rmw xchg %zero
  atomic.rmw xchg %zero, %x[:] : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK-NEXT: atomic.rmw and %zero
  atomic.rmw and %zero, %x[:] : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK-NEXT: atomic.rmw add %zero, %x[:] ordering acquire
  atomic.rmw add %zero, %x[:] ordering acquire : !tile.tile<8 x i32>, memref<8xi32>
  func.return
}
