// Four cells share a block whose number is a quotient, and whose neighbour comes next.
func.func @quotient(%x: memref<8x16x128xf32>) -> memref<2x16x128xf32> {
  %out = host.alloc fill 0.0 : memref<2x16x128xf32>
  tile.grid (%i: b0=8, %h: b1=1) in (16, 8) {
    %four = arith.constant 4 : index
    %n = tile.begin %h : !tile.range<b1=1>
    %g = arith.divsi %n, %four : index
    %v = tile.load %x[%n, %i, :] : memref<8x16x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    atomic.rmw add %v, %out[%g, %i, :] : !tile.tile<b0=8 x 128 x f32>, memref<2x16x128xf32>
  }
  func.return %out : memref<2x16x128xf32>
}
