builtin.module {
  func.func @heads(%x: memref<64x4x128xf32>, %bounds: memref<1xi32>, %out: memref<64x4x128xf32>) -> memref<64x4x128xf32> {
    tile.grid (%g: b9=1) in (4) {
      %h = tile.id %g : !tile.range<b9=1>
      %s = tile.load %bounds[0] : memref<1xi32> -> !tile.tile<i32>
      %n = tile.extract %s : !tile.tile<i32> to index
      tile.for %k: b0=8 in (%n, 64) {
        %v = tile.load %x[%k, %s, :] : memref<64x4x128xf32> -> !tile.tile<b0=8 x 128 x f32>
        tile.store %v, %out[%k, %h, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x4x128xf32>
      }
    }
    func.return %out : memref<64x4x128xf32>
  }
}
