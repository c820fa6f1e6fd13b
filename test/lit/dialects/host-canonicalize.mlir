// RUN: kopt %s -p canonicalize | filecheck %s
// RUN: kopt run %s:sums --target pallas:interpret --check

// Sums in 64 bits of which 32 are kept are sums in 32 bits: they wrap.
// CHECK-LABEL: func.func @sums
func.func @sums(%x: memref<4x300xi32>) -> (memref<4x300xi32>, memref<4xi32>) {
  %a = host.alloc : memref<4x300xi32>
  %b = host.alloc : memref<4xi32>
  // CHECK: %running = host.call "aten.cumsum.default"(%x) args [unit, 1 : i64, "i32"] {keywords = ["dtype"]} : (memref<4x300xi32>) -> (memref<4x300xi32>)
  // CHECK-NEXT: host.copy %running to %a : memref<4x300xi32>, memref<4x300xi32>
  %running = host.call "aten.cumsum.default"(%x) args [unit, 1] : (memref<4x300xi32>) -> (memref<4x300xi64>)
  host.copy %running to %a : memref<4x300xi64>, memref<4x300xi32>
  // CHECK-NEXT: %sum = host.call "aten.sum.dim_IntList"(%x) args [unit, [1 : i64], false, "i32"] {keywords = ["dtype"]} : (memref<4x300xi32>) -> (memref<4xi32>)
  %sum = host.call "aten.sum.dim_IntList"(%x) args [unit, [1], false] : (memref<4x300xi32>) -> (memref<4xi64>)
  host.copy %sum to %b : memref<4xi64>, memref<4xi32>
  func.return %a, %b : memref<4x300xi32>, memref<4xi32>
}

// All 64 bits are kept, or a boolean is: whether any bit is set.
// CHECK-LABEL: func.func @kept
func.func @kept(%x: memref<4xi32>, %wide: memref<4xi64>, %truth: memref<4xi1>) {
  // CHECK: host.call "aten.cumsum.default"(%x) args [unit, 0 : i64] : (memref<4xi32>) -> (memref<4xi64>)
  %all = host.call "aten.cumsum.default"(%x) args [unit, 0] : (memref<4xi32>) -> (memref<4xi64>)
  host.copy %all to %wide : memref<4xi64>, memref<4xi64>
  // CHECK: host.call "aten.cumsum.default"(%x) args [unit, 0 : i64] : (memref<4xi32>) -> (memref<4xi64>)
  %some = host.call "aten.cumsum.default"(%x) args [unit, 0] : (memref<4xi32>) -> (memref<4xi64>)
  host.copy %some to %truth : memref<4xi64>, memref<4xi1>
  func.return
}

// A grid that does nothing goes, and its launch with it: what it writes stays as it was, a new array is anything.
// CHECK-LABEL: func.func @idle
// CHECK-NEXT: %new = host.alloc : memref<3xi32>
// CHECK-NEXT: func.return %x, %new : memref<4xf32>, memref<3xi32>
func.func @idle(%x: memref<4xf32>) -> (memref<4xf32>, memref<3xi32>) {
  %y, %new = host.launch @nothing (%a = %x) writes [0] yields (%b : memref<3xi32>) : (memref<4xf32>) -> (memref<4xf32>, memref<3xi32>) {
    tile.grid (%i: b0=2) in (4) {
      %v = tile.load %a[%i] : memref<4xf32> -> !tile.tile<b0=2 x f32>
      %never = tile.full 0 : !tile.tile<b0=2 x i1>
      tile.store %v, %a[%i] mask %never : !tile.tile<b0=2 x f32>, memref<4xf32>
    }
  }
  func.return %y, %new : memref<4xf32>, memref<3xi32>
}
