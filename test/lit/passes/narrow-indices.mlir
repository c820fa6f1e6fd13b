// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(functionalise-host,narrow-indices)' | filecheck %s

// A counter and a running count: the sum may leave 32 bits, and is right modulo 2^32.
// CHECK-LABEL: func.func @kept
// CHECK: %[[PLACE:.+]] = tile.add %{{.*}}, %{{.*}} : !tile.tile<b0=16 x i64>
// CHECK-NEXT: %[[LOW:.+]] = tile.cast %[[PLACE]] : !tile.tile<b0=16 x i64> to !tile.tile<b0=16 x i32>
// CHECK: tile.ge %[[PLACE]],
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[LOW]]] mask
func.func @kept(%x: memref<77xf32>, %counter: memref<1xi32>, %out: memref<77xf32>) {
  tile.grid (%i: b0=16) in (77) {
    %v = tile.load %x[%i] : memref<77xf32> -> !tile.tile<b0=16 x f32>
    %one = tile.full 1 : !tile.tile<i32>
    %old = atomic.rmw add %one, %counter[0] : !tile.tile<i32>, memref<1xi32> -> !tile.tile<i32>
    %base = tile.cast %old : !tile.tile<i32> to !tile.tile<i64>
    %bases = tile.broadcast %base dims [] : !tile.tile<i64> to !tile.tile<b0=16 x i64>
    %lanes = tile.index %i : !tile.range<b0=16>
    %wide = tile.cast %lanes : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x i64>
    %at = tile.add %bases, %wide : !tile.tile<b0=16 x i64>
    %zero = tile.full 0 : !tile.tile<b0=16 x i64>
    %m = tile.ge %at, %zero : !tile.tile<b0=16 x i64>
    tile.store %v, %out[%at] mask %m : !tile.tile<b0=16 x f32>, memref<77xf32>
  }
  func.return
}

// -----

// What fits 32 bits, and what 64-bit arrays hold, stays.
// CHECK-LABEL: func.func @fits
// CHECK-NOT: to !tile.tile<b0=16 x i32>
func.func @fits(%x: memref<77xf32>, %n: memref<77xi64>, %out: memref<77xf32>) {
  tile.grid (%i: b0=16) in (77) {
    %lanes = tile.index %i : !tile.range<b0=16>
    %wide = tile.cast %lanes : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x i64>
    %v = tile.load %x[%wide] : memref<77xf32> -> !tile.tile<b0=16 x f32>
    %at = tile.load %n[%i] : memref<77xi64> -> !tile.tile<b0=16 x i64>
    tile.store %v, %out[%at] : !tile.tile<b0=16 x f32>, memref<77xf32>
  }
  func.return
}

// -----

// What is stored is no index: positions go to memory as they are.
// CHECK-LABEL: func.func @own
// CHECK: %[[PLACE:.+]] = tile.add %{{.*}}, %{{.*}} : !tile.tile<b0=16 x i64>
// CHECK-NEXT: %[[LOW:.+]] = tile.cast %[[PLACE]] : !tile.tile<b0=16 x i64> to !tile.tile<b0=16 x i32>
// CHECK: tile.store %[[PLACE]], %{{.*}}[%[[LOW]]]
func.func @own(%counter: memref<1xi32>, %out: memref<77xi64>) {
  tile.grid (%i: b0=16) in (77) {
    %one = tile.full 1 : !tile.tile<i32>
    %old = atomic.rmw add %one, %counter[0] : !tile.tile<i32>, memref<1xi32> -> !tile.tile<i32>
    %base = tile.cast %old : !tile.tile<i32> to !tile.tile<i64>
    %bases = tile.broadcast %base dims [] : !tile.tile<i64> to !tile.tile<b0=16 x i64>
    %lanes = tile.index %i : !tile.range<b0=16>
    %wide = tile.cast %lanes : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x i64>
    %at = tile.add %bases, %wide : !tile.tile<b0=16 x i64>
    tile.store %at, %out[%at] : !tile.tile<b0=16 x i64>, memref<77xi64>
  }
  func.return
}
