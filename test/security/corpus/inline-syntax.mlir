func.func @f(%x: memref<64xf32>) -> memref<64xf32> {
  %out = host.alloc : memref<64xf32>
  tile.grid (%i: b0=32) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=32 x f32>
    %w = triton.inline "grow"(%v) functions = {grow = "(x):\n    return in + 1"} : (!tile.tile<b0=32 x f32>) -> (!tile.tile<b0=32 x f32>)
    tile.store %w, %out[%i] : !tile.tile<b0=32 x f32>, memref<64xf32>
  }
  func.return %out : memref<64xf32>
}
