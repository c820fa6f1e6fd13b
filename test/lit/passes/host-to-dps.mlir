// RUN: kopt %s -p host-to-dps | filecheck %s

// Calls with a form that writes a given array; attributes are kept.
// CHECK-LABEL: func.func @calls
func.func @calls(%x: memref<8x4xf32>, %w: memref<4x4xf32>) -> memref<8x4xf32> {
  // CHECK-NEXT: %e = host.alloc : memref<8x4xf32>
  // CHECK-NEXT: host.call_out "aten.exp.default"(%x) args [unit] to %e {note = "kept"} : (memref<8x4xf32>) to memref<8x4xf32>
  %e = host.call "aten.exp.default"(%x) args [unit] {note = "kept"} : (memref<8x4xf32>) -> (memref<8x4xf32>)
  // CHECK-NEXT: %m = host.alloc : memref<8x4xf32>
  // CHECK-NEXT: host.call_out "aten.mm.default"(%e, %w) args [unit, unit] to %m : (memref<8x4xf32>, memref<4x4xf32>) to memref<8x4xf32>
  %m = host.call "aten.mm.default"(%e, %w) args [unit, unit] : (memref<8x4xf32>, memref<4x4xf32>) -> (memref<8x4xf32>)
  // CHECK-NEXT: func.return %m
  func.return %m : memref<8x4xf32>
}

// No such form, several results, a dynamic shape: they stay.
// CHECK-LABEL: func.func @stay
func.func @stay(%x: memref<8x4xf32>, %y: memref<?x4xf32>) -> memref<?x4xf32> {
  // CHECK-NEXT: host.call "aten.tril.default"
  %a = host.call "aten.tril.default"(%x) args [unit] : (memref<8x4xf32>) -> (memref<8x4xf32>)
  // CHECK-NEXT: host.call "aten.sort.default"
  %b, %c = host.call "aten.sort.default"(%a) args [unit] : (memref<8x4xf32>) -> (memref<8x4xf32>, memref<8x4xi64>)
  // CHECK-NEXT: host.call "aten.exp.default"
  %d = host.call "aten.exp.default"(%y) args [unit] : (memref<?x4xf32>) -> (memref<?x4xf32>)
  func.return %d : memref<?x4xf32>
}
