builtin.module {
  func.func @condition(%n: memref<16xi32>, %w: memref<4x3x1000xf32>) -> memref<1000x1000xf32> {
    %out = pallas.call @condition(%n, %w) windows [<[16], (d0) -> (0), smem>, <[4, 3, 1000], (d0) -> (0, 0, 0), hbm>, <[3, 1000], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<16xi32>, memref<4x3x1000xf32>) -> memref<1000x1000xf32> {
    ^bb0(%n_ref: !tile.ref<16 x i32, smem>, %w_ref: !tile.ref<4 x 3 x 1000 x f32, hbm>, %out_ref: !tile.ref<3 x 1000 x f32, vmem>):
      tile.grid (%i: b0=3) in (1000) {
        %id = tile.id %i : !tile.range<b0=3>
        %number = tile.get %n_ref[%id] : !tile.ref<16 x i32, smem> -> !tile.tile<i32>
        tile.when first(%i) {
          %at = tile.extract %number : !tile.tile<i32> to index
          %v = pallas.fetch %w_ref[%at, :, :] ahead %i depth 2 : !tile.ref<4 x 3 x 1000 x f32, hbm> -> !tile.tile<3 x 1000 x f32>
          tile.put %v, %out_ref[:, :] : !tile.tile<3 x 1000 x f32>, !tile.ref<3 x 1000 x f32, vmem>
        }
      }
    }
    func.return %out : memref<1000x1000xf32>
  }
}
