// A loop that ends before it begins has nothing to deal out: it stays as it is.
// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(split-k{factor=2})' | filecheck %s
// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(split-k{factor=2 deterministic=true})' | filecheck %s

// CHECK-LABEL: @sums
// CHECK: tile.grid (%i: b0=8) in (64) {
// CHECK: tile.for %k: b1=128 in (0, -300) iter
// CHECK: tile.store %r, %out
func.func @sums(%x: memref<64x300xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.for %k: b1=128 in (0, -300) iter(%c = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %c, %s : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    tile.store %r, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// CHECK-LABEL: @copies
// CHECK: tile.grid (%i: b0=8) in (64) {
// CHECK: tile.for %k: b2=128 in (300, 300)
func.func @copies(%x: memref<64x300xf32>, %out: memref<64x300xf32>) {
  tile.grid (%i: b0=8) in (64) {
    tile.for %k: b2=128 in (300, 300) {
      %v = tile.load %x[%i, %k] : memref<64x300xf32> -> !tile.tile<b0=8 x b2=128 x f32>
      tile.store %v, %out[%i, %k] : !tile.tile<b0=8 x b2=128 x f32>, memref<64x300xf32>
    }
  }
  func.return
}
