builtin.module {
  func.func @same(%x: memref<16x128xf32>) -> memref<1x128xf32> {
    %new = pallas.call @same(%x) windows [<[1, 128], (d0) -> (d0, 0), vmem>, <[1, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<16x128xf32>) -> memref<1x128xf32> {
    ^bb0(%x_ref: !tile.ref<1 x 128 x f32, vmem>, %o: !tile.ref<1 x 128 x f32, vmem>):
      tile.grid (%i: b0=1) in (16) {
        %v = tile.get %x_ref[:, :] : !tile.ref<1 x 128 x f32, vmem> -> !tile.tile<b0=1 x 128 x f32>
        tile.put %v, %o[:, :] : !tile.tile<b0=1 x 128 x f32>, !tile.ref<1 x 128 x f32, vmem>
        tile.put %v, %o[:, :] : !tile.tile<b0=1 x 128 x f32>, !tile.ref<1 x 128 x f32, vmem>
      }
    }
    func.return %new : memref<1x128xf32>
  }
}
