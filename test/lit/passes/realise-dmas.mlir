// RUN: kopt %s --verify-each -p realise-dmas | filecheck %s

// A block that a loop fetches: a buffer, a semaphore, a copy that is started and waited for at once. Both ends keep the
// axis; nothing of a pipeline is there yet.
// CHECK: ^bb0(%x_ref: !tile.ref<64 x 512 x f32, hbm>, %out_ref: !tile.ref<8 x f32, vmem>, %x_ref_row_fetched: !tile.ref<8 x 128 x f32, vmem>, %x_ref_fetched: !tile.ref<1 x f32, semaphore>):
// CHECK: tile.for %k
// CHECK-NEXT: pallas.dma_start %x_ref[%i, %k] to %x_ref_row_fetched[:, :] signal %x_ref_fetched[0] along %k depth 2 : !tile.ref<64 x 512 x f32, hbm>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x f32, semaphore>
// CHECK-NEXT: pallas.dma_wait %x_ref[%i, %k] to %x_ref_row_fetched[:, :] signal %x_ref_fetched[0] along %k depth 2
// CHECK-NEXT: %v = tile.get %x_ref_row_fetched[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: tile.reduce add %v [1]
// CHECK-NOT: pallas.fetch
func.func @fetch(%x: memref<64x512xf32>) -> memref<64xf32> {
  %out = pallas.call @fetch(%x) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x512xf32>) -> (memref<64xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 512 x f32, hbm>, %out_ref: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 512) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
        %v = pallas.fetch %x_ref[%i, %k] ahead %k depth 2 : !tile.ref<64 x 512 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %t = tile.add %a, %s : !tile.tile<b0=8 x f32>
        tile.yield %t : !tile.tile<b0=8 x f32>
      }
      tile.put %r, %out_ref[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  func.return %out : memref<64xf32>
}
