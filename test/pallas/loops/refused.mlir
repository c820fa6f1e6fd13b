// Loops that cannot be pipelined: parts of blocks are kept, blocks begin anywhere, predicates are carried.
func.func @refused(%x: memref<32x512xf32>, %y: memref<32x512xf32>) -> memref<32x512xf32> {
  %out = host.alloc fill 2.0 : memref<32x512xf32>
  tile.grid (%i: b0=8) in (32) {
    tile.for %k: b1=128 in (0, 500) {
      %v = tile.load %x[%i, %k] : memref<32x512xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      tile.store %v, %out[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<32x512xf32>
    }
    tile.for %j: b2=256 in (128, 512) {
      %v = tile.load %y[%i, %j] : memref<32x512xf32> -> !tile.tile<b0=8 x b2=256 x f32>
      tile.store %v, %out[%i, %j] : !tile.tile<b0=8 x b2=256 x f32>, memref<32x512xf32>
    }
  }
  func.return %out : memref<32x512xf32>
}
