// Blocks of lanes that overlap their neighbours.
func.func @overlapping_lanes(%x: memref<250xi32>) -> memref<260xi32> {
  %out = host.alloc fill 5 : memref<260xi32>
  tile.grid (%i: b0=128) in (250) {
    %four = arith.constant 4 : index
    %v = tile.load %x[%i] : memref<250xi32> -> !tile.tile<b0=128 x i32>
    %s = tile.shift %i by %four : !tile.range<b0=128>
    atomic.rmw add %v, %out[%i] : !tile.tile<b0=128 x i32>, memref<260xi32>
    atomic.rmw add %v, %out[%s] : !tile.tile<b0=128 x i32>, memref<260xi32>
  }
  func.return %out : memref<260xi32>
}
