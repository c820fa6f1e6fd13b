builtin.module {
  func.func @products(%x: memref<4x128x8x256xf32>, %w: memref<256x256xf32>, %out: memref<4x128x8x256xf32>) {
    tile.grid (%i: b0=1) in (4) plan {order [i, k] ordered [i, k]} {
      %n = tile.begin %i : !tile.range<b0=1>
      %v = tile.load %x[%n, :, :, :] : memref<4x128x8x256xf32> -> !tile.tile<128 x 8 x 256 x f32>
      %t = tile.transpose %v [1, 0, 2] : !tile.tile<128 x 8 x 256 x f32>
      %u = tile.load %w[:, :] : memref<256x256xf32> -> !tile.tile<256 x 256 x f32>
      %b = tile.broadcast %u dims [1, 2] : !tile.tile<256 x 256 x f32> to !tile.tile<8 x 256 x 256 x f32>
      %z = tile.full 0.0 : !tile.tile<8 x 128 x 256 x f32>
      %s = tile.for %k: b1=1 in (0, 3) iter(%a = %z) -> (!tile.tile<8 x 128 x 256 x f32>) schedule grid {
        %d = tile.dot %t, %b, %a : !tile.tile<8 x 128 x 256 x f32>, !tile.tile<8 x 256 x 256 x f32> -> !tile.tile<8 x 128 x 256 x f32>
        tile.yield %d : !tile.tile<8 x 128 x 256 x f32>
      }
      %r = tile.transpose %s [1, 0, 2] : !tile.tile<8 x 128 x 256 x f32>
      tile.store %r, %out[%n, :, :, :] : !tile.tile<128 x 8 x 256 x f32>, memref<4x128x8x256xf32>
    }
    func.return
  }
}