// The last visit of a pipelined loop stores what it carried.
func.func @last_visit(%x: memref<40x300xf32>) -> (memref<40xf32>, memref<40x300xf32>) {
  %out = host.alloc : memref<40xf32>
  %copy = host.alloc : memref<40x300xf32>
  tile.grid (%i: b0=8) in (40) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.for %k: b1=128 in (0, 300) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<40x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %b = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.store %v, %copy[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<40x300xf32>
      tile.when last(%k) {
        tile.store %b, %out[%i] : !tile.tile<b0=8 x f32>, memref<40xf32>
      }
      tile.yield %b : !tile.tile<b0=8 x f32>
    }
  }
  func.return %out, %copy : memref<40xf32>, memref<40x300xf32>
}
