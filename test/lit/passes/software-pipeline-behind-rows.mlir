// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline{chip=v6e}' | filecheck %s

// Rows by numbers come in loops of their own, which compute nothing: the first block of the loop behind them is still
// fetched in the cell before.
// CHECK: semantics (arbitrary)
// CHECK: %x_ref_arrived: !tile.ref<2 x f32, semaphore>, %x_ref_turn: !tile.ref<1 x i32, smem>
// CHECK: tile.when first(%i) {
// CHECK: pallas.dma_start %x_ref[%i, %first] to %x_ref_buffer[
// CHECK: pallas.dma_start %table_ref[
// CHECK: pallas.dma_wait %table_ref_rows[
// CHECK: tile.for %k
// CHECK: scf.if %ahead {
// CHECK-NEXT: pallas.dma_start %x_ref[%next, {{%.+}}] to %x_ref_buffer[%other_slot, :, :] signal %x_ref_arrived[%other_slot]
func.func @behind_rows(%ids: memref<64xi32>, %table: memref<5000x128xf32>, %x: memref<64x512xf32>) -> memref<64xf32> {
  %out = pallas.call @behind_rows(%ids, %table, %x) windows [<[8], (d0) -> (d0), vmem>, <[5000, 128], (d0) -> (0, 0), hbm>, <[64, 512], (d0) -> (0, 0), hbm>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64xi32>, memref<5000x128xf32>, memref<64x512xf32>) -> (memref<64xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %table_ref: !tile.ref<5000 x 128 x f32, hbm>, %x_ref: !tile.ref<64 x 512 x f32, hbm>, %out_ref: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %rows = tile.get %table_ref[%n, :] : !tile.ref<5000 x 128 x f32, hbm> -> !tile.tile<b0=8 x 128 x f32>
      %z = tile.reduce add %rows [1] : !tile.tile<b0=8 x 128 x f32>
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
