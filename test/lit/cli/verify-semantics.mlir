// RUN: kopt %s -p insert-masks,cse,dce --verify-semantics | filecheck %s
// RUN: kopt %s -p insert-masks,pad-to-power-of-two --verify-semantics=1,1,exact | filecheck %s --check-prefix=PADDED
// RUN: not kopt %s -p cse --verify-semantics=1,often 2>&1 | filecheck %s --check-prefix=OPTION

// CHECK: tile.mask
// PADDED: tile.whole 21
// OPTION: error: semantics are verified by seed, n, exact, masked, beyond, ranks=N, found 'often'
func.func @row_sum(%x: memref<9x21xf32>) -> memref<9xf32> {
  %out = host.alloc : memref<9xf32>
  tile.grid (%i: b0=8) in (9) {
    %w = tile.whole 21 : !tile.range<w21=32>
    %v = tile.load %x[%i, %w] : memref<9x21xf32> -> !tile.tile<b0=8 x w21=32 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x w21=32 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<9xf32>
  }
  func.return %out : memref<9xf32>
}
