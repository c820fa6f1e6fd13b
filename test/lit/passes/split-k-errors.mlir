// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(split-k{factor=2})'

// What alternates depends on what was combined so far.
func.func @decay(%x: memref<8x600xf32>, %out: memref<8xf32>) {
  // expected-error @+1 {{split_k cannot split this grid: 'a' is not a plain sum, maximum or minimum over the visits}}
  tile.grid (%i: b0=8) in (8) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %half = tile.full 0.5 : !tile.tile<b0=8 x f32>
    %r = tile.for %k: b1=128 in (0, 600) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %n = tile.sub %half, %a : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    tile.store %r, %out[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  func.return
}

// -----

func.func @copy(%x: memref<8xf32>, %out: memref<8xf32>) {
  // expected-error @+1 {{split_k cannot split this grid: its cells have no loop}}
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %out[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  func.return
}
