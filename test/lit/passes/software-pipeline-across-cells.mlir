// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline{chip=v6e}' | filecheck %s
// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline{chip=v5p}' | filecheck %s --check-prefix=SHARED

// One core runs the cells one after the other: the next cell's first block arrives in this one's last visit. Whose turn
// it is of the two buffers stands in scalar memory, right behind them.
// CHECK: semantics (arbitrary)
// CHECK: %x_ref_arrived: !tile.ref<2 x f32, semaphore>, %x_ref_turn: !tile.ref<1 x i32, smem>):
// CHECK: tile.when first(%i) {
// CHECK: tile.put {{%.+}}, %x_ref_turn[0]
// CHECK: pallas.dma_start %x_ref[%i, %first] to %x_ref_buffer[
// CHECK: %next_cell = arith.minsi
// CHECK: %next = tile.shift %i by
// CHECK: scf.if %idle {
// CHECK: tile.for %k
// CHECK: scf.if %more {
// CHECK: scf.if %more {
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.if %ahead {
// CHECK-NEXT: pallas.dma_start %x_ref[%next, {{%.+}}] to %x_ref_buffer[%other_slot, :, :] signal %x_ref_arrived[%other_slot]
// CHECK: pallas.dma_wait %x_ref[%i, %k] to %x_ref_buffer[%slot, :, :]
// CHECK: tile.put {{%.+}}, %x_ref_turn[0]

// Two cores share them: each cell begins on its own.
// SHARED: semantics (parallel)
// SHARED-NOT: x_ref_turn
func.func @across(%x: memref<64x512xf32>) -> memref<64xf32> {
  %out = pallas.call @across(%x) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x512xf32>) -> (memref<64xf32>) {
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
