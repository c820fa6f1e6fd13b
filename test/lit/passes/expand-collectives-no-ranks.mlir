// RUN: kopt %s --verify-diagnostics -p 'expand-collectives{ranks=0}'

func.func @none(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  // expected-error @+1 {{a group has one rank at least, found 0}}
  %s = symm.all_reduce add %x group "tp" : memref<8x128xf32> to memref<8x128xf32>
  func.return %s : memref<8x128xf32>
}
