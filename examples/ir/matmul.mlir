// Matrix product in bf16 with an f32 accumulator; no extent divides its block.
func.func @matmul(%x: memref<1000x600xbf16>, %y: memref<600x500xbf16>) -> memref<1000x500xbf16> {
  %out = host.alloc : memref<1000x500xbf16>
  tile.grid (%i: b0=128, %j: b1=128) in (1000, 500) {
    %z = tile.full 0.0 : !tile.tile<b0=128 x b1=128 x f32>
    %acc = tile.for %k: b2=256 in (0, 600) iter(%a = %z) -> (!tile.tile<b0=128 x b1=128 x f32>) {
      %l = tile.load %x[%i, %k] : memref<1000x600xbf16> -> !tile.tile<b0=128 x b2=256 x bf16>
      %r = tile.load %y[%k, %j] : memref<600x500xbf16> -> !tile.tile<b2=256 x b1=128 x bf16>
      %d = tile.dot %l, %r, %a : !tile.tile<b0=128 x b2=256 x bf16>, !tile.tile<b2=256 x b1=128 x bf16> -> !tile.tile<b0=128 x b1=128 x f32>
      tile.yield %d : !tile.tile<b0=128 x b1=128 x f32>
    }
    %c = tile.cast %acc : !tile.tile<b0=128 x b1=128 x f32> to !tile.tile<b0=128 x b1=128 x bf16>
    tile.store %c, %out[%i, %j] : !tile.tile<b0=128 x b1=128 x bf16>, memref<1000x500xbf16>
  }
  func.return %out : memref<1000x500xbf16>
}
