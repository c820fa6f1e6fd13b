// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline{chip=v6e}' | filecheck %s

// A loop of one visit has no next block, only a next cell: nothing is fetched from beyond the array.
// CHECK: tile.for %k
// CHECK-NOT: %more
// CHECK: scf.if %ahead {
// CHECK-NEXT: pallas.dma_start %x_ref[%next, {{%.+}}] to %x_ref_buffer[%other_slot, :, :] signal %x_ref_arrived[%other_slot]
// CHECK: pallas.dma_wait %x_ref[%i, %k] to %x_ref_buffer[%slot, :, :]
func.func @single(%x: memref<64x128xf32>) -> memref<64xf32> {
  %out = pallas.call @single(%x) windows [<[64, 128], (d0) -> (0, 0), hbm>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x128xf32>) -> (memref<64xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 128 x f32, hbm>, %out_ref: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 128) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
        %v = pallas.fetch %x_ref[%i, %k] ahead %k depth 2 : !tile.ref<64 x 128 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %t = tile.add %a, %s : !tile.tile<b0=8 x f32>
        tile.yield %t : !tile.tile<b0=8 x f32>
      }
      tile.put %r, %out_ref[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  func.return %out : memref<64xf32>
}
