// RUN: kopt %s --split-input-file --verify-each -p 'elide-bounds-checks' | filecheck %s

// Row numbers that are clamped to the array are inside of it, whatever is loaded.
// CHECK: pallas.call @clamped({{.+}} aliases [-1] unchecked :
func.func @clamped(%ids: memref<512xi32>, %x: memref<9000x256xf32>) -> memref<512x256xf32> {
  %out = pallas.call @clamped(%ids, %x) windows [<[512], (d0) -> (0), smem>, <[9000, 256], (d0) -> (0, 0), hbm>, <[128, 256], (d0) -> (d0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<512xi32>, memref<9000x256xf32>) -> (memref<512x256xf32>) {
  ^bb0(%n_ref: !tile.ref<512 x i32, smem>, %x_ref: !tile.ref<9000 x 256 x f32, hbm>, %out_ref: !tile.ref<128 x 256 x f32, vmem>, %moved: !tile.ref<1 x i32, semaphore>, %rows: !tile.ref<128 x 1 x 256 x f32, vmem>):
    tile.grid (%i: b0=128) in (512) {
      %first = tile.begin %i : !tile.range<b0=128>
      tile.for %r: b1=1 in (0, 128) {
        %lane = tile.begin %r : !tile.range<b1=1>
        %at = arith.addi %first, %lane : index
        %n = tile.get %n_ref[%at] : !tile.ref<512 x i32, smem> -> !tile.tile<i32>
        %most = tile.full 8999 : !tile.tile<i32>
        %least = tile.full 0 : !tile.tile<i32>
        %below = tile.minimum %n, %most : !tile.tile<i32>
        %clamped = tile.maximum %below, %least : !tile.tile<i32>
        %row = tile.extract %clamped : !tile.tile<i32> to index
        %one = tile.whole 1 : !tile.range<b2=1>
        %here = tile.shift %one by %row : !tile.range<b2=1>
        pallas.dma_start %x_ref[%here, :] to %rows[%lane, :, :] signal %moved[0] : !tile.ref<9000 x 256 x f32, hbm>, !tile.ref<128 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
      }
      pallas.dma_wait %rows[:, :, :] to %rows[:, :, :] signal %moved[0] : !tile.ref<128 x 1 x 256 x f32, vmem>, !tile.ref<128 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
      %v = tile.get %rows[:, 0, :] : !tile.ref<128 x 1 x 256 x f32, vmem> -> !tile.tile<b0=128 x 256 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=128 x 256 x f32>, !tile.ref<128 x 256 x f32, vmem>
    }
  }
  func.return %out : memref<512x256xf32>
}

// -----

// A loaded number alone may be anything.
// CHECK: pallas.call @loaded({{.+}} aliases [-1] :
func.func @loaded(%ids: memref<512xi32>, %x: memref<9000x256xf32>) -> memref<512x256xf32> {
  %out = pallas.call @loaded(%ids, %x) windows [<[512], (d0) -> (0), smem>, <[9000, 256], (d0) -> (0, 0), hbm>, <[128, 256], (d0) -> (d0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<512xi32>, memref<9000x256xf32>) -> (memref<512x256xf32>) {
  ^bb0(%n_ref: !tile.ref<512 x i32, smem>, %x_ref: !tile.ref<9000 x 256 x f32, hbm>, %out_ref: !tile.ref<128 x 256 x f32, vmem>, %moved: !tile.ref<1 x i32, semaphore>, %rows: !tile.ref<128 x 1 x 256 x f32, vmem>):
    tile.grid (%i: b0=128) in (512) {
      tile.for %r: b1=1 in (0, 128) {
        %lane = tile.begin %r : !tile.range<b1=1>
        %n = tile.get %n_ref[%lane] : !tile.ref<512 x i32, smem> -> !tile.tile<i32>
        %row = tile.extract %n : !tile.tile<i32> to index
        %one = tile.whole 1 : !tile.range<b2=1>
        %here = tile.shift %one by %row : !tile.range<b2=1>
        pallas.dma_start %x_ref[%here, :] to %rows[%lane, :, :] signal %moved[0] : !tile.ref<9000 x 256 x f32, hbm>, !tile.ref<128 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
      }
      pallas.dma_wait %rows[:, :, :] to %rows[:, :, :] signal %moved[0] : !tile.ref<128 x 1 x 256 x f32, vmem>, !tile.ref<128 x 1 x 256 x f32, vmem>, !tile.ref<1 x i32, semaphore>
      %v = tile.get %rows[:, 0, :] : !tile.ref<128 x 1 x 256 x f32, vmem> -> !tile.tile<b0=128 x 256 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=128 x 256 x f32>, !tile.ref<128 x 256 x f32, vmem>
    }
  }
  func.return %out : memref<512x256xf32>
}
