func.func @rows(%x: memref<100000x0xbf16>, %at: memref<4096xi32>, %out: memref<4096x0xbf16>)
    attributes {tile.open = [#tile.open<b0>]} {
  tile.grid (%i: b0=31) in (4096) {
    %r = tile.load %at[%i] : memref<4096xi32> -> !tile.tile<b0=31 x i32>
    %v = tile.load %x[%r, :] : memref<100000x0xbf16> -> !tile.tile<b0=31 x 0 x bf16>
    tile.store %v, %out[%i, :] : !tile.tile<b0=31 x 0 x bf16>, memref<4096x0xbf16>
  }
  func.return
}
