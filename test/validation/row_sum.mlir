func.func @row_sum(%x: memref<9x140xf32>) -> memref<9xf32> {
  %out = host.alloc : memref<9xf32>
  tile.grid (%i: b0=8) in (9) {
    %v = tile.load %x[%i, :] : memref<9x140xf32> -> !tile.tile<b0=8 x 140 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 140 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<9xf32>
  }
  func.return %out : memref<9xf32>
}
