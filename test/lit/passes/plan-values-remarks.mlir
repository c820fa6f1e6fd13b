// RUN: kopt %s --remarks --pass-pipeline='builtin.module(functionalise-host,normalise-accesses,plan-values,realise-values)' 2>&1 | filecheck %s

// The choice, what it was chosen against, and why cells cannot run in any order.
// CHECK: remark: 'x' is updated by row_loop: about {{[0-9]+}} cycles a cell, against {{[0-9]+}} by one_hot
// CHECK: remark: cells along %i run in order: which rows of 'x' they update is known from data only
func.func @sums(%n: memref<32xi32>, %x: memref<32x8xf32>) {
  tile.grid (%i: b0=16) in (32) {
    %rows = tile.load %n[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.full 1.0 : !tile.tile<b0=16 x 8 x f32>
    atomic.rmw add %v, %x[%rows, :] : !tile.tile<b0=16 x 8 x f32>, memref<32x8xf32>
  }
  func.return
}
