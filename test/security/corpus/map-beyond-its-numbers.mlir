func.func @pages(%n: memref<8xi32>, %x: memref<8x8x128xf32>) -> memref<256x128xf32> {
  %new = pallas.call @pages(%n, %x) prefetched 1 windows [<[8], (d0) -> (0), smem>, <[_, 8, 128], (d0)[s0] -> (s0, 0, 0), vmem, [<load 0, (d0) -> (d0)>]>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<8xi32>, memref<8x8x128xf32>) -> (memref<256x128xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, smem>, %x_ref: !tile.ref<8 x 128 x f32, vmem>, %out_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (256) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %new : memref<256x128xf32>
}
