builtin.module {
  func.func @masked(%x: memref<3x128xf32>, %old: memref<512x128xf32>, %lo: memref<1xi32>) -> memref<512x128xf32> {
    %out = pallas.call @masked(%x, %old, %lo) windows [<[3, 128], (d0) -> (0, 0), vmem>, <[512, 128], (d0) -> (0, 0), hbm>, <[1], (d0) -> (0), smem>, <[512, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [1] : (memref<3x128xf32>, memref<512x128xf32>, memref<1xi32>) -> memref<512x128xf32> {
    ^bb0(%x_ref: !tile.ref<3 x 128 x f32, vmem>, %old_ref: !tile.ref<512 x 128 x f32, hbm>, %lo_ref: !tile.ref<1 x i32, smem>, %new_ref: !tile.ref<512 x 128 x f32, hbm>):
      tile.grid (%i: b0=1) in (1) {
        %number = tile.get %lo_ref[0] : !tile.ref<1 x i32, smem> -> !tile.tile<i32>
        %first = tile.extract %number : !tile.tile<i32> to index
        tile.for %k: b1=3 in (0, 512) {
          %v = tile.get %x_ref[:, :] : !tile.ref<3 x 128 x f32, vmem> -> !tile.tile<b1=3 x 128 x f32>
          %lanes = tile.index %k : !tile.range<b1=3>
          %from = tile.splat %first : index to !tile.tile<b1=3 x 128 x i32>
          %own = tile.ge %from, %from : !tile.tile<b1=3 x 128 x i32>
          pallas.send %v, %new_ref[%k, :] mask %own behind %k depth 2 : !tile.tile<b1=3 x 128 x f32>, !tile.ref<512 x 128 x f32, hbm>
        }
      }
    }
    func.return %out : memref<512x128xf32>
  }
}
