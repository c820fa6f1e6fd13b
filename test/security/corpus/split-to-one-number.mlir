func.func @combined(%x: memref<4096x64xf32>, %lens: memref<4096xi32>, %out: memref<4096xf32>) {
  tile.grid (%i: b0=4096) in (4096) {
    %n = tile.load %lens[%i] : memref<4096xi32> -> !tile.tile<b0=4096 x i32>
    %z = tile.full 0.0 : !tile.tile<f32>
    %r = jagged.for %k: b1=16 in %n iter(%a = %z) -> (!tile.tile<f32>) {
      %v = tile.load %x[%i, %k] : memref<4096x64xf32> -> !tile.tile<b0=4096 x b1=16 x f32>
      %t = tile.reduce add %v [0, 1] : !tile.tile<b0=4096 x b1=16 x f32>
      %b = tile.add %a, %t : !tile.tile<f32>
      tile.yield %b : !tile.tile<f32>
    }
    tile.store %r, %out[0] : !tile.tile<f32>, memref<4096xf32>
  }
  func.return
}
