func.func @kept(%x: memref<16x4096xbf16>, %m: memref<16x4096xi1>) -> memref<4096x16xbf16> {
  %new = pallas.call @kept(%x, %m) windows [<[8, 4096], (d0) -> (d0, 0), vmem>, <[8, 4096], (d0) -> (d0, 0), vmem>, <[4096, 8], (d0) -> (0, d0), vmem>] semantics (arbitrary) aliases [-1] : (memref<16x4096xbf16>, memref<16x4096xi1>) -> memref<4096x16xbf16> {
  ^bb0(%x_ref: !tile.ref<8 x 4096 x bf16, vmem>, %m_ref: !tile.ref<8 x 4096 x i1, vmem>, %o: !tile.ref<4096 x 8 x bf16, vmem>):
    tile.grid (%i: b0=8) in (16) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 4096 x bf16, vmem> -> !tile.tile<b0=8 x 4096 x bf16>
      %c = tile.get %m_ref[:, :] : !tile.ref<8 x 4096 x i1, vmem> -> !tile.tile<b0=8 x 4096 x i1>
      %b = tile.get %o[:, :] : !tile.ref<4096 x 8 x bf16, vmem> -> !tile.tile<4096 x b0=8 x bf16>
      %bw = tile.cast %b : !tile.tile<4096 x b0=8 x bf16> to !tile.tile<4096 x b0=8 x index>
      %bt = tile.transpose %bw [1, 0] : !tile.tile<4096 x b0=8 x index>
      %vw = tile.cast %v : !tile.tile<b0=8 x 4096 x bf16> to !tile.tile<b0=8 x 4096 x index>
      %n = tile.select %c, %vw, %bt : !tile.tile<b0=8 x 4096 x index>
      %nn = tile.cast %n : !tile.tile<b0=8 x 4096 x index> to !tile.tile<b0=8 x 4096 x bf16>
      %nt = tile.transpose %nn [1, 0] : !tile.tile<b0=8 x 4096 x bf16>
      tile.put %nt, %o[:, :] : !tile.tile<4096 x b0=8 x bf16>, !tile.ref<4096 x 8 x bf16, vmem>
    }
  }
  func.return %new : memref<4096x16xbf16>
}
