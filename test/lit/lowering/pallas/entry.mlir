// RUN: kopt %s -t pallas-py --entry f | filecheck %s

// Only what is printed has to have a spelling.
// CHECK: def f(x):
// CHECK-NEXT: return x
// CHECK-NOT: def g
func.func @f(%x: memref<64xf32>) -> memref<64xf32> {
  func.return %x : memref<64xf32>
}

func.func @g(%x: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
    tile.store %z, %x[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}
