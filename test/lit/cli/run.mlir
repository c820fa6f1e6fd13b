// An IR file runs with no Python kernel involved: inputs follow from the types, or are given.
// RUN: kopt run %s --target reference --entry add --seed 7 --check | filecheck %s
// RUN: kopt run %s:add --target reference 'f32[5,6]' 'f16[6]' | filecheck %s --check-prefix=GIVEN
// RUN: kopt run %s:scale --target reference | filecheck %s --check-prefix=MUTATED
// RUN: kopt run %s:add --target reference -o %t.npz && test -s %t.npz
// RUN: not kopt run %s --target reference 2>&1 | filecheck %s --check-prefix=ENTRY
// RUN: not kopt run %s:sub 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not kopt run %s:add --target palas 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not kopt run %s:add 'f33[5,6]' 2>&1 | filecheck %s --check-prefix=DTYPE
// RUN: not kopt run %s:add 'f32[5,6]' nowhere.npy 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not kopt run %s:add -c nonsense=1 2>&1 | filecheck %s --check-prefix=CONFIG
// RUN: not kopt run %s:add --target reference 'f32[5,7]' 'f16[6]' 2>&1 | filecheck %s --check-prefix=SHAPE

// CHECK: reference: {{.*}} ms
// CHECK-NEXT: result 0: f32[5,6] min {{.*}} max {{.*}} mean
// CHECK: check: result 0 agrees with the reference within
// GIVEN: result 0: f32[5,6] min
// MUTATED: argument 0: f32[5] min

// ENTRY: run.mlir:1:1: error: name one function with --entry; functions with a body: add, scale
// NONE: run.mlir:1:1: error: no function 'sub' in the module; functions with a body: add, scale
// TARGET: <command line>:1:{{[0-9]+}}: error: unknown target 'palas'
// DTYPE: error: unknown dtype 'f33' in 'f33[5,6]'
// FILE: error: cannot read 'nowhere.npy'
// CONFIG: error: unknown config key 'nonsense'
// SHAPE: argument 'x': expected shape [5, 6], got [5, 7]

func.func @add(%x: memref<5x6xf32>, %y: memref<6xf16>) -> memref<5x6xf32> {
  %out = host.alloc : memref<5x6xf32>
  tile.grid (%i: b0=4) in (5) {
    %a = tile.load %x[%i, :] : memref<5x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %b = tile.load %y[:] : memref<6xf16> -> !tile.tile<6 x f16>
    %c = tile.cast %b : !tile.tile<6 x f16> to !tile.tile<6 x f32>
    %d = tile.broadcast %c dims [1] : !tile.tile<6 x f32> to !tile.tile<b0=4 x 6 x f32>
    %s = tile.add %a, %d : !tile.tile<b0=4 x 6 x f32>
    tile.store %s, %out[%i, :] : !tile.tile<b0=4 x 6 x f32>, memref<5x6xf32>
  }
  func.return %out : memref<5x6xf32>
}

func.func @scale(%x: memref<5xf32>) {
  tile.grid (%i: b0=4) in (5) {
    %a = tile.load %x[%i] : memref<5xf32> -> !tile.tile<b0=4 x f32>
    %s = tile.add %a, %a : !tile.tile<b0=4 x f32>
    tile.store %s, %x[%i] : !tile.tile<b0=4 x f32>, memref<5xf32>
  }
  func.return
}
