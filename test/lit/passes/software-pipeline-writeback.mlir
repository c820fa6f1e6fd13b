// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline' | filecheck %s

// A visit's block leaves while the next visit computes, which waits for it before it sends its own; behind the loop the
// last one is waited for. A wait counts bytes, wherever they went.
// CHECK: %new_ref_buffer: !tile.ref<2 x 64 x 128 x f32, vmem>, %new_ref_sent: !tile.ref<2 x f32, semaphore>):
// CHECK: tile.for %k
// CHECK: %later = arith.cmpi sgt
// CHECK: tile.put %v, %new_ref_buffer[%slot, :, :]
// CHECK-NEXT: scf.if %later {
// CHECK: pallas.dma_wait %new_ref_buffer[%other_slot, :, :] to %new_ref_buffer[%other_slot, :, :] signal %new_ref_sent[%other_slot]
// CHECK-NEXT: }
// CHECK-NEXT: pallas.dma_start %new_ref_buffer[%slot, :, :] to %new_ref[%k, :] signal %new_ref_sent[%slot]
// CHECK-NEXT: }
// CHECK: [[ONE:%.+]] = arith.constant 1 : index
// CHECK-NEXT: %last = arith.subi {{%.+}}, [[ONE]] : index
// CHECK: pallas.dma_wait %new_ref_buffer[%last_slot, :, :] to %new_ref_buffer[%last_slot, :, :] signal %new_ref_sent[%last_slot]
func.func @writeback(%x: memref<64x128xf32>, %old: memref<512x128xf32>) -> memref<512x128xf32> {
  %out = pallas.call @writeback(%x, %old) windows [<[64, 128], (d0) -> (0, 0), vmem>, <[512, 128], (d0) -> (0, 0), hbm>, <[512, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [1] : (memref<64x128xf32>, memref<512x128xf32>) -> (memref<512x128xf32>) {
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
