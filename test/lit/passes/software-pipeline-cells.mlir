// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline{chip=v6e}' | filecheck %s

// What a cell asks for at a loaded number is fetched in the cell before, where the number can be loaded too.
// CHECK: semantics (arbitrary)
// CHECK: %w_ref_buffer: !tile.ref<2 x 8 x 128 x f32, vmem>, %w_ref_arrived: !tile.ref<2 x f32, semaphore>):
// CHECK: tile.when first(%i) {
// CHECK-NEXT: pallas.dma_start %w_ref[%at, :, :] to %w_ref_buffer[%slot, :, :] signal %w_ref_arrived[%slot]
// CHECK: scf.if %more {
// CHECK: %next_number = tile.get %n_ref[%next_cell]
// CHECK-NEXT: %next_at = tile.extract %next_number
// CHECK: pallas.dma_start %w_ref[%next_at, :, :] to %w_ref_buffer[%other_slot, :, :] signal %w_ref_arrived[%other_slot]
// CHECK: pallas.dma_wait %w_ref[%at, :, :] to %w_ref_buffer[%slot, :, :] signal %w_ref_arrived[%slot]
// CHECK-NEXT: %v = tile.get %w_ref_buffer[%slot, :, :]
func.func @cells(%n: memref<16xi32>, %w: memref<4x8x128xf32>) -> memref<128x128xf32> {
  %out = pallas.call @cells(%n, %w) windows [<[16], (d0) -> (0), smem>, <[4, 8, 128], (d0) -> (0, 0, 0), hbm>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<16xi32>, memref<4x8x128xf32>) -> (memref<128x128xf32>) {
  ^bb0(%n_ref: !tile.ref<16 x i32, smem>, %w_ref: !tile.ref<4 x 8 x 128 x f32, hbm>, %out_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (128) {
      %id = tile.id %i : !tile.range<b0=8>
      %number = tile.get %n_ref[%id] : !tile.ref<16 x i32, smem> -> !tile.tile<i32>
      %at = tile.extract %number : !tile.tile<i32> to index
      %v = pallas.fetch %w_ref[%at, :, :] ahead %i depth 2 : !tile.ref<4 x 8 x 128 x f32, hbm> -> !tile.tile<8 x 128 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %out : memref<128x128xf32>
}
