// RUN: kopt %s --split-input-file --verify-each -p 'plan-vmem{chip=v6e}' | filecheck %s

// Two buffers of 16 MiB for each array: more than a kernel has by default.
// CHECK: pallas.call @large({{.+}} aliases [-1] vmem_limit
func.func @large(%x: memref<8192x2048xf32>) -> memref<8192x2048xf32> {
  %out = pallas.call @large(%x) windows [<[2048, 2048], (d0) -> (d0, 0), vmem>, <[2048, 2048], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<8192x2048xf32>) -> (memref<8192x2048xf32>) {
  ^bb0(%x_ref: !tile.ref<2048 x 2048 x f32, vmem>, %out_ref: !tile.ref<2048 x 2048 x f32, vmem>):
    tile.grid (%i: b0=2048) in (8192) {
      %v = tile.get %x_ref[:, :] : !tile.ref<2048 x 2048 x f32, vmem> -> !tile.tile<b0=2048 x 2048 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=2048 x 2048 x f32>, !tile.ref<2048 x 2048 x f32, vmem>
    }
  }
  func.return %out : memref<8192x2048xf32>
}

// -----

// CHECK: pallas.call @small(
// CHECK-NOT: vmem_limit
func.func @small(%x: memref<8192x2048xf32>) -> memref<8192x2048xf32> {
  %out = pallas.call @small(%x) windows [<[8, 2048], (d0) -> (d0, 0), vmem>, <[8, 2048], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<8192x2048xf32>) -> (memref<8192x2048xf32>) {
  ^bb0(%x_ref: !tile.ref<8 x 2048 x f32, vmem>, %out_ref: !tile.ref<8 x 2048 x f32, vmem>):
    tile.grid (%i: b0=8) in (8192) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 2048 x f32, vmem> -> !tile.tile<b0=8 x 2048 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=8 x 2048 x f32>, !tile.ref<8 x 2048 x f32, vmem>
    }
  }
  func.return %out : memref<8192x2048xf32>
}
