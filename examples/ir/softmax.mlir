// Softmax over whole rows: one grid over blocks of rows.
func.func @softmax(%x: memref<1000x2560xf32>) -> memref<1000x2560xf32> {
  %out = host.alloc : memref<1000x2560xf32>
  tile.grid (%i: b0=16) in (1000) {
    %v = tile.load %x[%i, :] : memref<1000x2560xf32> -> !tile.tile<b0=16 x 2560 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=16 x 2560 x f32>
    %mb = tile.broadcast %m dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x 2560 x f32>
    %d = tile.sub %v, %mb : !tile.tile<b0=16 x 2560 x f32>
    %e = tile.exp %d : !tile.tile<b0=16 x 2560 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=16 x 2560 x f32>
    %sb = tile.broadcast %s dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x 2560 x f32>
    %r = tile.div %e, %sb : !tile.tile<b0=16 x 2560 x f32>
    tile.store %r, %out[%i, :] : !tile.tile<b0=16 x 2560 x f32>, memref<1000x2560xf32>
  }
  func.return %out : memref<1000x2560xf32>
}
