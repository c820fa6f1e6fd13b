// Lowered functions print as Python modules; others are refused with a place, and no output file appears.
// RUN: kopt %s -p canonicalize,insert-masks,convert-tile-to-triton -t triton-py | filecheck %s
// RUN: kopt %s -p canonicalize,insert-masks,convert-tile-to-triton -t triton-py --entry double -o %t && filecheck %s --input-file=%t
// RUN: kopt import %s --target triton:sm90 --source | filecheck %s
// RUN: kopt import %s --target triton:sm90 --stages | filecheck %s --check-prefix=STAGES
// RUN: kopt import %s | filecheck %s --check-prefix=IR
// RUN: kopt import - < %s | kopt run - --target reference | filecheck %s --check-prefix=PIPED
// RUN: not kopt %s -t triton-py -o %t.none 2>&1 | filecheck %s --check-prefix=EARLY
// RUN: not test -e %t.none
// RUN: not kopt %s -t triton-py --entry triple 2>&1 | filecheck %s --check-prefix=ENTRY

// CHECK: import triton
// CHECK: @triton.jit
// CHECK: def double(x)

// STAGES: // -----// import //----- //
// STAGES: tile.grid
// STAGES: // -----// convert-tile-to-triton //----- //
// STAGES: triton.launch

// IR: func.func @double(%x: memref<100xf32>) -> memref<100xf32> {

// PIPED: result 0: f32[100] min

// ENTRY: emit.mlir:1:1: error: no function 'triple' in the module; functions with a body: double

func.func @double(%x: memref<100xf32>) -> memref<100xf32> {
  %out = host.alloc : memref<100xf32>
  // EARLY: emit.mlir:[[# @LINE + 2]]:3: error: 'tile.grid' {{.*}}
  // EARLY-NEXT: tile.grid (%i: b0=32) in (100) {
  tile.grid (%i: b0=32) in (100) {
    %a = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=32 x f32>
    %s = tile.add %a, %a : !tile.tile<b0=32 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=32 x f32>, memref<100xf32>
  }
  func.return %out : memref<100xf32>
}
