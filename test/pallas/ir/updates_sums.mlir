// Nested dependences: the row sums, the column sums and the sum of everything.
func.func @sums(%x: memref<40x200xf32>) -> (memref<40xf32>, memref<40x200xf32>, memref<1xf32>) {
  %rows = host.alloc fill 0.0 : memref<40xf32>
  %same = host.alloc fill 1.0 : memref<40x200xf32>
  %all = host.alloc fill 0.0 : memref<1xf32>
  tile.grid (%j: b1=128, %i: b0=8) in (200, 40) {
    %v = tile.load %x[%i, %j] : memref<40x200xf32> -> !tile.tile<b0=8 x b1=128 x f32>
    %r = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
    %a = tile.reduce add %r [0] : !tile.tile<b0=8 x f32>
    atomic.rmw add %r, %rows[%i] : !tile.tile<b0=8 x f32>, memref<40xf32>
    atomic.rmw add %v, %same[%i, %j] : !tile.tile<b0=8 x b1=128 x f32>, memref<40x200xf32>
    atomic.rmw add %a, %all[0] : !tile.tile<f32>, memref<1xf32>
  }
  func.return %rows, %same, %all : memref<40xf32>, memref<40x200xf32>, memref<1xf32>
}
