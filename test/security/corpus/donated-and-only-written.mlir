builtin.module {
  func.func @starts(%x: memref<64x128xf32>) -> (memref<128xf32>, memref<128xf32>) {
    %none = host.alloc : memref<128xf32>
    %r:2 = host.launch @starts (%x_1 = %x, %taken = %none) writes [1] donates [1] yields (%new : memref<128xf32>) : (memref<64x128xf32>, memref<128xf32>) -> (memref<128xf32>, memref<128xf32>) {
      tile.grid (%s: b0=1) in (64) {
        %n = tile.begin %s : !tile.range<b0=1>
        %v = tile.load %x_1[%n, :] : memref<64x128xf32> -> !tile.tile<128 x f32>
        tile.store %v, %taken[:] : !tile.tile<128 x f32>, memref<128xf32>
        tile.store %v, %new[:] : !tile.tile<128 x f32>, memref<128xf32>
      }
    }
    func.return %r#0, %r#1 : memref<128xf32>, memref<128xf32>
  }
}
