func.func @attention(%q: memref<64x64xf32>, %k: memref<1000x64xf32>, %v: memref<1000x64xf32>, %out: memref<64x64xf32>) {
  tile.grid (%i: b0=16) in (64) plan {order [i] walk(dim 0 of %k: b1=128, online)} {
    %rows = tile.load %q[%i, :] : memref<64x64xf32> -> !tile.tile<b0=16 x 64 x f32>
    %keys = tile.load %k[:, :] : memref<1000x64xf32> -> !tile.tile<1000 x 64 x f32>
    %columns = tile.transpose %keys [1, 0] : !tile.tile<1000 x 64 x f32>
    %x = tile.dot %rows, %columns : !tile.tile<b0=16 x 64 x f32>, !tile.tile<64 x 1000 x f32> -> !tile.tile<b0=16 x 1000 x f32>
    %m = tile.reduce max %x [1] : !tile.tile<b0=16 x 1000 x f32>
    %b = tile.broadcast %m dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x 1000 x f32>
    %d = tile.sub %x, %b : !tile.tile<b0=16 x 1000 x f32>
    %e = tile.exp %d : !tile.tile<b0=16 x 1000 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=16 x 1000 x f32>
    %values = tile.load %v[:, :] : memref<1000x64xf32> -> !tile.tile<1000 x 64 x f32>
    %o = tile.dot %e, %values : !tile.tile<b0=16 x 1000 x f32>, !tile.tile<1000 x 64 x f32> -> !tile.tile<b0=16 x 64 x f32>
    %c = tile.broadcast %s dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x 64 x f32>
    %r = tile.div %o, %c : !tile.tile<b0=16 x 64 x f32>
    tile.store %r, %out[%i, :] : !tile.tile<b0=16 x 64 x f32>, memref<64x64xf32>
  }
  func.return
}
