builtin.module {
  func.func @named_by_types(%out: memref<17xf32>) {
    tile.grid (%i: b0=1) in (20) {
      %w = tile.whole 20 : !tile.range<w=32>
      %at = tile.arange 0, 1 : !tile.tile<w=32 x i32>
      %v = tile.full 1.0 : !tile.tile<w=32 x f32>
      tile.store %v, %out[%at] : !tile.tile<w=32 x f32>, memref<17xf32>
    }
    func.return
  }
  func.func @unused(%out: memref<1xf32>) {
    tile.grid (%i: b0=1) in (1) {
      %w = tile.whole 20 : !tile.range<w=32>
      %v = tile.full 1.0 : !tile.tile<w=32 x f32>
      %b = tile.begin %i : !tile.range<b0=1>
    }
    func.return
  }
}
