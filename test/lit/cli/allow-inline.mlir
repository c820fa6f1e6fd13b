// Code that IR brings along is refused at its place, wherever it would be emitted or run, unless it is allowed.
// RUN: kopt %s | filecheck %s --check-prefix=IR
// RUN: not kopt %s -p insert-masks,convert-tile-to-triton -t triton-py 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: not kopt run %s --target triton:interpret 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: not kopt import %s --target triton:sm90 --source 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: kopt %s -p insert-masks,convert-tile-to-triton -t triton-py --allow-inline | filecheck %s
// RUN: kopt import %s --target triton:sm90 --source --allow-inline | filecheck %s
// RUN: kopt run %s --target triton:interpret --allow-inline | filecheck %s --check-prefix=RAN

// IR: triton.inline "grow"
// CHECK: def grow(x):
// RAN: result 0: f32[64]

// REFUSED: allow-inline.mlir:[[# @LINE + 6]]:10: error: IR brings Triton code of its own, which would run as it is
// REFUSED: note: if you trust where it comes from: kopt --allow-inline
func.func @f(%x: memref<64xf32>) -> memref<64xf32> {
  %out = host.alloc : memref<64xf32>
  tile.grid (%i: b0=32) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=32 x f32>
    %w = triton.inline "grow"(%v) functions = {grow = "(x):\n    return x + 1"} : (!tile.tile<b0=32 x f32>) -> (!tile.tile<b0=32 x f32>)
    tile.store %w, %out[%i] : !tile.tile<b0=32 x f32>, memref<64xf32>
  }
  func.return %out : memref<64xf32>
}
