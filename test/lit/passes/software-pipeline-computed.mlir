// RUN: kopt %s --verify-each -p 'realise-dmas,software-pipeline' | filecheck %s

// A loop that may make no visit fetches nothing then: its first block is on its way as soon as its bounds are known, if
// there is one.
// CHECK: %end = tile.extract %number
// CHECK: [[SOME:%.+]] = arith.cmpi sgt
// CHECK-NEXT: scf.if [[SOME]] {
// CHECK: pallas.dma_start %x_ref[%i, %first] to %x_ref_buffer[
// CHECK: }
// CHECK: tile.for %k: b1=128 in (0, %end)
// CHECK: %more = arith.cmpi slt, %next_k_number,
// CHECK: pallas.dma_wait %x_ref[%i, %k] to %x_ref_buffer[%slot, :, :]
func.func @computed(%x: memref<64x512xf32>, %n: memref<8xi32>) -> memref<64xf32> {
  %out = pallas.call @computed(%x, %n) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[8], (d0) -> (0), smem>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x512xf32>, memref<8xi32>) -> (memref<64xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 512 x f32, hbm>, %n_ref: !tile.ref<8 x i32, smem>, %out_ref: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %id = tile.id %i : !tile.range<b0=8>
      %number = tile.get %n_ref[%id] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
      %end = tile.extract %number : !tile.tile<i32> to index
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
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
