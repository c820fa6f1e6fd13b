// RUN: kopt %s -p 'expand-collectives,verify-barriers' | filecheck %s
// RUN: kopt %s -p 'expand-collectives{ranks=4 group=dp}' | filecheck %s --check-prefix=GROUP

// Each group has its barriers' semaphore and its number of ranks, which shapes tell; kernels have names of their own.
// CHECK: pallas.call @others_all_gather({{.*}} collective 0 :
// CHECK: symm.barrier group "tp" ranks 2 : i32
// CHECK: pallas.call @others_reduce_scatter({{.*}} collective 1 :
// CHECK: symm.barrier group "dp" ranks 4 : i32
// CHECK: pallas.call @others_all_gather_2({{.*}} collective 1 :
// GROUP: symm.all_gather %x group "tp"
// GROUP: pallas.call @others_reduce_scatter
// GROUP: pallas.call @others_all_gather
func.func @others(%x: memref<8x128xi32>) -> memref<16x128xi32> {
  %g = symm.all_gather %x group "tp" : memref<8x128xi32> to memref<16x128xi32>
  %r = symm.reduce_scatter %g group "dp" : memref<16x128xi32> to memref<4x128xi32>
  %a = symm.all_gather %r group "dp" : memref<4x128xi32> to memref<16x128xi32>
  func.return %a : memref<16x128xi32>
}
