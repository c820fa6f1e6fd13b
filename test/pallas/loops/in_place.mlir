// An array that is updated block by block, in a part of its columns only.
func.func @in_place(%x: memref<40x600xf32>) {
  tile.grid (%i: b0=8) in (32) {
    tile.for %k: b1=128 in (128, 512) {
      %v = tile.load %x[%i, %k] : memref<40x600xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %w = tile.mul %v, %v : !tile.tile<b0=8 x b1=128 x f32>
      tile.store %w, %x[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<40x600xf32>
    }
  }
  func.return
}
