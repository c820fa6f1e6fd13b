// RUN: kopt %s --split-input-file --verify-diagnostics --remarks -p host-partition,host-hoist-allocs,verify-symm | filecheck %s

// What a library's collective writes between two captured runs is allocated in the first; what is returned is not.
// CHECK-LABEL: func.func @between
func.func @between(%x: memref<8xf32>, %y: memref<16xf32>) -> memref<16xf32> {
  // CHECK-NEXT: %e, %g = host.partition capture -> memref<8xf32>, memref<16xf32> {
  // CHECK-NEXT: %e_1 = host.alloc : memref<8xf32>
  // CHECK-NEXT: host.call_out "aten.exp.default"(%x) args [unit] to %e_1
  // CHECK-NEXT: %g_1 = host.alloc : memref<16xf32>
  // CHECK-NEXT: host.yield %e_1, %g_1 : memref<8xf32>, memref<16xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %n = host.call
  // CHECK-NEXT: %r = host.alloc : memref<16xf32>
  %e = host.alloc : memref<8xf32>
  host.call_out "aten.exp.default"(%x) args [unit] to %e : (memref<8xf32>) to memref<8xf32>
  // expected-remark @+1 {{'host.call' cannot be captured}}
  %n = host.call "aten.exp.default"(%x) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  // expected-remark @+1 {{'g' is allocated in the captured partition before}}
  %g = host.alloc : memref<16xf32>
  %r = host.alloc : memref<16xf32>
  // CHECK: symm.all_gather_out %e to %g group "tp"
  symm.all_gather_out %e to %g group "tp" : memref<8xf32> to memref<16xf32>
  symm.all_gather_out %n to %r group "tp" : memref<8xf32> to memref<16xf32>
  // CHECK: host.partition capture static (%g : memref<16xf32>) {
  // CHECK-NEXT: host.copy %g to %y
  // CHECK-NEXT: host.copy %r to %y
  host.copy %g to %y : memref<16xf32>, memref<16xf32>
  host.copy %r to %y : memref<16xf32>, memref<16xf32>
  func.return %r : memref<16xf32>
}
