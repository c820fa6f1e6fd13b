// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(set-blocks{sizes="b0=64 b1=16"})' | filecheck %s
// RUN: kopt %s --pass-pipeline='builtin.module(set-blocks{sizes="b0=1"})' | filecheck %s --check-prefix=ONE
// RUN: not kopt %s --pass-pipeline='builtin.module(set-blocks{sizes="b0=0"})' 2>&1 | filecheck %s --check-prefix=NONE
// ONE: b0=1
// NONE: error: {{.*}}'b0=0' is no block size
// RUN: not kopt %s --pass-pipeline='builtin.module(set-blocks{sizes="b9=64"})' 2>&1 | filecheck %s --check-prefix=TAG
// RUN: not kopt %s --pass-pipeline='builtin.module(set-blocks{sizes="b0=zero"})' 2>&1 | filecheck %s --check-prefix=SIZE
// RUN: not kopt %s --pass-pipeline='builtin.module(set-blocks{sizes="b2=4"})' 2>&1 | filecheck %s --check-prefix=DERIVED

// RUN: not kopt %s --pass-pipeline='builtin.module(set-blocks{sizes="b3=4"})' 2>&1 | filecheck %s --check-prefix=READ

// READ: set-blocks.mlir:[[# @LINE + 29]]:{{.*}} error: the kernel's Python read the size of 'b3': what it computed
// READ: note: import the kernel again with the new block sizes
// TAG: error: no loop binds 'b9'
// SIZE: error: {{.*}}'b0=zero' is no block size
// DERIVED: set-blocks.mlir:[[# @LINE + 20]]:{{.*}} error: 'tile.reshape' was made for b2=8: its numbers follow from the old size
// DERIVED: note: import the kernel again with the new block sizes

// CHECK: tile.grid (%i: b0=64) in (100) {
// CHECK-NEXT: %z = tile.full 0.0 : !tile.tile<b0=64 x f32>
// CHECK-NEXT: tile.for %k: b1=16 in (0, 100) iter(%a = %z) -> (!tile.tile<b0=64 x f32>) {
// CHECK-NEXT: tile.load %x[%i, %k] : memref<100x100xf32> -> !tile.tile<b0=64 x b1=16 x f32>
// CHECK: tile.grid (%j: b2=8)
func.func @f(%x: memref<100x100xf32>) {
  tile.grid (%i: b0=32) in (100) {
    %z = tile.full 0.0 : !tile.tile<b0=32 x f32>
    %r = tile.for %k: b1=8 in (0, 100) iter(%a = %z) -> (!tile.tile<b0=32 x f32>) {
      %v = tile.load %x[%i, %k] : memref<100x100xf32> -> !tile.tile<b0=32 x b1=8 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=32 x b1=8 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=32 x f32>
      tile.yield %n : !tile.tile<b0=32 x f32>
    }
  }
  tile.grid (%j: b2=8) in (100) {
    %v = tile.load %x[%j, 0] : memref<100x100xf32> -> !tile.tile<b2=8 x f32>
    %w = tile.reshape %v : !tile.tile<b2=8 x f32> to !tile.tile<2 x 4 x f32>
  }
  func.return
}

func.func @read(%x: memref<100xf32>) attributes {tile.read_sizes = ["b3"]} {
  tile.grid (%i: b3=8) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b3=8 x f32>
    %s = tile.full 8.0 : !tile.tile<b3=8 x f32>
    %w = tile.div %v, %s : !tile.tile<b3=8 x f32>
    tile.store %w, %x[%i] : !tile.tile<b3=8 x f32>, memref<100xf32>
  }
  func.return
}

// What an op says of a block's size has to hold for the new one: three groups of lanes with a scale each.
// RUN: not kopt %s --pass-pipeline='builtin.module(set-blocks{sizes="b4=64"})' 2>&1 | filecheck %s --check-prefix=SCALES
// SCALES: set-blocks.mlir:[[# @LINE + 6]]:{{.*}} error: 'tile.scaling_extf': !tile.tile<16 x 3 x ui8> has no scale for each group
// SCALES: note: a number follows from an old size: import the kernel again with the new block sizes
func.func @scaled(%x: memref<16x192xf8E5M2>, %s: memref<16x3xui8>, %out: memref<16x192xbf16>) {
  tile.grid (%k: b4=96) in (192) {
    %n = tile.load %s[:, :] : memref<16x3xui8> -> !tile.tile<16 x 3 x ui8>
    %v = tile.load %x[:, %k] : memref<16x192xf8E5M2> -> !tile.tile<16 x b4=96 x f8E5M2>
    %a = tile.scaling_extf e5m2 %v, %n dim 1 : !tile.tile<16 x b4=96 x f8E5M2>, !tile.tile<16 x 3 x ui8> to !tile.tile<16 x b4=96 x bf16>
    tile.store %a, %out[:, %k] : !tile.tile<16 x b4=96 x bf16>, memref<16x192xbf16>
  }
  func.return
}
