builtin.module {
  func.func @names(%x: memref<64x64xf32>, %out: memref<64xf32>) {
    tile.grid (%i: b0=16) in (64) plan {order [i, k, l] parallel [i, k] @x = %x window(i, k) x2 @out = %out window(i) accumulate(k)} {
      tile.for %k: b1=16 in (0, 64) schedule grid {
        %v = tile.load %x[%i, %k] via @x : memref<64x64xf32> -> !tile.tile<b0=16 x b1=16 x f32>
      }
      tile.for %l: b2=16 in (0, 64) schedule grid {
      }
      %w = tile.load %out[%i] via @out : memref<64xf32> -> !tile.tile<b0=16 x f32>
      tile.store %w, %out[%i] via @out : !tile.tile<b0=16 x f32>, memref<64xf32>
    }
    func.return
  }
}
