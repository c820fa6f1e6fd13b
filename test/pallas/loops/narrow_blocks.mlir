// Blocks that are no tiles of the chip: 3 rows, 64 lanes, 24 elements, of several element types; shifted ones.
func.func @narrow_blocks(%x: memref<20x300xf32>, %y: memref<100x128xbf16>, %w: memref<100xf32>) -> (memref<20x300xf32>, memref<128xf32>) {
  %out = host.alloc : memref<20x300xf32>
  %sums = host.alloc : memref<128xf32>
  tile.grid (%g: b9=1) in (1) {
    %c64 = arith.constant 64 : index
    tile.for %k: b1=64 in (0, 236) {
      %next = tile.shift %k by %c64 : !tile.range<b1=64>
      %a = tile.load %x[:, %k] : memref<20x300xf32> -> !tile.tile<20 x b1=64 x f32>
      %b = tile.load %x[:, %next] : memref<20x300xf32> -> !tile.tile<20 x b1=64 x f32>
      %c = tile.add %a, %b : !tile.tile<20 x b1=64 x f32>
      tile.store %c, %out[:, %k] : !tile.tile<20 x b1=64 x f32>, memref<20x300xf32>
    }
    tile.for %last: b4=64 in (192, 300) {
      %a = tile.load %x[:, %last] : memref<20x300xf32> -> !tile.tile<20 x b4=64 x f32>
      tile.store %a, %out[:, %last] : !tile.tile<20 x b4=64 x f32>, memref<20x300xf32>
    }
    %z = tile.full 0.0 : !tile.tile<128 x f32>
    %r = tile.for %i: b2=3 in (0, 100) iter(%t = %z) -> (!tile.tile<128 x f32>) {
      %v = tile.load %y[%i, :] : memref<100x128xbf16> -> !tile.tile<b2=3 x 128 x bf16>
      %f = tile.cast %v : !tile.tile<b2=3 x 128 x bf16> to !tile.tile<b2=3 x 128 x f32>
      %u = tile.load %w[%i] : memref<100xf32> -> !tile.tile<b2=3 x f32>
      %ub = tile.broadcast %u dims [0] : !tile.tile<b2=3 x f32> to !tile.tile<b2=3 x 128 x f32>
      %p = tile.mul %f, %ub : !tile.tile<b2=3 x 128 x f32>
      %s = tile.reduce add %p [0] : !tile.tile<b2=3 x 128 x f32>
      %n = tile.add %t, %s : !tile.tile<128 x f32>
      tile.yield %n : !tile.tile<128 x f32>
    }
    tile.store %r, %sums[:] : !tile.tile<128 x f32>, memref<128xf32>
  }
  func.return %out, %sums : memref<20x300xf32>, memref<128xf32>
}
