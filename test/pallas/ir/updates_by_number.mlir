// Rows and lanes by computed numbers, in a loop over them.
func.func @by_number(%x: memref<40x150xf32>, %at: memref<40xi32>) -> (memref<300x150xf32>, memref<300xf32>, memref<300x3xf32>) {
  %rows = host.alloc fill 0.0 : memref<300x150xf32>
  %lanes = host.alloc fill 0.0 : memref<300xf32>
  %picks = host.alloc fill 0.0 : memref<300x3xf32>
  tile.grid (%i: b0=1) in (40) {
    %n = tile.begin %i : !tile.range<b0=1>
    %t = tile.load %at[%n] : memref<40xi32> -> !tile.tile<i32>
    %r = tile.extract %t : !tile.tile<i32> to index
    %v = tile.load %x[%n, :] : memref<40x150xf32> -> !tile.tile<150 x f32>
    %s = tile.reduce add %v [0] : !tile.tile<150 x f32>
    atomic.rmw add %v, %rows[%r, :] : !tile.tile<150 x f32>, memref<300x150xf32>
    atomic.rmw add %s, %lanes[%r] : !tile.tile<f32>, memref<300xf32>
    atomic.rmw add %s, %picks[%r, 1] : !tile.tile<f32>, memref<300x3xf32>
  }
  func.return %rows, %lanes, %picks : memref<300x150xf32>, memref<300xf32>, memref<300x3xf32>
}
