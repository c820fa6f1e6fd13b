// RUN: kopt %s --verify-each -p realise-dmas | filecheck %s

// A whole block: it is put into a buffer, and is in HBM before anything else happens.
// CHECK: %new_ref_row_sent: !tile.ref<64 x 128 x f32, vmem>, %new_ref_sent: !tile.ref<1 x f32, semaphore>):
// CHECK: %v = tile.get %x_ref[:, :]
// CHECK-NEXT: tile.put %v, %new_ref_row_sent[:, :] : !tile.tile<b1=64 x 128 x f32>, !tile.ref<64 x 128 x f32, vmem>
// CHECK-NEXT: pallas.dma_start %new_ref_row_sent[:, :] to %new_ref[%k, :] signal %new_ref_sent[0] along %k depth 2
// CHECK-NEXT: pallas.dma_wait %new_ref_row_sent[:, :] to %new_ref[%k, :] signal %new_ref_sent[0] along %k depth 2
func.func @send(%x: memref<64x128xf32>, %old: memref<512x128xf32>) -> memref<512x128xf32> {
  %out = pallas.call @send(%x, %old) windows [<[64, 128], (d0) -> (0, 0), vmem>, <[512, 128], (d0) -> (0, 0), hbm>, <[512, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [1] : (memref<64x128xf32>, memref<512x128xf32>) -> (memref<512x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, vmem>, %old_ref: !tile.ref<512 x 128 x f32, hbm>, %new_ref: !tile.ref<512 x 128 x f32, hbm>):
    tile.grid (%i: b0=1) in (1) {
      tile.for %k: b1=64 in (0, 512) {
        %v = tile.get %x_ref[:, :] : !tile.ref<64 x 128 x f32, vmem> -> !tile.tile<b1=64 x 128 x f32>
        pallas.send %v, %new_ref[%k, :] behind %k depth 2 : !tile.tile<b1=64 x 128 x f32>, !tile.ref<512 x 128 x f32, hbm>
      }
    }
  }
  func.return %out : memref<512x128xf32>
}
