// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(keep-reduced-dims)' | filecheck %s

// A running maximum and what is computed of it have a last dimension of one lane: no reshape between visits.
// CHECK-LABEL: @running
// CHECK: %[[TOP:.*]] = tile.full -inf : !tile.tile<b0=8 x 1 x f32>
// CHECK: %r = tile.for %k: b1=128 in (0, 512) iter(%a = %[[TOP]]) -> (!tile.tile<b0=8 x 1 x f32>) {
// CHECK: %m = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %[[M:.*]] = tile.reshape %m : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1 x f32>
// CHECK-NEXT: %n = tile.maximum %a, %[[M]] : !tile.tile<b0=8 x 1 x f32>
// CHECK-NEXT: %w = tile.broadcast %n dims [0, 1]
// CHECK: tile.yield %n : !tile.tile<b0=8 x 1 x f32>
// What takes it without the dimension takes it so behind the loop.
// CHECK: %[[R:.*]] = tile.reshape %r : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x f32>
// CHECK-NEXT: tile.store %[[R]], %c0[%i] : !tile.tile<b0=8 x f32>
func.func @running(%x: memref<64x512xf32>, %y: memref<64x512xf32>, %o: memref<64xf32>) {
  %p, %q = host.launch @running (%a0 = %x, %b0 = %y, %c0 = %o) writes [1, 2] : (memref<64x512xf32>, memref<64x512xf32>, memref<64xf32>) -> (memref<64x512xf32>, memref<64xf32>) {
    tile.grid (%i: b0=8) in (64) {
      %top = tile.full -inf : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 512) iter(%a = %top) -> (!tile.tile<b0=8 x f32>) {
        %v = tile.load %a0[%i, %k] : memref<64x512xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %m = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %n = tile.maximum %a, %m : !tile.tile<b0=8 x f32>
        %c = tile.reshape %n : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1 x f32>
        %w = tile.broadcast %c dims [0, 1] : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.sub %v, %w : !tile.tile<b0=8 x b1=128 x f32>
        tile.store %s, %b0[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<64x512xf32>
        tile.yield %n : !tile.tile<b0=8 x f32>
      }
      tile.store %r, %c0[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return
}

// -----

// A constant that others use as well is made twice; a branch hands the dimension on.
// CHECK-LABEL: @branch
// CHECK: %[[ZEROS:.*]] = tile.full 0.0 : !tile.tile<b0=8 x f32>
// CHECK: tile.for {{.*}} -> (!tile.tile<b0=8 x 1 x f32>) {
// CHECK: scf.if %{{.*}} -> (!tile.tile<b0=8 x 1 x f32>) {
// CHECK: tile.store %[[ZEROS]], %c0[%i] : !tile.tile<b0=8 x f32>
func.func @branch(%x: memref<64x512xf32>, %y: memref<64x512xf32>, %o: memref<64xf32>, %go: i1) {
  %p, %q = host.launch @branch (%a0 = %x, %b0 = %y, %c0 = %o) writes [1, 2] : (memref<64x512xf32>, memref<64x512xf32>, memref<64xf32>) -> (memref<64x512xf32>, memref<64xf32>) {
    tile.grid (%i: b0=8) in (64) {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 512) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
        %v = tile.load %a0[%i, %k] : memref<64x512xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %m = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %begin = tile.begin %k : !tile.range<b1=128>
        %none = arith.constant 0 : index
        %first = arith.cmpi eq, %begin, %none : index
        %n = scf.if %first -> (!tile.tile<b0=8 x f32>) {
          scf.yield %m : !tile.tile<b0=8 x f32>
        } else {
          %t = tile.add %a, %m : !tile.tile<b0=8 x f32>
          scf.yield %t : !tile.tile<b0=8 x f32>
        }
        %c = tile.reshape %n : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1 x f32>
        %w = tile.broadcast %c dims [0, 1] : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x b1=128 x f32>
        tile.store %w, %b0[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<64x512xf32>
        tile.yield %n : !tile.tile<b0=8 x f32>
      }
      tile.store %z, %c0[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return
}

// -----

// A sum that nothing spreads along lanes, beside numbers that come from memory in lanes, stays in lanes; so does one
// that no loop carries.
// CHECK-LABEL: @stays
// CHECK: tile.for {{.*}} -> (!tile.tile<b0=8 x f32>) {
// CHECK-NOT: tile.reshape
// CHECK: tile.for %j
// CHECK: %m2 = tile.reduce max %v2 [1]
// CHECK-NEXT: tile.neg %m2 : !tile.tile<b0=8 x f32>
func.func @stays(%x: memref<64x512xf32>, %bias: memref<64xf32>, %y: memref<64x512xf32>, %o: memref<64xf32>) {
  %p, %q = host.launch @stays (%a0 = %x, %d0 = %bias, %b0 = %y, %c0 = %o) writes [2, 3] : (memref<64x512xf32>, memref<64xf32>, memref<64x512xf32>, memref<64xf32>) -> (memref<64x512xf32>, memref<64xf32>) {
    tile.grid (%i: b0=8) in (64) {
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r = tile.for %k: b1=128 in (0, 512) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
        %v = tile.load %a0[%i, %k] : memref<64x512xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %m = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
        %d = tile.load %d0[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
        %t = tile.mul %d, %m : !tile.tile<b0=8 x f32>
        %n = tile.add %a, %t : !tile.tile<b0=8 x f32>
        tile.yield %n : !tile.tile<b0=8 x f32>
      }
      tile.store %r, %c0[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
      tile.for %j: b2=128 in (0, 512) {
        %v2 = tile.load %a0[%i, %j] : memref<64x512xf32> -> !tile.tile<b0=8 x b2=128 x f32>
        %m2 = tile.reduce max %v2 [1] : !tile.tile<b0=8 x b2=128 x f32>
        %n2 = tile.neg %m2 : !tile.tile<b0=8 x f32>
        %c2 = tile.reshape %n2 : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1 x f32>
        %w2 = tile.broadcast %c2 dims [0, 1] : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x b2=128 x f32>
        tile.store %w2, %b0[%i, %j] : !tile.tile<b0=8 x b2=128 x f32>, memref<64x512xf32>
      }
    }
  }
  func.return
}
