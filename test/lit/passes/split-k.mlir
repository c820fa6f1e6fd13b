// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(split-k{factor=2},dce)' --remarks 2>&1 | filecheck %s
// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(split-k{factor=2 deterministic=true},dce)' | filecheck %s --check-prefix=ORDER
// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(split-k{factor=2 deterministic=true open-blocks=true},dce)' | filecheck %s --check-prefix=OPEN

// A cell that only stores its sum updates the output, which starts at 0. 600 = 5 blocks: 3 in the first part.
// CHECK-LABEL: @sums
// CHECK: %out = host.alloc fill 0.0 : memref<1000xf32>
// CHECK: tile.grid (%i: b0=8, %part: b2=384) in (1000, 600) {
// CHECK: [[FROM:%.+]] = tile.begin %part
// CHECK: [[TO:%.+]] = tile.end %part
// CHECK: %sum = tile.for %k: b1=128 in ([[FROM]], [[TO]])
// CHECK: atomic.rmw add %sum, %out[%i]
// CHECK-NOT: tile.store

// Each part has a place of its own, and a second grid adds them up.
// ORDER-LABEL: @sums
// ORDER: %a_parts = host.alloc : memref<2x1000xf32>
// ORDER: [[ID:%.+]] = tile.id %part
// ORDER: tile.store %sum, %a_parts[[[ID]], %i]
// ORDER: tile.grid (%{{.*}}: b2=8) in (1000) {
// ORDER: [[PARTS:%.+]] = tile.load %a_parts[:, %{{.*}}]
// ORDER: [[SUM:%.+]] = tile.reduce add [[PARTS]] [0]
// ORDER: tile.store [[SUM]], %out

// The second grid's blocks may have another size. Only those, and none on which results depend.
// OPEN-LABEL: @sums
// OPEN-SAME: tile.open = [#tile.open<b2>]
func.func @sums(%x: memref<1000x600xf32>) -> memref<1000xf32> {
  %out = host.alloc : memref<1000xf32>
  tile.grid (%i: b0=8) in (1000) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %sum = tile.for %k: b1=128 in (0, 600) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<1000x600xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    tile.store %sum, %out[%i] : !tile.tile<b0=8 x f32>, memref<1000xf32>
  }
  func.return %out : memref<1000xf32>
}

// -----

// What follows the loop waits in a second grid; an initial value that is not neutral is added there, once.
// Columns are cells of their own: the workspace tells them apart.
// CHECK-LABEL: @scaled
// CHECK: %a_parts = host.alloc fill 0.0 : memref<25x1000xf32>
// CHECK: atomic.rmw add %sum, %a_parts[{{%.+}}, %i]
// CHECK: tile.grid (%{{.*}}: b3=8, %{{.*}}: b4=1)
// CHECK: [[ONE:%.+]] = tile.full 1.0
// CHECK: [[TOTAL:%.+]] = tile.load %a_parts[%{{.*}}, %{{.*}}]
// CHECK: [[ALL:%.+]] = tile.add [[ONE]], [[TOTAL]]
// CHECK: tile.exp [[ALL]]

// Blocks of one element stay as they are.
// OPEN-LABEL: @scaled
// OPEN-SAME: tile.open = [#tile.open<b3>]
func.func @scaled(%x: memref<1000x600x25xf32>, %out: memref<1000x25xf32>) {
  tile.grid (%i: b0=8, %j: b1=1) in (1000, 25) {
    %one = tile.full 1.0 : !tile.tile<b0=8 x f32>
    %c = tile.id %j : !tile.range<b1=1>
    %sum = tile.for %k: b2=128 in (0, 600) iter(%a = %one) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k, %c] : memref<1000x600x25xf32> -> !tile.tile<b0=8 x b2=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b2=128 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    %e = tile.exp %sum : !tile.tile<b0=8 x f32>
    tile.store %e, %out[%i, %c] : !tile.tile<b0=8 x f32>, memref<1000x25xf32>
  }
  func.return
}

// -----

// Atomic maxima of floats are not torch's where there is a NaN, so parts are combined in order.
// CHECK-LABEL: @largest
// CHECK: %a_parts = host.alloc : memref<2x8xf32>
// CHECK: tile.reduce max
func.func @largest(%x: memref<8x600xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %z = tile.full -inf : !tile.tile<b0=8 x f32>
    %top = tile.for %k: b1=128 in (0, 600) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<8x600xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.maximum %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    tile.store %top, %out[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  func.return
}

// -----

// What is combined of a block's rows shows its size.
// OPEN-LABEL: @shares
// OPEN-NOT: tile.open =
// OPEN: return
func.func @shares(%x: memref<1000x600xf32>, %out: memref<1000xf32>) {
  tile.grid (%i: b0=8) in (1000) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %sum = tile.for %k: b1=128 in (0, 600) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<1000x600xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    %most = tile.reduce max %sum [0] : !tile.tile<b0=8 x f32>
    %all = tile.broadcast %most dims [] : !tile.tile<f32> to !tile.tile<b0=8 x f32>
    %share = tile.div %sum, %all : !tile.tile<b0=8 x f32>
    tile.store %share, %out[%i] : !tile.tile<b0=8 x f32>, memref<1000xf32>
  }
  func.return
}

// -----

// Parts of a sum that is rescaled by half the change of a maximum are brought to the maximum of all by half of it, too.
// CHECK-LABEL: func.func @rescaled
// CHECK-NEXT: %m_parts = host.alloc : memref<2x8xf32>
// CHECK-NEXT: %a_parts = host.alloc : memref<2x8xf32>
// CHECK-NEXT: tile.grid (%i: b0=8, %part: b3=384) in (8, 600) {
// CHECK-NEXT: %half = tile.full 0.5 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %0 = tile.begin %part : !tile.range<b3=384>
// CHECK-NEXT: %1 = tile.end %part : !tile.range<b3=384>
// CHECK-NEXT: %2 = tile.full -inf : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %3 = tile.full 0.0 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %top, %sum = tile.for %k: b1=128 in (%0, %1) iter(%m = %2, %a = %3) -> (!tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>) {
// CHECK-NEXT: %halves = tile.full 0.5 : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %v = tile.load %x[%i, %k] : memref<8x600xf32> -> !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %t = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %n = tile.maximum %m, %t : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %d = tile.sub %m, %n : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %h = tile.mul %d, %half : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %f = tile.exp %h : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %s = tile.mul %a, %f : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %b = tile.broadcast %n dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %g = tile.sub %v, %b : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %l = tile.mul %g, %halves : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %e = tile.exp %l : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %p = tile.reduce add %e [1] : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %w = tile.add %s, %p : !tile.tile<b0=8 x f32>
// CHECK-NEXT: tile.yield %n, %w : !tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: %4 = tile.id %part : !tile.range<b3=384>
// CHECK-NEXT: tile.store %top, %m_parts[%4, %i] : !tile.tile<b0=8 x f32>, memref<2x8xf32>
// CHECK-NEXT: %5 = tile.id %part : !tile.range<b3=384>
// CHECK-NEXT: tile.store %sum, %a_parts[%5, %i] : !tile.tile<b0=8 x f32>, memref<2x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.grid (%i_1: b2=8) in (8) {
// CHECK-NEXT: %6 = tile.load %m_parts[:, %i_1] : memref<2x8xf32> -> !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %7 = tile.load %a_parts[:, %i_1] : memref<2x8xf32> -> !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %top_1 = tile.reduce max %6 [0] : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %8 = tile.reduce max %6 [0] : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %9 = tile.broadcast %8 dims [1] : !tile.tile<b2=8 x f32> to !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %10 = tile.eq %6, %9 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %11 = tile.sub %6, %9 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %12 = tile.full 0.5 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %13 = tile.mul %11, %12 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %14 = tile.full 1.0 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %15 = tile.exp %13 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %16 = tile.select %10, %14, %15 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %17 = tile.mul %7, %16 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %18 = tile.full -inf : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %19 = tile.eq %6, %18 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %20 = tile.not %10 : !tile.tile<2 x b2=8 x i1>
// CHECK-NEXT: %21 = tile.and %19, %20 : !tile.tile<2 x b2=8 x i1>
// CHECK-NEXT: %22 = tile.full 0.0 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %23 = tile.select %21, %22, %17 : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: %sum_1 = tile.reduce add %23 [0] : !tile.tile<2 x b2=8 x f32>
// CHECK-NEXT: tile.store %sum_1, %out[%i_1] : !tile.tile<b2=8 x f32>, memref<8xf32>
// CHECK-NEXT: tile.store %top_1, %most[%i_1] : !tile.tile<b2=8 x f32>, memref<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @rescaled(%x: memref<8x600xf32>, %out: memref<8xf32>, %most: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %none = tile.full -inf : !tile.tile<b0=8 x f32>
    %zero = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %half = tile.full 0.5 : !tile.tile<b0=8 x f32>
    %top, %sum = tile.for %k: b1=128 in (0, 600) iter(%m = %none, %a = %zero) -> (!tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>) {
      %halves = tile.full 0.5 : !tile.tile<b0=8 x b1=128 x f32>
      %v = tile.load %x[%i, %k] : memref<8x600xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %t = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.maximum %m, %t : !tile.tile<b0=8 x f32>
      %d = tile.sub %m, %n : !tile.tile<b0=8 x f32>
      %h = tile.mul %d, %half : !tile.tile<b0=8 x f32>
      %f = tile.exp %h : !tile.tile<b0=8 x f32>
      %s = tile.mul %a, %f : !tile.tile<b0=8 x f32>
      %b = tile.broadcast %n dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x b1=128 x f32>
      %g = tile.sub %v, %b : !tile.tile<b0=8 x b1=128 x f32>
      %l = tile.mul %g, %halves : !tile.tile<b0=8 x b1=128 x f32>
      %e = tile.exp %l : !tile.tile<b0=8 x b1=128 x f32>
      %p = tile.reduce add %e [1] : !tile.tile<b0=8 x b1=128 x f32>
      %w = tile.add %s, %p : !tile.tile<b0=8 x f32>
      tile.yield %n, %w : !tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>
    }
    tile.store %sum, %out[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
    tile.store %top, %most[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  func.return
}
