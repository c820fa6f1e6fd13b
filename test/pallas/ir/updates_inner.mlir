// Targets walked by a loop inside the cell, in parts of a grid's block and all of an array.
func.func @inner(%x: memref<40x300xf32>, %y: memref<40x300xf32>, %parts: memref<40x300xf32>, %columns: memref<300xf32>) {
  tile.grid (%i: b0=16) in (40) {
    %first = tile.begin %i : !tile.range<b0=16>
    %end = tile.end %i : !tile.range<b0=16>
    tile.for %r: b2=8 in (%first, %end) {
      %w = tile.load %y[%r, :] : memref<40x300xf32> -> !tile.tile<b2=8 x 300 x f32>
      atomic.rmw add %w, %parts[%r, :] : !tile.tile<b2=8 x 300 x f32>, memref<40x300xf32>
    }
    tile.for %j: b1=128 in (0, 300) {
      %v = tile.load %x[%i, %j] : memref<40x300xf32> -> !tile.tile<b0=16 x b1=128 x f32>
      %c = tile.reduce add %v [0] : !tile.tile<b0=16 x b1=128 x f32>
      atomic.rmw add %c, %columns[%j] : !tile.tile<b1=128 x f32>, memref<300xf32>
    }
  }
  func.return
}
