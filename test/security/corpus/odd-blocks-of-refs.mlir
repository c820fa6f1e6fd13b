func.func @rows(%x: memref<512x256xf32>) -> memref<512x256xf32> {
  %out = pallas.call @rows(%x) windows [<[5, 256], (d0) -> (d0, 0), vmem>, <[5, 256], (d0) -> (d0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<512x256xf32>) -> memref<512x256xf32> {
  ^bb0(%x_ref: !tile.ref<5 x 256 x f32, vmem>, %out_ref: !tile.ref<5 x 256 x f32, vmem>):
    tile.grid (%i: b0=5) in (512) {
      %v = tile.get %x_ref[:, :] : !tile.ref<5 x 256 x f32, vmem> -> !tile.tile<b0=5 x 256 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<b0=5 x 256 x f32>, !tile.ref<5 x 256 x f32, vmem>
    }
  }
  func.return %out : memref<512x256xf32>
}
