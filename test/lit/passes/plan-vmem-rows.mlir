// RUN: kopt %s --verify-each -p 'plan-vmem{chip=v6e}' | filecheck %s

// The buffer of rows that DMAs bring by their numbers counts, as other scratch memory: 4096 rows, each no more than itself.
// CHECK: pallas.call @rows({{.+}} aliases [-1] vmem_limit 75530240 :
func.func @rows(%ids: memref<4096xi32>, %x: memref<9000x2048xf32>) -> memref<4096x8xf32> {
  %out = pallas.call @rows(%ids, %x) windows [<[4096], (d0) -> (d0), vmem>, <[9000, 2048], (d0) -> (0, 0), hbm>, <[4096, 8], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<4096xi32>, memref<9000x2048xf32>) -> (memref<4096x8xf32>) {
  ^bb0(%n_ref: !tile.ref<4096 x i32, vmem>, %x_ref: !tile.ref<9000 x 2048 x f32, hbm>, %out_ref: !tile.ref<4096 x 8 x f32, vmem>, %numbers: !tile.ref<4096 x i32, smem>, %rows: !tile.ref<4096 x 1 x 2048 x f32, vmem>, %moved: !tile.ref<1 x i32, semaphore>):
    tile.grid (%i: b0=4096) in (4096) {
      tile.for %r: b1=1 in (0, 4096) {
        %at = tile.begin %r : !tile.range<b1=1>
        %n = tile.get %numbers[%at] : !tile.ref<4096 x i32, smem> -> !tile.tile<i32>
        %row = tile.extract %n : !tile.tile<i32> to index
        %one = tile.whole 1 : !tile.range<b2=1>
        %here = tile.shift %one by %row : !tile.range<b2=1>
        pallas.dma_start %x_ref[%here, :] to %rows[%at, :, :] signal %moved[0] : !tile.ref<9000 x 2048 x f32, hbm>, !tile.ref<4096 x 1 x 2048 x f32, vmem>, !tile.ref<1 x i32, semaphore>
        pallas.dma_wait %x_ref[%here, :] to %rows[%at, :, :] signal %moved[0] : !tile.ref<9000 x 2048 x f32, hbm>, !tile.ref<4096 x 1 x 2048 x f32, vmem>, !tile.ref<1 x i32, semaphore>
      }
      %z = tile.full 0.0 : !tile.tile<b0=4096 x 8 x f32>
      tile.put %z, %out_ref[:, :] : !tile.tile<b0=4096 x 8 x f32>, !tile.ref<4096 x 8 x f32, vmem>
    }
  }
  func.return %out : memref<4096x8xf32>
}
