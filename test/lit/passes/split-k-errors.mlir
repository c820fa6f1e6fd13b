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

// -----

// Blocks that are bound to memory stay where they are.
func.func @bound(%x: memref<64x512xf32>) -> memref<64xf32> {
  %out = pallas.call @bound(%x) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x512xf32>) -> (memref<64xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 512 x f32, hbm>, %out_ref: !tile.ref<8 x f32, vmem>):
    // expected-error @+1 {{split_k cannot split this grid: its blocks are bound to memory already}}
    tile.grid (%i: b0=8) in (64) {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 512) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
        %v = pallas.fetch %x_ref[%i, %k] ahead %k depth 2 : !tile.ref<64 x 512 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %t = tile.add %a, %s : !tile.tile<b0=8 x f32>
        tile.yield %t : !tile.tile<b0=8 x f32>
      }
      tile.put %r, %out_ref[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  func.return %out : memref<64xf32>
}

// -----

// What was planned without the parts stays.
func.func @planned(%x: memref<64x300xf32>, %out: memref<64xf32>) {
  // expected-error @+1 {{split_k cannot split this grid: its accesses are planned already}}
  tile.grid (%i: b0=8) in (64) plan {order [i] parallel [i] @x = %x window(i, k) x3 @out = %out window(i) x2} {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.for %k: b1=128 in (0, 300) iter(%c = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] via @x : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %c, %s : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    tile.store %r, %out[%i] via @out : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}
