// A loop walks one block of the grid's range: split-K without atomics.
func.func @parts_of_blocks(%x: memref<64x1000xf32>) -> memref<64x4xf32> {
  %out = host.alloc fill 0.0 : memref<64x4xf32>
  tile.grid (%i: b0=32, %k: b1=256) in (64, 1000) {
    %begin = tile.begin %k : !tile.range<b1=256>
    %end = tile.end %k : !tile.range<b1=256>
    %id = tile.id %k : !tile.range<b1=256>
    %z = tile.full 0.0 : !tile.tile<b0=32 x f32>
    %acc = tile.for %kk: b2=128 in (%begin, %end) iter(%a = %z) -> (!tile.tile<b0=32 x f32>) {
      %v = tile.load %x[%i, %kk] : memref<64x1000xf32> -> !tile.tile<b0=32 x b2=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=32 x b2=128 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=32 x f32>
      tile.yield %n : !tile.tile<b0=32 x f32>
    }
    tile.store %acc, %out[%i, %id] : !tile.tile<b0=32 x f32>, memref<64x4xf32>
  }
  func.return %out : memref<64x4xf32>
}
