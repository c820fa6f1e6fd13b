// RUN: kopt %s --split-input-file --verify-diagnostics -p 'expand-collectives{ranks=4}' | filecheck %s

func.func @other(%x: memref<8x128xf32>) -> memref<16x128xf32> {
  // expected-error @+1 {{symm.all_gather is of 2 ranks, expand-collectives of 4}}
  %s = symm.all_gather %x group "tp" : memref<8x128xf32> to memref<16x128xf32>
  func.return %s : memref<16x128xf32>
}

// -----

// CHECK-LABEL: func.func @kept
func.func @kept(%x: memref<8x128xi32>, %y: memref<8x0xf32>, %b: memref<8x128xi1>) {
  // expected-remark @+2 {{stays a collective: the average of integers is no integer}}
  // CHECK-NEXT: symm.all_reduce avg
  %s = symm.all_reduce avg %x group "tp" : memref<8x128xi32> to memref<8x128xi32>
  // expected-remark @+2 {{stays a collective: a kernel moves some elements of static shape, found memref<8x0xf32>}}
  // CHECK-NEXT: symm.all_reduce add
  %t = symm.all_reduce add %y group "tp" : memref<8x0xf32> to memref<8x0xf32>
  // CHECK-NEXT: host.alloc
  %z = host.alloc : memref<0x128xf32>
  // expected-remark @+2 {{stays a collective: a kernel moves some elements of static shape, found memref<0x128xf32>}}
  // CHECK-NEXT: symm.all_gather
  %u = symm.all_gather %z group "tp" : memref<0x128xf32> to memref<0x128xf32>
  // expected-remark @+2 {{stays a collective: kernels move elements of 8, 16 and 32 bits, found i1}}
  // CHECK-NEXT: symm.all_to_all
  %v = symm.all_to_all %b group "tp" : memref<8x128xi1> to memref<8x128xi1>
  func.return
}
