// Each cell's loop ends where an array says, also before it begins.
func.func @lengths(%x: memref<300x128xf32>, %lengths: memref<4xi32>) -> memref<4x128xf32> {
  %out = host.alloc : memref<4x128xf32>
  tile.grid (%i: b0=1) in (4) {
    %n = tile.begin %i : !tile.range<b0=1>
    %length = tile.load %lengths[%n] : memref<4xi32> -> !tile.tile<i32>
    %less = tile.full 150 : !tile.tile<i32>
    %short = tile.sub %length, %less : !tile.tile<i32>
    %number = tile.extract %short : !tile.tile<i32> to i32
    %end = arith.index_cast %number : i32 to index
    %z = tile.full 0.0 : !tile.tile<128 x f32>
    %r = tile.for %k: b1=16 in (0, %end) iter(%a = %z) -> (!tile.tile<128 x f32>) {
      %v = tile.load %x[%k, :] : memref<300x128xf32> -> !tile.tile<b1=16 x 128 x f32>
      %s = tile.reduce add %v [0] : !tile.tile<b1=16 x 128 x f32>
      %b = tile.add %a, %s : !tile.tile<128 x f32>
      tile.yield %b : !tile.tile<128 x f32>
    }
    tile.store %r, %out[%n, :] : !tile.tile<128 x f32>, memref<4x128xf32>
  }
  func.return %out : memref<4x128xf32>
}
