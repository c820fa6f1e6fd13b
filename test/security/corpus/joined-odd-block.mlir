func.func @joined(%x: memref<20xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=5) in (20) {
    %v = tile.load %x[%i] : memref<20xf32> -> !tile.tile<b0=5 x f32>
    %r = tile.reshape %v : !tile.tile<b0=5 x f32> to !tile.tile<1 x 5 x f32>
    %s = tile.reduce add %r [0, 1] : !tile.tile<1 x 5 x f32>
    tile.store %s, %out[0] : !tile.tile<f32>, memref<8xf32>
  }
  func.return
}
