// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline' | filecheck %s

// Where the blocks are is known in the loop only, and is the same in each of its visits: the first one fetches its own.
// CHECK: tile.for %k
// CHECK: %row = tile.extract %page
// CHECK: tile.when first(%k) {
// CHECK-NEXT: pallas.dma_start %x_ref[%row, %i, %k] to %x_ref_buffer[%slot, :, :] signal %x_ref_arrived[%slot]
// CHECK-NEXT: }
// CHECK: scf.if %more {
// CHECK: pallas.dma_start %x_ref[%row, %i, %next] to %x_ref_buffer[%other_slot, :, :]
// CHECK: pallas.dma_wait %x_ref[%row, %i, %k] to %x_ref_buffer[%slot, :, :]
func.func @first_visit(%x: memref<8x64x512xf32>, %n: memref<64xi32>) -> memref<64xf32> {
  %out = pallas.call @first_visit(%x, %n) windows [<[8, 64, 512], (d0) -> (0, 0, 0), hbm>, <[8], (d0) -> (d0), smem>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<8x64x512xf32>, memref<64xi32>) -> (memref<64xf32>) {
  ^bb0(%x_ref: !tile.ref<8 x 64 x 512 x f32, hbm>, %n_ref: !tile.ref<8 x i32, smem>, %out_ref: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %number = tile.get %n_ref[0] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
      %end = tile.extract %number : !tile.tile<i32> to index
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
        %page = tile.get %n_ref[3] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
        %row = tile.extract %page : !tile.tile<i32> to index
        %v = pallas.fetch %x_ref[%row, %i, %k] ahead %k depth 2 : !tile.ref<8 x 64 x 512 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %t = tile.add %a, %s : !tile.tile<b0=8 x f32>
        tile.yield %t : !tile.tile<b0=8 x f32>
      }
      tile.put %r, %out_ref[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  func.return %out : memref<64xf32>
}
