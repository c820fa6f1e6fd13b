// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline{chip=v5p}' | filecheck %s

// A loop's next block arrives while this one is computed with: two buffers and two semaphores by turns. The first block
// is on its way in front of the loop, which is known to make a visit. Copies name no axis any more.
// CHECK: %x_ref_buffer: !tile.ref<2 x 8 x 128 x f32, vmem>, %x_ref_arrived: !tile.ref<2 x f32, semaphore>):
// CHECK-NEXT: tile.grid
// CHECK: %first = tile.whole 128
// CHECK: pallas.dma_start %x_ref[%i, %first] to %x_ref_buffer[{{%.+}}, :, :] signal %x_ref_arrived[{{%.+}}] : !tile.ref
// CHECK: tile.for %k
// CHECK: %slot = arith.andi
// CHECK: %more = arith.cmpi slt, %next_k_number,
// CHECK: scf.if %more {
// CHECK: %next = tile.shift %k by
// CHECK-NEXT: pallas.dma_start %x_ref[%i, %next] to %x_ref_buffer[%other_slot, :, :] signal %x_ref_arrived[%other_slot] : !tile.ref
// CHECK: pallas.dma_wait %x_ref[%i, %k] to %x_ref_buffer[%slot, :, :] signal %x_ref_arrived[%slot] : !tile.ref
// CHECK-NEXT: %v = tile.get %x_ref_buffer[%slot, :, :]
func.func @loop(%x: memref<64x512xf32>) -> memref<64xf32> {
  %out = pallas.call @loop(%x) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x512xf32>) -> (memref<64xf32>) {
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
