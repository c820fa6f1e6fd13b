// RUN: kopt %s --split-input-file --verify-diagnostics -p expand-collectives | filecheck %s

func.func @unknown(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  // expected-note @+2 {{say it: expand-collectives{ranks=4}}}
  // expected-error @+1 {{the number of ranks of symm.all_reduce is not known}}
  %s = symm.all_reduce add %x group "tp" : memref<8x128xf32> to memref<8x128xf32>
  func.return %s : memref<8x128xf32>
}

// -----

// What no kernel does stays a collective.
// CHECK-LABEL: func.func @kept
func.func @kept(%x: memref<4x128xf16>, %y: memref<0x128xf32>, %z: memref<4x128xf64>) {
  // expected-remark @+2 {{stays a collective: kernels combine f32, bf16, i32, found f16}}
  // CHECK-NEXT: symm.reduce_scatter
  %a = symm.reduce_scatter %x group "tp" : memref<4x128xf16> to memref<2x128xf16>
  // expected-remark @+2 {{stays a collective: kernels move elements of 8, 16 and 32 bits, found f64}}
  // CHECK-NEXT: symm.all_gather
  %b = symm.all_gather %z group "tp" : memref<4x128xf64> to memref<8x128xf64>
  // expected-remark @+2 {{stays a collective: of one rank}}
  // CHECK-NEXT: symm.all_gather
  %c = symm.all_gather %x group "tp" : memref<4x128xf16> to memref<4x128xf16>
  func.return
}
