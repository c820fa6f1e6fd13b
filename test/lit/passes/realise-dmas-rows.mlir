// RUN: kopt %s --verify-each -p realise-dmas | filecheck %s

// Rows by numbers: these go to scalar memory, all copies are started before the first is waited for, and the buffer has
// a row of one element of the dimension that the numbers index, as memory is tiled there.
// CHECK: %out_ref: !tile.ref<8 x 256 x f32, vmem>, %x_ref_moved: !tile.ref<1 x i32, semaphore>, %x_ref_numbers_block: !tile.ref<8 x i32, vmem>, %x_ref_numbers: !tile.ref<8 x i32, smem>, %x_ref_rows: !tile.ref<8 x 1 x 256 x f32, vmem>):
// CHECK: %n = tile.get %n_ref[:]
// CHECK-NEXT: tile.put %n, %x_ref_numbers_block[:]
// CHECK-NEXT: pallas.dma_start %x_ref_numbers_block[:] to %x_ref_numbers[:] signal %x_ref_moved[0]
// CHECK-NEXT: pallas.dma_wait %x_ref_numbers_block[:] to %x_ref_numbers[:] signal %x_ref_moved[0]
// CHECK-NEXT: tile.for %r: {{b.}}=1 in (0, 8) {
// CHECK-NEXT: [[AT:%.+]] = tile.begin %r
// CHECK-NEXT: [[N:%.+]] = tile.get %x_ref_numbers[[[AT]]] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
// CHECK-NEXT: %row = tile.extract [[N]] : !tile.tile<i32> to index
// CHECK-NEXT: [[ONE:%.+]] = tile.whole 1
// CHECK-NEXT: [[ROW:%.+]] = tile.shift [[ONE]] by %row
// CHECK-NEXT: pallas.dma_start %x_ref[[[ROW]], :] to %x_ref_rows[[[AT]], :, :] signal %x_ref_moved[0] : !tile.ref<500 x 256 x f32, hbm>, !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: }
// CHECK-NEXT: pallas.dma_wait %x_ref_rows[:, :, :] to %x_ref_rows[:, :, :] signal %x_ref_moved[0]
// CHECK: %v = tile.get %x_ref_rows[:, 0, :] : !tile.ref<8 x 1 x 256 x f32, vmem> -> !tile.tile<b0=8 x 256 x f32>
// CHECK-NEXT: tile.put %v, %out_ref[:, :]
func.func @rows(%ids: memref<64xi32>, %x: memref<500x256xf32>) -> memref<64x256xf32> {
  %out = pallas.call @rows(%ids, %x) windows [<[8], (d0) -> (d0), vmem>, <[500, 256], (d0) -> (0, 0), hbm>, <[8, 256], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<64xi32>, memref<500x256xf32>) -> (memref<64x256xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %x_ref: !tile.ref<500 x 256 x f32, hbm>, %out_ref: !tile.ref<8 x 256 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %v = tile.get %x_ref[%n, :] : !tile.ref<500 x 256 x f32, hbm> -> !tile.tile<b0=8 x 256 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=8 x 256 x f32>, !tile.ref<8 x 256 x f32, vmem>
    }
  }
  func.return %out : memref<64x256xf32>
}

// Numbers in scalar memory are read where they stand: of a slice with a step, and of a block.
// CHECK-LABEL: func.func @steps
// CHECK-NEXT: %out = pallas.call @steps(%ids, %x) windows [<[64], (d0) -> (0), smem>, <[500, 256], (d0) -> (0, 0), hbm>, <[8, 256], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<64xi32>, memref<500x256xf32>) -> memref<8x256xf32> {
// CHECK-NEXT: ^bb0(%n_ref: !tile.ref<64 x i32, smem>, %x_ref: !tile.ref<500 x 256 x f32, hbm>, %out_ref: !tile.ref<8 x 256 x f32, vmem>, %x_ref_moved: !tile.ref<1 x i32, semaphore>, %x_ref_rows: !tile.ref<8 x 1 x 256 x f32, vmem>):
// CHECK-NEXT: tile.grid (%i: b0=1) in (1) {
// CHECK-NEXT: tile.for %r: b1=1 in (0, 8) {
// CHECK-NEXT: %0 = tile.begin %r : !tile.range<b1=1>
// CHECK-NEXT: %1 = arith.constant 3 : index
// CHECK-NEXT: %2 = arith.muli %0, %1 : index
// CHECK-NEXT: %3 = arith.constant 5 : index
// CHECK-NEXT: %4 = arith.addi %2, %3 : index
// CHECK-NEXT: %5 = tile.get %n_ref[%4] : !tile.ref<64 x i32, smem> -> !tile.tile<i32>
// CHECK-NEXT: %row = tile.extract %5 : !tile.tile<i32> to index
// CHECK-NEXT: %6 = tile.whole 1 : !tile.range<b2=1>
// CHECK-NEXT: %7 = tile.shift %6 by %row : !tile.range<b2=1>
// CHECK-NEXT: pallas.dma_start %x_ref[%7, :] to %x_ref_rows[%0, :, :] signal %x_ref_moved[0] : !tile.ref<500 x 256 x f32, hbm>, !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: }
// CHECK-NEXT: pallas.dma_wait %x_ref_rows[:, :, :] to %x_ref_rows[:, :, :] signal %x_ref_moved[0] : !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: %v = tile.get %x_ref_rows[:, 0, :] : !tile.ref<8 x 1 x 256 x f32, vmem> -> !tile.tile<8 x 256 x f32>
// CHECK-NEXT: tile.put %v, %out_ref[:, :] : !tile.tile<8 x 256 x f32>, !tile.ref<8 x 256 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out : memref<8x256xf32>
func.func @steps(%ids: memref<64xi32>, %x: memref<500x256xf32>) -> memref<8x256xf32> {
  %out = pallas.call @steps(%ids, %x) windows [<[64], (d0) -> (0), smem>, <[500, 256], (d0) -> (0, 0), hbm>, <[8, 256], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<64xi32>, memref<500x256xf32>) -> (memref<8x256xf32>) {
  ^bb0(%n_ref: !tile.ref<64 x i32, smem>, %x_ref: !tile.ref<500 x 256 x f32, hbm>, %out_ref: !tile.ref<8 x 256 x f32, vmem>):
    tile.grid (%i: b0=1) in (1) {
      %n = tile.get %n_ref[5:29:3] : !tile.ref<64 x i32, smem> -> !tile.tile<8 x i32>
      %v = tile.get %x_ref[%n, :] : !tile.ref<500 x 256 x f32, hbm> -> !tile.tile<8 x 256 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<8 x 256 x f32>, !tile.ref<8 x 256 x f32, vmem>
    }
  }
  func.return %out : memref<8x256xf32>
}
