// RUN: kopt %s --verify-each -p dce | filecheck %s
// RUN: kopt %s --verify-each -p canonicalize | filecheck %s
// RUN: kopt %s --verify-each -p cse | filecheck %s

// The buffer of a load that is dead goes with it: every buffer of a plan serves an access.
// CHECK: plan {order [i] parallel [i]
// CHECK-NOT: @x
// CHECK: @y = %y pointer
// CHECK-NOT: tile.load
func.func @options(%x: memref<129xf32>, %y: memref<129xf32>) {
  tile.grid (%i: b0=64) in (129) plan {order [i] parallel [i]
      @x = %x pointer
      @y = %y pointer} {
    %v = tile.load %x[%i] via @x : memref<129xf32> -> !tile.tile<b0=64 x f32>
    %z = tile.full 0.0 : !tile.tile<b0=64 x f32>
    tile.store %z, %y[%i] via @y : !tile.tile<b0=64 x f32>, memref<129xf32>
  }
  func.return
}
