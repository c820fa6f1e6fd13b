// RUN: kopt run %s --target pallas:interpret --check

// A loop over the only block of a range that is longer than what it walks: four visits in the grid, not eight.
func.func @only_block(%x: memref<4xi32>) -> (memref<4x4xi32>, memref<4xi32>) {
  %y = host.alloc : memref<4x4xi32>
  %count = host.alloc : memref<4xi32>
  tile.grid (%i: b0=8) in (4) {
    %zero = tile.full 0 : !tile.tile<b0=8 x i32>
    %first = tile.begin %i : !tile.range<b0=8>
    %end = tile.end %i : !tile.range<b0=8>
    %n = tile.for %j: b1=1 in (%first, %end) iter(%m = %zero) -> (!tile.tile<b0=8 x i32>) {
      %one = tile.full 1 : !tile.tile<b0=8 x i32>
      %more = tile.add %m, %one : !tile.tile<b0=8 x i32>
      %v = tile.load %x[%j] : memref<4xi32> -> !tile.tile<b1=1 x i32>
      %lanes = tile.broadcast %v dims [1] : !tile.tile<b1=1 x i32> to !tile.tile<b0=8 x b1=1 x i32>
      tile.store %lanes, %y[%i, %j] : !tile.tile<b0=8 x b1=1 x i32>, memref<4x4xi32>
      tile.yield %more : !tile.tile<b0=8 x i32>
    }
    tile.store %n, %count[%i] : !tile.tile<b0=8 x i32>, memref<4xi32>
  }
  func.return %y, %count : memref<4x4xi32>, memref<4xi32>
}
