// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(balance-items{programs=6})'

// Numbers of blocks would be others.
func.func @counted(%lengths: memref<9xi32>, %out: memref<9x64xi32>) {
  // expected-error@+1 {{programs cannot share this grid: 'tile.id' asks for numbers of blocks}}
  tile.grid (%i: b0=1) in (9) {
    %item = tile.begin %i : !tile.range<b0=1>
    %id = tile.id %i : !tile.range<b0=1>
    %n = tile.load %lengths[%item] : memref<9xi32> -> !tile.tile<i32>
    %end = tile.extract %n : !tile.tile<i32> to index
    tile.for %j: b1=8 in (0, %end) {
      %z = tile.full 1 : !tile.tile<b1=8 x i32>
      tile.store %z, %out[%id, %j] : !tile.tile<b1=8 x i32>, memref<9x64xi32>
    }
  }
  func.return
}

// -----

// A grid whose items are all alike has nothing to balance.
func.func @dense(%x: memref<64xf32>) {
  // expected-error@+1 {{programs cannot share this grid: no loop goes to bounds that are known for each item before the launch}}
  tile.grid (%i: b0=16) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}
