// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(return-mutated-arguments)' | filecheck %s

// Written through a view, and by a copy: both are returned after the results, in the order of the arguments.
// CHECK: func.func @f(%a: memref<8xf32>, %b: memref<2x4xf32>, %c: memref<8xf32>) -> (memref<8xf32>, memref<2x4xf32>, memref<8xf32>) {
// CHECK: func.return %a, %b, %c : memref<8xf32>, memref<2x4xf32>, memref<8xf32>
func.func @f(%a: memref<8xf32>, %b: memref<2x4xf32>, %c: memref<8xf32>) -> memref<8xf32> {
  %v = host.reshape %b : memref<2x4xf32> to memref<8xf32>
  tile.grid (%i: b0=8) in (8) {
    %x = tile.load %a[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    tile.store %x, %v[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  host.copy %a to %c : memref<8xf32>, memref<8xf32>
  func.return %a : memref<8xf32>
}
