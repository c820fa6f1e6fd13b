// Elementwise over a flat array, and a bias that every row shares.
func.func @exp(%x: memref<5000xf32>, %y: memref<40x300xbf16>, %bias: memref<300xf32>) -> (memref<5000xf32>, memref<40x300xf32>) {
  %out = host.alloc : memref<5000xf32>
  %sum = host.alloc : memref<40x300xf32>
  tile.grid (%i: b0=1024) in (5000) {
    %v = tile.load %x[%i] : memref<5000xf32> -> !tile.tile<b0=1024 x f32>
    %e = tile.exp %v : !tile.tile<b0=1024 x f32>
    tile.store %e, %out[%i] : !tile.tile<b0=1024 x f32>, memref<5000xf32>
  }
  tile.grid (%i2: b1=16, %j: b2=128) in (40, 300) {
    %v = tile.load %y[%i2, %j] : memref<40x300xbf16> -> !tile.tile<b1=16 x b2=128 x bf16>
    %c = tile.cast %v : !tile.tile<b1=16 x b2=128 x bf16> to !tile.tile<b1=16 x b2=128 x f32>
    %b = tile.load %bias[%j] : memref<300xf32> -> !tile.tile<b2=128 x f32>
    %bb = tile.broadcast %b dims [1] : !tile.tile<b2=128 x f32> to !tile.tile<b1=16 x b2=128 x f32>
    %s = tile.add %c, %bb : !tile.tile<b1=16 x b2=128 x f32>
    tile.store %s, %sum[%i2, %j] : !tile.tile<b1=16 x b2=128 x f32>, memref<40x300xf32>
  }
  func.return %out, %sum : memref<5000xf32>, memref<40x300xf32>
}
