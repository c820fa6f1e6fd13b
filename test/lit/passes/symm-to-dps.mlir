// RUN: kopt %s --split-input-file --verify-diagnostics -p symm-to-dps | filecheck %s

// Every collective has its _out form; what it was by and its attributes are kept.
// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: memref<8x64xbf16>) -> memref<8x64xbf16> {
  // CHECK-NEXT: %a = host.alloc : memref<8x64xbf16>
  // CHECK-NEXT: symm.all_reduce_out add %x to %a group "tp" by two_shot {note = "kept"} : memref<8x64xbf16> to memref<8x64xbf16>
  %a = symm.all_reduce add %x group "tp" by two_shot {note = "kept"} : memref<8x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: %b = host.alloc : memref<8x64xbf16>
  // CHECK-NEXT: symm.all_reduce_out max %a to %b group "tp" : memref<8x64xbf16> to memref<8x64xbf16>
  %b = symm.all_reduce max %a group "tp" : memref<8x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: %c = host.alloc : memref<16x64xbf16>
  // CHECK-NEXT: symm.all_gather_out %b to %c group "dp" : memref<8x64xbf16> to memref<16x64xbf16>
  %c = symm.all_gather %b group "dp" : memref<8x64xbf16> to memref<16x64xbf16>
  // CHECK-NEXT: %d = host.alloc : memref<8x64xbf16>
  // CHECK-NEXT: symm.reduce_scatter_out %c to %d group "dp" : memref<16x64xbf16> to memref<8x64xbf16>
  %d = symm.reduce_scatter %c group "dp" : memref<16x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: %e = host.alloc : memref<8x64xbf16>
  // CHECK-NEXT: symm.all_to_all_out %d to %e group "dp" {note = "kept"} : memref<8x64xbf16> to memref<8x64xbf16>
  %e = symm.all_to_all %d group "dp" {note = "kept"} : memref<8x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: func.return %e
  func.return %e : memref<8x64xbf16>
}

// -----

func.func @dynamic(%x: memref<?x64xf32>) -> memref<?x64xf32> {
  // expected-error @+1 {{'symm.all_reduce' gives an array of dynamic shape, memref<?x64xf32>, which cannot be planned}}
  %a = symm.all_reduce add %x group "tp" : memref<?x64xf32> to memref<?x64xf32>
  func.return %a : memref<?x64xf32>
}
