// RUN: kopt %s --verify-each --pass-pipeline='builtin.module(sink-reductions)' | filecheck %s

// Lanes are added visit by visit, outside of the loop's range, and reduced once.
// CHECK-LABEL: func.func @sum
// CHECK: [[Z:%.+]] = tile.full 0.0 : !tile.tile<b0=2 x 4096 x f32>
// CHECK: [[P:%r_lanes]] = tile.for %k: b1=4096 in (0, 130000) iter([[L:%.+]] = [[Z]]) -> (!tile.tile<b0=2 x 4096 x f32>) {
// CHECK-NOT: tile.reduce
// CHECK: [[R:%.+]] = tile.reshape {{%.+}} : !tile.tile<b0=2 x b1=4096 x f32> to !tile.tile<b0=2 x 4096 x f32>
// CHECK: [[N:%.+]] = tile.add [[L]], [[R]] : !tile.tile<b0=2 x 4096 x f32>
// CHECK: tile.yield [[N]]
// CHECK: [[S:%r]] = tile.reduce add [[P]] [1]
// CHECK-NEXT: tile.store [[S]], %out[%i]
func.func @sum(%x: memref<4x130000xf32>, %out: memref<4xf32>) {
  tile.grid (%i: b0=2) in (4) {
    %z = tile.full 0.0 : !tile.tile<b0=2 x f32>
    %r = tile.for %k: b1=4096 in (0, 130000) iter(%a = %z) -> (!tile.tile<b0=2 x f32>) {
      %v = tile.load %x[%i, %k] : memref<4x130000xf32> -> !tile.tile<b0=2 x b1=4096 x f32>
      %m = tile.mask %v in (_, %k) else 0.0 : !tile.tile<b0=2 x b1=4096 x f32>
      %s = tile.reduce add %m [1] : !tile.tile<b0=2 x b1=4096 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=2 x f32>
      tile.yield %n : !tile.tile<b0=2 x f32>
    }
    tile.store %r, %out[%i] : !tile.tile<b0=2 x f32>, memref<4xf32>
  }
  func.return
}

// Two values of one loop, one under another shape, that begin at what the loop is given.
// CHECK-LABEL: func.func @starts
// CHECK: tile.for {{.+}} -> (!tile.tile<64 x f32>, !tile.tile<64 x i32>) {
// CHECK: tile.maximum
// CHECK: tile.add
// CHECK: [[M:%.+]] = tile.reduce max
// CHECK: [[R:%.+]] = tile.reshape [[M]] : !tile.tile<f32> to !tile.tile<1 x f32>
// CHECK: tile.maximum {{%.+}}, [[R]] : !tile.tile<1 x f32>
// CHECK: [[S:%.+]] = tile.reduce add
// CHECK: tile.add {{%.+}}, [[S]] : !tile.tile<i32>
func.func @starts(%x: memref<640xf32>, %n: memref<640xi32>, %top: memref<1xf32>, %count: memref<i32>) {
  tile.grid () in () {
    %t = tile.load %top[0:1] : memref<1xf32> -> !tile.tile<1 x f32>
    %c = tile.load %count[] : memref<i32> -> !tile.tile<i32>
    %r:2 = tile.for %k: b1=64 in (0, 640) iter(%a = %t, %b = %c) -> (!tile.tile<1 x f32>, !tile.tile<i32>) {
      %v = tile.load %x[%k] : memref<640xf32> -> !tile.tile<b1=64 x f32>
      %w = tile.load %n[%k] : memref<640xi32> -> !tile.tile<b1=64 x i32>
      %s = tile.reduce max %v [0] : !tile.tile<b1=64 x f32>
      %o = tile.reshape %s : !tile.tile<f32> to !tile.tile<1 x f32>
      %p = tile.maximum %a, %o : !tile.tile<1 x f32>
      %u = tile.reduce add %w [0] : !tile.tile<b1=64 x i32>
      %q = tile.add %u, %b : !tile.tile<i32>
      tile.yield %p, %q : !tile.tile<1 x f32>, !tile.tile<i32>
    }
    tile.store %r#0, %top[0:1] : !tile.tile<1 x f32>, memref<1xf32>
    tile.store %r#1, %count[] : !tile.tile<i32>, memref<i32>
  }
  func.return
}

// A loop in a loop: the lanes of all visits of both.
// CHECK-LABEL: func.func @nested
// CHECK: tile.for %o: b1=512 {{.+}} -> (!tile.tile<64 x f32>) {
// CHECK: tile.for %k: b2=64 {{.+}} -> (!tile.tile<64 x f32>) {
// CHECK-NOT: tile.reduce
// CHECK: }
// CHECK-NOT: tile.reduce
// CHECK: }
// CHECK: tile.reduce add
// CHECK-NOT: tile.reduce
func.func @nested(%x: memref<4096xf32>, %out: memref<f32>) {
  tile.grid () in () {
    %z = tile.full 0.0 : !tile.tile<f32>
    %r = tile.for %o: b1=512 in (0, 4096) iter(%a = %z) -> (!tile.tile<f32>) {
      %b = tile.begin %o : !tile.range<b1=512>
      %e = tile.end %o : !tile.range<b1=512>
      %i = tile.for %k: b2=64 in (%b, %e) iter(%c = %a) -> (!tile.tile<f32>) {
        %v = tile.load %x[%k] : memref<4096xf32> -> !tile.tile<b2=64 x f32>
        %s = tile.reduce add %v [0] : !tile.tile<b2=64 x f32>
        %n = tile.add %c, %s : !tile.tile<f32>
        tile.yield %n : !tile.tile<f32>
      }
      tile.yield %i : !tile.tile<f32>
    }
    tile.store %r, %out[] : !tile.tile<f32>, memref<f32>
  }
  func.return
}

// What is asked for in each visit stays, and what is combined in another way than reduced.
// CHECK-LABEL: func.func @left
// CHECK: tile.for
// CHECK-COUNT-2: tile.reduce
// CHECK: tile.yield
// CHECK-NOT: tile.reduce
func.func @left(%y: memref<8x65536xf32>, %sums: memref<2x8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %f = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r:2 = tile.for %k: b1=512 in (0, 65536) iter(%b = %f, %d = %f) -> (!tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>) {
      %w = tile.load %y[%i, %k] : memref<8x65536xf32> -> !tile.tile<b0=8 x b1=512 x f32>
      %t = tile.reduce max %w [1] : !tile.tile<b0=8 x b1=512 x f32>
      %o = tile.add %b, %t : !tile.tile<b0=8 x f32>
      %u = tile.reduce add %w [1] : !tile.tile<b0=8 x b1=512 x f32>
      %h = tile.mul %d, %o : !tile.tile<b0=8 x f32>
      %q = tile.add %h, %u : !tile.tile<b0=8 x f32>
      tile.yield %o, %q : !tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>
    }
    tile.store %r#0, %sums[0, %i] : !tile.tile<b0=8 x f32>, memref<2x8xf32>
    tile.store %r#1, %sums[1, %i] : !tile.tile<b0=8 x f32>, memref<2x8xf32>
  }
  func.return
}

// Nor do lanes move that take too many registers: the first 64 KiB do.
// CHECK-LABEL: func.func @large
// CHECK: tile.for {{.+}} -> (!tile.tile<b0=2 x 4096 x f32>, !tile.tile<b0=2 x 4096 x f32>, !tile.tile<b0=2 x f32>) {
// CHECK: [[S:%.+]] = tile.reduce min
// CHECK: tile.minimum {{%.+}}, [[S]] : !tile.tile<b0=2 x f32>
// CHECK: tile.yield
// CHECK: tile.reduce add
// CHECK: tile.reduce max
func.func @large(%y: memref<8x65536xf32>, %sums: memref<3x8xf32>) {
  tile.grid (%i: b0=2) in (8) {
    %f = tile.full 0.0 : !tile.tile<b0=2 x f32>
    %r:3 = tile.for %k: b1=4096 in (0, 65536) iter(%a = %f, %b = %f, %c = %f) -> (!tile.tile<b0=2 x f32>, !tile.tile<b0=2 x f32>, !tile.tile<b0=2 x f32>) {
      %w = tile.load %y[%i, %k] : memref<8x65536xf32> -> !tile.tile<b0=2 x b1=4096 x f32>
      %s = tile.reduce add %w [1] : !tile.tile<b0=2 x b1=4096 x f32>
      %l = tile.add %a, %s : !tile.tile<b0=2 x f32>
      %t = tile.reduce max %w [1] : !tile.tile<b0=2 x b1=4096 x f32>
      %m = tile.maximum %b, %t : !tile.tile<b0=2 x f32>
      %u = tile.reduce min %w [1] : !tile.tile<b0=2 x b1=4096 x f32>
      %n = tile.minimum %c, %u : !tile.tile<b0=2 x f32>
      tile.yield %l, %m, %n : !tile.tile<b0=2 x f32>, !tile.tile<b0=2 x f32>, !tile.tile<b0=2 x f32>
    }
    tile.store %r#0, %sums[0, %i] : !tile.tile<b0=2 x f32>, memref<3x8xf32>
    tile.store %r#1, %sums[1, %i] : !tile.tile<b0=2 x f32>, memref<3x8xf32>
    tile.store %r#2, %sums[2, %i] : !tile.tile<b0=2 x f32>, memref<3x8xf32>
  }
  func.return
}

// Loops with products keep their reductions.
// CHECK-LABEL: func.func @product
// CHECK: tile.dot
// CHECK: tile.reduce
// CHECK: tile.yield
func.func @product(%x: memref<64x4096xf32>, %out: memref<64x64xf32>, %norms: memref<64xf32>) {
  tile.grid (%i: b0=64) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=64 x f32>
    %f = tile.full 0.0 : !tile.tile<b0=64 x b0=64 x f32>
    %r:2 = tile.for %k: b1=32 in (0, 4096) iter(%a = %z, %b = %f) -> (!tile.tile<b0=64 x f32>, !tile.tile<b0=64 x b0=64 x f32>) {
      %v = tile.load %x[%i, %k] : memref<64x4096xf32> -> !tile.tile<b0=64 x b1=32 x f32>
      %t = tile.transpose %v [1, 0] : !tile.tile<b0=64 x b1=32 x f32>
      %d = tile.dot %v, %t, %b : !tile.tile<b0=64 x b1=32 x f32>, !tile.tile<b1=32 x b0=64 x f32> -> !tile.tile<b0=64 x b0=64 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=64 x b1=32 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=64 x f32>
      tile.yield %n, %d : !tile.tile<b0=64 x f32>, !tile.tile<b0=64 x b0=64 x f32>
    }
    tile.store %r#0, %norms[%i] : !tile.tile<b0=64 x f32>, memref<64xf32>
    tile.store %r#1, %out[%i, %i] : !tile.tile<b0=64 x b0=64 x f32>, memref<64x64xf32>
  }
  func.return
}
