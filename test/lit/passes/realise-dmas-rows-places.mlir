// RUN: kopt %s --verify-each -p realise-dmas | filecheck %s

// A matrix of places has a loop a dimension; two numbers for each of them have memory of their own. The buffer has the
// places where the block has them, and each of its dimensions is as the DMA's: there is nothing to rearrange. A second
// access of the same form takes turns with the first one's memory.
// CHECK: %x_ref_moved: !tile.ref<1 x i32, semaphore>, %x_ref_numbers_block: !tile.ref<8 x 4 x i32, vmem>, %x_ref_numbers: !tile.ref<8 x 4 x i32, smem>, %x_ref_numbers_block_1: !tile.ref<8 x 4 x i32, vmem>, %x_ref_numbers_1: !tile.ref<8 x 4 x i32, smem>, %x_ref_rows: !tile.ref<3 x 8 x 4 x 1 x 256 x f32, vmem>):
// CHECK: tile.for %r:
// CHECK-NEXT: [[A:%.+]] = tile.begin %r
// CHECK-NEXT: tile.for %r_1:
// CHECK-NEXT: [[B:%.+]] = tile.begin %r_1
// CHECK-NEXT: tile.get %x_ref_numbers[[[A]], [[B]]]
// CHECK-NEXT: tile.get %x_ref_numbers_1[[[A]], [[B]]]
// CHECK-NEXT: [[M:%.+]] = tile.extract
// CHECK-NEXT: [[N:%.+]] = tile.extract
// CHECK: [[ROW:%.+]] = tile.shift {{%.+}} by [[N]]
// CHECK-NEXT: pallas.dma_start %x_ref[:, [[M]], [[ROW]], :] to %x_ref_rows[:, [[A]], [[B]], :, :]
// CHECK: pallas.dma_wait
// CHECK: %v = tile.get %x_ref_rows[:, :, :, 0, :] : !tile.ref<3 x 8 x 4 x 1 x 256 x f32, vmem> -> !tile.tile<3 x b0=8 x 4 x 256 x f32>
// CHECK: tile.put %m, %x_ref_numbers_block[
// CHECK: pallas.dma_start %x_ref[:, {{%.+}}, 5:6, :] to %x_ref_rows[:, {{%.+}}, {{%.+}}, :, :]
// CHECK: %w = tile.get %x_ref_rows[:, :, :, 0, :]
func.func @places(%ids: memref<64x4xi32>, %x: memref<3x50x60x256xf32>) -> memref<3x64x4x256xf32> {
  %out = pallas.call @places(%ids, %x) windows [<[8, 4], (d0) -> (d0, 0), vmem>, <[3, 50, 60, 256], (d0) -> (0, 0, 0, 0), hbm>, <[3, 8, 4, 256], (d0) -> (0, d0, 0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<64x4xi32>, memref<3x50x60x256xf32>) -> (memref<3x64x4x256xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x 4 x i32, vmem>, %x_ref: !tile.ref<3 x 50 x 60 x 256 x f32, hbm>, %out_ref: !tile.ref<3 x 8 x 4 x 256 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %n = tile.get %n_ref[:, :] : !tile.ref<8 x 4 x i32, vmem> -> !tile.tile<b0=8 x 4 x i32>
      %one = tile.full 1 : !tile.tile<b0=8 x 4 x i32>
      %m = tile.sub %n, %one : !tile.tile<b0=8 x 4 x i32>
      %v = tile.get %x_ref[:, %m, %n, :] : !tile.ref<3 x 50 x 60 x 256 x f32, hbm> -> !tile.tile<3 x b0=8 x 4 x 256 x f32>
      %w = tile.get %x_ref[:, %m, 5, :] : !tile.ref<3 x 50 x 60 x 256 x f32, hbm> -> !tile.tile<3 x b0=8 x 4 x 256 x f32>
      %sum = tile.add %v, %w : !tile.tile<3 x b0=8 x 4 x 256 x f32>
      tile.put %sum, %out_ref[:, :, :, :] : !tile.tile<3 x b0=8 x 4 x 256 x f32>, !tile.ref<3 x 8 x 4 x 256 x f32, vmem>
    }
  }
  func.return %out : memref<3x64x4x256xf32>
}
