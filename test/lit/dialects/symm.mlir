// Collectives and symmetric memory.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

// CHECK: func.func @collectives(%x: memref<8x64xbf16>, %s: memref<8x64xbf16, #symm.space<"tp">>) {
func.func @collectives(%x: memref<8x64xbf16>, %s: memref<8x64xbf16, #symm.space<"tp">>) {
  // CHECK-NEXT: symm.all_reduce add %x group "tp" : memref<8x64xbf16> to memref<8x64xbf16>
  %a = symm.all_reduce add %x group "tp" : memref<8x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: symm.all_reduce max %s group "tp" by one_shot {note = "kept"} : memref<8x64xbf16, #symm.space<"tp">> to memref<8x64xbf16>
  %b = symm.all_reduce max %s group "tp" by one_shot {note = "kept"} : memref<8x64xbf16, #symm.space<"tp">> to memref<8x64xbf16>
  // CHECK-NEXT: symm.all_gather %x group "dp" {note = "kept"} : memref<8x64xbf16> to memref<32x64xbf16>
  %c = symm.all_gather %x group "dp" {note = "kept"} : memref<8x64xbf16> to memref<32x64xbf16>
  // CHECK-NEXT: symm.reduce_scatter %x group "dp" : memref<8x64xbf16> to memref<2x64xbf16>
  %d = symm.reduce_scatter %x group "dp" : memref<8x64xbf16> to memref<2x64xbf16>
  // CHECK-NEXT: symm.all_to_all %x group "dp" : memref<8x64xbf16> to memref<8x64xbf16>
  %e = symm.all_to_all %x group "dp" : memref<8x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: symm.barrier group "tp" {note = "kept"}
  symm.barrier group "tp" {note = "kept"}
  func.return
}
