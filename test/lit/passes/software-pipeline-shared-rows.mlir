// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline' | filecheck %s

// Only a block that has rows of others is brought before it is sent, as early as it is known from where, and when the
// block before is in memory. All others leave as blocks that are whole do.
// CHECK: tile.for %k
// CHECK: %shared = arith.cmpi sgt, %first,
// CHECK-NEXT: scf.if %shared {
// CHECK-NEXT: scf.if %later {
// CHECK: pallas.dma_wait %new_ref_buffer[%other_slot, :, :] to %new_ref_buffer[%other_slot, :, :]
// CHECK: pallas.dma_start %new_ref[%k, :] to %new_ref_old[:, :] signal %new_ref_fetched[0]
// CHECK-NEXT: }
// CHECK: %own = tile.ge
// CHECK-NEXT: scf.if %shared {
// CHECK-NEXT: pallas.dma_wait %new_ref[%k, :] to %new_ref_old[:, :] signal %new_ref_fetched[0]
// CHECK-NEXT: }
// CHECK-NEXT: [[OLD:%.+]] = tile.get %new_ref_old[:, :]
// CHECK-NEXT: %new = tile.select %own, %v, [[OLD]]
// CHECK-NEXT: tile.put %new, %new_ref_buffer[%slot, :, :]
// CHECK-NEXT: scf.if %later {
// CHECK-NEXT: scf.if %shared {
// CHECK-NEXT: } else {
// CHECK: pallas.dma_wait %new_ref_buffer[
// CHECK: pallas.dma_start %new_ref_buffer[%slot, :, :] to %new_ref[%k, :] signal %new_ref_sent[%slot]
func.func @shared_rows(%x: memref<64x128xf32>, %old: memref<512x128xf32>, %lo: memref<1xi32>) -> memref<512x128xf32> {
  %out = pallas.call @shared_rows(%x, %old, %lo) windows [<[64, 128], (d0) -> (0, 0), vmem>, <[512, 128], (d0) -> (0, 0), hbm>, <[1], (d0) -> (0), smem>, <[512, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [1] : (memref<64x128xf32>, memref<512x128xf32>, memref<1xi32>) -> (memref<512x128xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, vmem>, %old_ref: !tile.ref<512 x 128 x f32, hbm>, %lo_ref: !tile.ref<1 x i32, smem>, %new_ref: !tile.ref<512 x 128 x f32, hbm>):
    tile.grid (%i: b0=1) in (1) {
      %number = tile.get %lo_ref[0] : !tile.ref<1 x i32, smem> -> !tile.tile<i32>
      %first = tile.extract %number : !tile.tile<i32> to index
      tile.for %k: b1=64 in (0, 512) {
        %v = tile.get %x_ref[:, :] : !tile.ref<64 x 128 x f32, vmem> -> !tile.tile<b1=64 x 128 x f32>
        %lanes = tile.index %k : !tile.range<b1=64>
        %all = tile.broadcast %lanes dims [0] : !tile.tile<b1=64 x i32> to !tile.tile<b1=64 x 128 x i32>
        %from = tile.splat %first : index to !tile.tile<b1=64 x 128 x i32>
        %own = tile.ge %all, %from : !tile.tile<b1=64 x 128 x i32>
        pallas.send %v, %new_ref[%k, :] mask %own behind %k depth 2 : !tile.tile<b1=64 x 128 x f32>, !tile.ref<512 x 128 x f32, hbm>
      }
    }
  }
  func.return %out : memref<512x128xf32>
}
