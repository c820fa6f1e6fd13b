// Blocks that overlap their neighbours.
func.func @overlapping(%x: memref<32x128xf32>) -> memref<40x128xf32> {
  %out = host.alloc fill 0.0 : memref<40x128xf32>
  tile.grid (%i: b0=8) in (32) {
    %four = arith.constant 4 : index
    %v = tile.load %x[%i, :] : memref<32x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %s = tile.shift %i by %four : !tile.range<b0=8>
    atomic.rmw add %v, %out[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<40x128xf32>
    atomic.rmw add %v, %out[%s, :] : !tile.tile<b0=8 x 128 x f32>, memref<40x128xf32>
  }
  func.return %out : memref<40x128xf32>
}
