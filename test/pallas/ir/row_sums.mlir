// Sums of rows in blocks that are too short for a rank-1 output.
func.func @row_sums(%x: memref<1000x300xf32>) -> memref<1000xf32> {
  %out = host.alloc : memref<1000xf32>
  tile.grid (%i: b0=64) in (1000) {
    %z = tile.full 0.0 : !tile.tile<b0=64 x f32>
    %acc = tile.for %k: b1=128 in (0, 300) iter(%a = %z) -> (!tile.tile<b0=64 x f32>) {
      %v = tile.load %x[%i, %k] : memref<1000x300xf32> -> !tile.tile<b0=64 x b1=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=64 x b1=128 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=64 x f32>
      tile.yield %n : !tile.tile<b0=64 x f32>
    }
    tile.store %acc, %out[%i] : !tile.tile<b0=64 x f32>, memref<1000xf32>
  }
  func.return %out : memref<1000xf32>
}
