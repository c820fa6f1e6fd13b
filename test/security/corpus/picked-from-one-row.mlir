func.func @label(%logits: memref<64x1000xf32>, %labels: memref<64xi32>, %out: memref<64xf32>) {
    tile.grid (%i: b0=1) in (64) {
      %row = tile.load %logits[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=1 x 1000 x f32>
      %m = tile.reduce max %row [1] : !tile.tile<b0=1 x 1000 x f32>
      %k = tile.index %i : !tile.range<b0=1>
      %n = tile.load %labels[%i] : memref<64xi32> -> !tile.tile<b0=1 x i32>
      %v = tile.load %logits[%k, %n] : memref<64x1000xf32> -> !tile.tile<b0=1 x f32>
      %d = tile.sub %m, %v : !tile.tile<b0=1 x f32>
      tile.store %d, %out[%i] : !tile.tile<b0=1 x f32>, memref<64xf32>
    }
    func.return
}
