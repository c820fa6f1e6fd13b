// Of two loops with open blocks one has no effect: it is gone where sizes are compared, as gathers ask for.
func.func @rows(%x: memref<100000x8192xbf16>, %at: memref<4096xi32>, %out: memref<4096x8192xbf16>)
    attributes {tile.open = [#tile.open<b0>, #tile.open<b1>, #tile.open<b2, b3>]} {
  tile.grid (%i: b0=16) in (4096) {
    %r = tile.load %at[%i] : memref<4096xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%r, :] : memref<100000x8192xbf16> -> !tile.tile<b0=16 x 8192 x bf16>
  }
  tile.grid (%j: b1=16) in (4096) {
    %r = tile.load %at[%j] : memref<4096xi32> -> !tile.tile<b1=16 x i32>
    %v = tile.load %x[%r, :] : memref<100000x8192xbf16> -> !tile.tile<b1=16 x 8192 x bf16>
    tile.store %v, %out[%j, :] : !tile.tile<b1=16 x 8192 x bf16>, memref<4096x8192xbf16>
  }
  tile.grid (%k: b2=16) in (4096) {
    %r = tile.load %at[%k] : memref<4096xi32> -> !tile.tile<b2=16 x i32>
  }
  tile.grid (%l: b3=16) in (4096) {
    %r = tile.load %at[%l] : memref<4096xi32> -> !tile.tile<b3=16 x i32>
    tile.store %r, %at[%l] : !tile.tile<b3=16 x i32>, memref<4096xi32>
  }
  func.return
}
