// RUN: kopt %s --verify-each --verify-diagnostics -p 'realise-dmas,software-pipeline{chip=v5p}' | filecheck %s

// Two cores share the cells, so none knows which cell comes next on its core.
// CHECK: semantics (parallel)
// CHECK: pallas.dma_start %w_ref[%at, :, :] to %w_ref_row_fetched[:, :] signal %w_ref_fetched[0] :
// CHECK-NEXT: pallas.dma_wait %w_ref[%at, :, :] to %w_ref_row_fetched[:, :] signal %w_ref_fetched[0] :
func.func @cores(%n: memref<16xi32>, %w: memref<4x8x128xf32>) -> memref<128x128xf32> {
  %out = pallas.call @cores(%n, %w) windows [<[16], (d0) -> (0), smem>, <[4, 8, 128], (d0) -> (0, 0, 0), hbm>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<16xi32>, memref<4x8x128xf32>) -> (memref<128x128xf32>) {
  ^bb0(%n_ref: !tile.ref<16 x i32, smem>, %w_ref: !tile.ref<4 x 8 x 128 x f32, hbm>, %out_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (128) {
      %id = tile.id %i : !tile.range<b0=8>
      %number = tile.get %n_ref[%id] : !tile.ref<16 x i32, smem> -> !tile.tile<i32>
      %at = tile.extract %number : !tile.tile<i32> to index
      // expected-remark @+1 {{a copy of 'w_ref' overlaps nothing: cores share the cells}}
      %v = pallas.fetch %w_ref[%at, :, :] ahead %i depth 2 : !tile.ref<4 x 8 x 128 x f32, hbm> -> !tile.tile<8 x 128 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %out : memref<128x128xf32>
}
