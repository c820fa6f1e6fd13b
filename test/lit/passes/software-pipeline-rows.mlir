// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline{chip=v6e}' | filecheck %s

// Numbers in scalar memory are read, and clamped, one by one; the next cell's rows are fetched in the cell before.
// CHECK: semantics (arbitrary)
// CHECK: %x_ref_arrived: !tile.ref<2 x i32, semaphore>, %x_ref_rows: !tile.ref<2 x 128 x 1 x 256 x f32, vmem>
// CHECK-NOT: numbers
// CHECK: tile.when first(%i)
// CHECK: tile.for %r: {{.+}} in (0, 128) schedule resident unroll 32
// CHECK: pallas.dma_start %x_ref[%{{.+}}, :] to %x_ref_rows[%slot, %{{.+}}, :, :] signal %x_ref_arrived[%slot] :
// CHECK: scf.if %more
// CHECK: pallas.dma_start %x_ref[%{{.+}}, :] to %x_ref_rows[%other_slot, %{{.+}}, :, :] signal %x_ref_arrived[%other_slot] :
// CHECK: pallas.dma_wait %x_ref_rows[%slot, :, :, :] to %x_ref_rows[%slot, :, :, :] signal %x_ref_arrived[%slot] :
// CHECK: tile.get %x_ref_rows[%slot, :, 0, :]
func.func @rows(%ids: memref<512xi32>, %x: memref<9000x256xf32>) -> memref<512x256xf32> {
  %out = pallas.call @rows(%ids, %x) windows [<[512], (d0) -> (0), smem>, <[9000, 256], (d0) -> (0, 0), hbm>, <[128, 256], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<512xi32>, memref<9000x256xf32>) -> (memref<512x256xf32>) {
  ^bb0(%n_ref: !tile.ref<512 x i32, smem>, %x_ref: !tile.ref<9000 x 256 x f32, hbm>, %out_ref: !tile.ref<128 x 256 x f32, vmem>):
    tile.grid (%i: b0=128) in (512) {
      %n = tile.get %n_ref[%i] : !tile.ref<512 x i32, smem> -> !tile.tile<b0=128 x i32>
      %most = tile.full 8999 : !tile.tile<b0=128 x i32>
      %below = tile.minimum %n, %most : !tile.tile<b0=128 x i32>
      %v = tile.get %x_ref[%below, :] : !tile.ref<9000 x 256 x f32, hbm> -> !tile.tile<b0=128 x 256 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=128 x 256 x f32>, !tile.ref<128 x 256 x f32, vmem>
    }
  }
  func.return %out : memref<512x256xf32>
}
