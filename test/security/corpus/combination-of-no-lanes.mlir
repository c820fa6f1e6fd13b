func.func @f(%x: memref<8x0xf32>) -> memref<8xf32> {
  %out = host.alloc : memref<8xf32>
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=8 x 0 x f32>
    %s = tile.associative_reduce %v dim 1 : !tile.tile<b0=8 x 0 x f32> {
    ^bb0(%a: !tile.tile<f32>, %b: !tile.tile<f32>):
      %c = tile.maximum %a, %b : !tile.tile<f32>
      tile.yield %c : !tile.tile<f32>
    }
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  func.return %out : memref<8xf32>
}
