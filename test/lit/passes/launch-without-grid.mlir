// Passes that look at a launch's grid refuse one that has none; what removes idle launches takes it away.
// RUN: kopt %s --verify-diagnostics -p keep-blocks
// RUN: kopt %s --verify-diagnostics -p order-grid
// RUN: kopt %s --verify-diagnostics -p plan-accesses
// RUN: kopt %s --verify-diagnostics -p materialize-accumulators
// RUN: kopt %s --verify-diagnostics -p verify-plan
// RUN: not kopt %s --verify-diagnostics -p bind-buffers 2>&1 | filecheck %s
// CHECK: func.func @f(%x: memref<64xf32>) -> memref<64xf32> {
// CHECK-NEXT: func.return %x : memref<64xf32>
func.func @f(%x: memref<64xf32>) -> memref<64xf32> {
  // expected-error @+1 {{a launch without a grid}}
  %r = host.launch @nothing (%a = %x) writes [0] : (memref<64xf32>) -> memref<64xf32> {
  }
  func.return %r : memref<64xf32>
}
