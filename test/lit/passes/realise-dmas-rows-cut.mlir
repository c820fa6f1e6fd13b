// RUN: kopt %s --split-input-file --verify-each -p realise-dmas | filecheck %s

// A block that does not divide its dimension: rows come whole, and the lanes behind their end are 0.
// CHECK: %x_ref_rows: !tile.ref<8 x 1 x 200 x f32, vmem>
// CHECK: pallas.dma_start %x_ref[{{%.+}}, :] to %x_ref_rows[{{%.+}}, :, :]
// CHECK: [[ROWS:%.+]] = tile.get %x_ref_rows[:, 0, :] : !tile.ref<8 x 1 x 200 x f32, vmem> -> !tile.tile<b0=8 x 200 x f32>
// CHECK: [[ZERO:%.+]] = tile.full 0.0 : !tile.tile<b0=8 x 56 x f32>
// CHECK: [[WIDE:%.+]] = tile.concat [[ROWS]], [[ZERO]] dim 1
// CHECK: [[FROM:%.+]] = tile.begin %j
// CHECK: %v = tile.dynamic_slice [[WIDE]] from [[FROM]] dim 1 : !tile.tile<b0=8 x 256 x f32> to !tile.tile<b0=8 x b1=128 x f32>
func.func @ragged(%ids: memref<64xi32>, %x: memref<500x200xf32>) -> memref<64x200xf32> {
  %out = pallas.call @ragged(%ids, %x) windows [<[8], (d0, d1) -> (d0), vmem>, <[500, 200], (d0, d1) -> (0, 0), hbm>, <[8, 128], (d0, d1) -> (d0, d1), vmem>] semantics (parallel, parallel) aliases [-1] : (memref<64xi32>, memref<500x200xf32>) -> (memref<64x200xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %x_ref: !tile.ref<500 x 200 x f32, hbm>, %out_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128) in (64, 200) {
      %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %v = tile.get %x_ref[%n, %j] : !tile.ref<500 x 200 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %out : memref<64x200xf32>
}

// -----

// Blocks of whole tiles that divide it come alone.
// CHECK: %x_ref_rows: !tile.ref<8 x 1 x 128 x f32, vmem>
// CHECK: pallas.dma_start %x_ref[{{%.+}}, %j] to %x_ref_rows[{{%.+}}, :, :]
// CHECK: %v = tile.get %x_ref_rows[:, 0, :] : !tile.ref<8 x 1 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NOT: tile.dynamic_slice
func.func @divides(%ids: memref<64xi32>, %x: memref<500x256xf32>) -> memref<64x256xf32> {
  %out = pallas.call @divides(%ids, %x) windows [<[8], (d0, d1) -> (d0), vmem>, <[500, 256], (d0, d1) -> (0, 0), hbm>, <[8, 128], (d0, d1) -> (d0, d1), vmem>] semantics (parallel, parallel) aliases [-1] : (memref<64xi32>, memref<500x256xf32>) -> (memref<64x256xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %x_ref: !tile.ref<500 x 256 x f32, hbm>, %out_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128) in (64, 256) {
      %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %v = tile.get %x_ref[%n, %j] : !tile.ref<500 x 256 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %out : memref<64x256xf32>
}

// -----

// A block that begins anywhere may reach beyond the last tile: so many lanes more are there to be cut from.
// CHECK: %x_ref_rows: !tile.ref<8 x 1 x 256 x f32, vmem>
// CHECK: [[WIDE:%.+]] = tile.concat {{%.+}} dim 1 : !tile.tile<b0=8 x 256 x f32>, !tile.tile<b0=8 x 128 x f32> to
// CHECK: [[FROM:%.+]] = tile.begin %j
// CHECK: %v = tile.dynamic_slice [[WIDE]] from [[FROM]] dim 1 : !tile.tile<b0=8 x 384 x f32> to !tile.tile<b0=8 x b1=64 x f32>
func.func @anywhere(%ids: memref<64xi32>, %at: memref<1xi32>, %x: memref<500x256xf32>) -> memref<64x64xf32> {
  %out = pallas.call @anywhere(%ids, %at, %x) windows [<[8], (d0) -> (d0), vmem>, <[1], (d0) -> (0), smem>, <[500, 256], (d0) -> (0, 0), hbm>, <[8, 64], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<64xi32>, memref<1xi32>, memref<500x256xf32>) -> (memref<64x64xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %at_ref: !tile.ref<1 x i32, smem>, %x_ref: !tile.ref<500 x 256 x f32, hbm>, %out_ref: !tile.ref<8 x 64 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %number = tile.get %at_ref[0] : !tile.ref<1 x i32, smem> -> !tile.tile<i32>
      %first = tile.extract %number : !tile.tile<i32> to index
      %first64 = tile.whole 64 : !tile.range<b1=64>
      %j = tile.shift %first64 by %first : !tile.range<b1=64>
      %v = tile.get %x_ref[%n, %j] : !tile.ref<500 x 256 x f32, hbm> -> !tile.tile<b0=8 x b1=64 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=8 x b1=64 x f32>, !tile.ref<8 x 64 x f32, vmem>
    }
  }
  func.return %out : memref<64x64xf32>
}

// -----

// Of slices those of whole tiles come alone; steps are taken on the chip.
// CHECK: %x_ref_rows: !tile.ref<8 x 4 x 16 x 256 x f32, vmem>
// CHECK: pallas.dma_start %x_ref[%row, 1:5, 8:24, :] to %x_ref_rows[{{%.+}}, :, :, :]
// CHECK: tile.slice {{%.+}} [0, 0, 0, 3] [8, 4, 16, 100] [1, 1, 1, 2]
func.func @slices(%ids: memref<64xi32>, %x: memref<50x6x32x256xf32>) -> memref<64x4x16x100xf32> {
  %out = pallas.call @slices(%ids, %x) windows [<[8], (d0) -> (d0), vmem>, <[50, 6, 32, 256], (d0) -> (0, 0, 0, 0), hbm>, <[8, 4, 16, 100], (d0) -> (d0, 0, 0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<64xi32>, memref<50x6x32x256xf32>) -> (memref<64x4x16x100xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %x_ref: !tile.ref<50 x 6 x 32 x 256 x f32, hbm>, %out_ref: !tile.ref<8 x 4 x 16 x 100 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %v = tile.get %x_ref[%n, 1:5, 8:24, 3:203:2] : !tile.ref<50 x 6 x 32 x 256 x f32, hbm> -> !tile.tile<b0=8 x 4 x 16 x 100 x f32>
      tile.put %v, %out_ref[:, :, :, :] : !tile.tile<b0=8 x 4 x 16 x 100 x f32>, !tile.ref<8 x 4 x 16 x 100 x f32, vmem>
    }
  }
  func.return %out : memref<64x4x16x100xf32>
}

// -----

// Narrow blocks that divide it are cut out of whole rows as these are, and so are slices.
// CHECK-LABEL: func.func @narrow
// CHECK-NEXT: %out = pallas.call @narrow(%ids, %x) windows [<[8], (d0, d1) -> (d0), vmem>, <[500, 256], (d0, d1) -> (0, 0), hbm>, <[8, 64], (d0, d1) -> (d0, d1), vmem>] semantics (parallel, parallel) aliases [-1] : (memref<64xi32>, memref<500x256xf32>) -> memref<64x256xf32> {
// CHECK-NEXT: ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %x_ref: !tile.ref<500 x 256 x f32, hbm>, %out_ref: !tile.ref<8 x 64 x f32, vmem>, %x_ref_moved: !tile.ref<1 x i32, semaphore>, %x_ref_numbers_block: !tile.ref<8 x i32, vmem>, %x_ref_numbers: !tile.ref<8 x i32, smem>, %x_ref_rows: !tile.ref<8 x 1 x 256 x f32, vmem>):
// CHECK-NEXT: tile.grid (%i: b0=8, %j: b1=64) in (64, 256) {
// CHECK-NEXT: %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
// CHECK-NEXT: tile.put %n, %x_ref_numbers_block[:] : !tile.tile<b0=8 x i32>, !tile.ref<8 x i32, vmem>
// CHECK-NEXT: pallas.dma_start %x_ref_numbers_block[:] to %x_ref_numbers[:] signal %x_ref_moved[0] : !tile.ref<8 x i32, vmem>, !tile.ref<8 x i32, smem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: pallas.dma_wait %x_ref_numbers_block[:] to %x_ref_numbers[:] signal %x_ref_moved[0] : !tile.ref<8 x i32, vmem>, !tile.ref<8 x i32, smem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: tile.for %r: b2=1 in (0, 8) {
// CHECK-NEXT: %0 = tile.begin %r : !tile.range<b2=1>
// CHECK-NEXT: %1 = tile.get %x_ref_numbers[%0] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
// CHECK-NEXT: %row = tile.extract %1 : !tile.tile<i32> to index
// CHECK-NEXT: %2 = tile.whole 1 : !tile.range<b3=1>
// CHECK-NEXT: %3 = tile.shift %2 by %row : !tile.range<b3=1>
// CHECK-NEXT: pallas.dma_start %x_ref[%3, :] to %x_ref_rows[%0, :, :] signal %x_ref_moved[0] : !tile.ref<500 x 256 x f32, hbm>, !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: }
// CHECK-NEXT: pallas.dma_wait %x_ref_rows[:, :, :] to %x_ref_rows[:, :, :] signal %x_ref_moved[0] : !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: %4 = tile.get %x_ref_rows[:, 0, :] : !tile.ref<8 x 1 x 256 x f32, vmem> -> !tile.tile<b0=8 x 256 x f32>
// CHECK-NEXT: %5 = tile.begin %j : !tile.range<b1=64>
// CHECK-NEXT: %v = tile.dynamic_slice %4 from %5 dim 1 : !tile.tile<b0=8 x 256 x f32> to !tile.tile<b0=8 x b1=64 x f32>
// CHECK-NEXT: tile.put %n, %x_ref_numbers_block[:] : !tile.tile<b0=8 x i32>, !tile.ref<8 x i32, vmem>
// CHECK-NEXT: pallas.dma_start %x_ref_numbers_block[:] to %x_ref_numbers[:] signal %x_ref_moved[0] : !tile.ref<8 x i32, vmem>, !tile.ref<8 x i32, smem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: pallas.dma_wait %x_ref_numbers_block[:] to %x_ref_numbers[:] signal %x_ref_moved[0] : !tile.ref<8 x i32, vmem>, !tile.ref<8 x i32, smem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: tile.for %r_1: b4=1 in (0, 8) {
// CHECK-NEXT: %6 = tile.begin %r_1 : !tile.range<b4=1>
// CHECK-NEXT: %7 = tile.get %x_ref_numbers[%6] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
// CHECK-NEXT: %row_1 = tile.extract %7 : !tile.tile<i32> to index
// CHECK-NEXT: %8 = tile.whole 1 : !tile.range<b5=1>
// CHECK-NEXT: %9 = tile.shift %8 by %row_1 : !tile.range<b5=1>
// CHECK-NEXT: pallas.dma_start %x_ref[%9, :] to %x_ref_rows[%6, :, :] signal %x_ref_moved[0] : !tile.ref<500 x 256 x f32, hbm>, !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: }
// CHECK-NEXT: pallas.dma_wait %x_ref_rows[:, :, :] to %x_ref_rows[:, :, :] signal %x_ref_moved[0] : !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<8 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
// CHECK-NEXT: %10 = tile.get %x_ref_rows[:, 0, :] : !tile.ref<8 x 1 x 256 x f32, vmem> -> !tile.tile<b0=8 x 256 x f32>
// CHECK-NEXT: %w = tile.slice %10 [0, 3] [8, 64] [1, 3] : !tile.tile<b0=8 x 256 x f32> to !tile.tile<b0=8 x 64 x f32>
// CHECK-NEXT: tile.put %v, %out_ref[:, :] : !tile.tile<b0=8 x b1=64 x f32>, !tile.ref<8 x 64 x f32, vmem>
// CHECK-NEXT: tile.put %w, %out_ref[:, :] : !tile.tile<b0=8 x 64 x f32>, !tile.ref<8 x 64 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out : memref<64x256xf32>
func.func @narrow(%ids: memref<64xi32>, %x: memref<500x256xf32>) -> memref<64x256xf32> {
  %out = pallas.call @narrow(%ids, %x) windows [<[8], (d0, d1) -> (d0), vmem>, <[500, 256], (d0, d1) -> (0, 0), hbm>, <[8, 64], (d0, d1) -> (d0, d1), vmem>] semantics (parallel, parallel) aliases [-1] : (memref<64xi32>, memref<500x256xf32>) -> (memref<64x256xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %x_ref: !tile.ref<500 x 256 x f32, hbm>, %out_ref: !tile.ref<8 x 64 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=64) in (64, 256) {
      %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %v = tile.get %x_ref[%n, %j] : !tile.ref<500 x 256 x f32, hbm> -> !tile.tile<b0=8 x b1=64 x f32>
      %w = tile.get %x_ref[%n, 3:195:3] : !tile.ref<500 x 256 x f32, hbm> -> !tile.tile<b0=8 x 64 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=8 x b1=64 x f32>, !tile.ref<8 x 64 x f32, vmem>
      tile.put %w, %out_ref[:, :] : !tile.tile<b0=8 x 64 x f32>, !tile.ref<8 x 64 x f32, vmem>
    }
  }
  func.return %out : memref<64x256xf32>
}
