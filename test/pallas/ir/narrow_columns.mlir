// Narrow blocks of lanes: the array is split and transposed for the kernel.
func.func @narrow_columns(%x: memref<96x200xf32>) -> memref<96x200xf32> {
  %out = host.alloc : memref<96x200xf32>
  tile.grid (%i: b0=8, %j: b1=64) in (96, 200) {
    %v = tile.load %x[%i, %j] : memref<96x200xf32> -> !tile.tile<b0=8 x b1=64 x f32>
    %s = tile.add %v, %v : !tile.tile<b0=8 x b1=64 x f32>
    tile.store %s, %out[%i, %j] : !tile.tile<b0=8 x b1=64 x f32>, memref<96x200xf32>
  }
  func.return %out : memref<96x200xf32>
}
