builtin.module {
  func.func @groups(%x: memref<64xf32>, %out: memref<8x8xf32>) -> memref<8x8xf32> {
    tile.grid (%g: b0=4) in (8) {
      %i = tile.index %g : !tile.range<b0=4>
      %e = tile.full 8 : !tile.tile<b0=4 x i32>
      %b = tile.mul %i, %e : !tile.tile<b0=4 x i32>
      %p = tile.broadcast %b dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x 8 x i32>
      %a = tile.arange 0, 1 : !tile.tile<8 x i32>
      %q = tile.broadcast %a dims [1] : !tile.tile<8 x i32> to !tile.tile<b0=4 x 8 x i32>
      %n = tile.add %p, %q : !tile.tile<b0=4 x 8 x i32>
      %v = tile.load %x[%n] : memref<64xf32> -> !tile.tile<b0=4 x 8 x f32>
      tile.store %v, %out[%g, :] : !tile.tile<b0=4 x 8 x f32>, memref<8x8xf32>
    }
    func.return %out : memref<8x8xf32>
  }
  func.func @gaps(%x: memref<64xf32>, %out: memref<8x0xf32>) -> memref<8x0xf32> {
    tile.grid (%g: b0=4) in (8) {
      %i = tile.index %g : !tile.range<b0=4>
      %e = tile.full 8 : !tile.tile<b0=4 x i32>
      %b = tile.mul %i, %e : !tile.tile<b0=4 x i32>
      %p = tile.broadcast %b dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x 0 x i32>
      %a = tile.arange 0, 1 : !tile.tile<0 x i32>
      %q = tile.broadcast %a dims [1] : !tile.tile<0 x i32> to !tile.tile<b0=4 x 0 x i32>
      %n = tile.add %p, %q : !tile.tile<b0=4 x 0 x i32>
      %v = tile.load %x[%n] : memref<64xf32> -> !tile.tile<b0=4 x 0 x f32>
      tile.store %v, %out[%g, :] : !tile.tile<b0=4 x 0 x f32>, memref<8x0xf32>
    }
    func.return %out : memref<8x0xf32>
  }
}
