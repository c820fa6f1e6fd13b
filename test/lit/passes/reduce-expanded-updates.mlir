// RUN: kopt %s --split-input-file -p reduce-expanded-updates | filecheck %s

// Lanes that meet are combined first, in f32, and masked ones change nothing. The view has no use left.
// CHECK-LABEL: func.func @sums
// CHECK-NOT: host.expand
// CHECK: %[[WIDE:.*]] = tile.cast %v : !tile.tile<b0=8 x b1=16 x bf16> to !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %[[ZERO:.*]] = tile.full 0.0
// CHECK-NEXT: %[[KEPT:.*]] = tile.select %m, %[[WIDE]], %[[ZERO]]
// CHECK-NEXT: %[[SUM:.*]] = tile.reduce add %[[KEPT]] [0]
// CHECK-NEXT: %[[ROUNDED:.*]] = tile.cast %[[SUM]] : !tile.tile<b1=16 x f32> to !tile.tile<b1=16 x bf16>
// CHECK-NEXT: atomic.rmw add %[[ROUNDED]], %out[0, %j] : !tile.tile<b1=16 x bf16>, memref<1x40xbf16>
func.func @sums(%x: memref<37x40xbf16>, %k: memref<37x40xi1>, %out: memref<1x40xbf16>) {
  %wide = host.expand %out : memref<1x40xbf16> to memref<37x40xbf16, strided<[0, 1]>>
  tile.grid (%i: b0=8, %j: b1=16) in (37, 40) {
    %v = tile.load %x[%i, %j] : memref<37x40xbf16> -> !tile.tile<b0=8 x b1=16 x bf16>
    %m = tile.load %k[%i, %j] : memref<37x40xi1> -> !tile.tile<b0=8 x b1=16 x i1>
    atomic.rmw add %v, %wide[%i, %j] mask %m : !tile.tile<b0=8 x b1=16 x bf16>, memref<37x40xbf16, strided<[0, 1]>>
  }
  func.return
}

// -----

// An exchange does not commute: lanes meet one by one.
// CHECK-LABEL: func.func @last
// CHECK-NOT: host.expand
// CHECK: [[ZERO:%.+]] = tile.full 0 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: atomic.rmw xchg %v, %out[[[ZERO]], %j]
func.func @last(%x: memref<37x40xf32>, %out: memref<1x40xf32>) {
  %wide = host.expand %out : memref<1x40xf32> to memref<37x40xf32, strided<[0, 1]>>
  tile.grid (%i: b0=8, %j: b1=16) in (37, 40) {
    %v = tile.load %x[%i, %j] : memref<37x40xf32> -> !tile.tile<b0=8 x b1=16 x f32>
    atomic.rmw xchg %v, %wide[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
  }
  func.return
}

// -----

// One row of the view, by number: nothing meets.
// CHECK-LABEL: func.func @one
// CHECK: atomic.rmw max %v, %out[0, %j]
func.func @one(%x: memref<40xi32>, %out: memref<1x40xi32>) {
  %wide = host.expand %out : memref<1x40xi32> to memref<37x40xi32, strided<[0, 1]>>
  tile.grid (%j: b1=16) in (40) {
    %v = tile.load %x[%j] : memref<40xi32> -> !tile.tile<b1=16 x i32>
    atomic.rmw max %v, %wide[3, %j] : !tile.tile<b1=16 x i32>, memref<37x40xi32, strided<[0, 1]>>
  }
  func.return
}

// -----

// New dimensions have one element in the source; lanes of two of them meet in it.
// CHECK-LABEL: func.func @new
// CHECK: [[ONE:%.+]] = host.reshape %out : memref<40xf32> to memref<1x1x40xf32>
// CHECK: [[ZERO:%.+]] = tile.full 0 : !tile.tile<b0=8 x b1=4 x i32>
// CHECK-NEXT: {{%.+}} = atomic.rmw add %v, [[ONE]][[[ZERO]], 0, %j]
func.func @new(%x: memref<37x6x40xf32>, %out: memref<40xf32>, %seen: memref<37x6x40xf32>) {
  %wide = host.expand %out : memref<40xf32> to memref<37x6x40xf32, strided<[0, 0, 1]>>
  tile.grid (%i: b0=8, %k: b1=4, %j: b2=16) in (37, 6, 40) {
    %v = tile.load %x[%i, %k, %j] : memref<37x6x40xf32> -> !tile.tile<b0=8 x b1=4 x b2=16 x f32>
    %old = atomic.rmw add %v, %wide[%i, %k, %j] : !tile.tile<b0=8 x b1=4 x b2=16 x f32>, memref<37x6x40xf32, strided<[0, 0, 1]>> -> !tile.tile<b0=8 x b1=4 x b2=16 x f32>
    tile.store %old, %seen[%i, %k, %j] : !tile.tile<b0=8 x b1=4 x b2=16 x f32>, memref<37x6x40xf32>
  }
  func.return
}

// -----

// Numbers of the repeated dimension name its one element, or nothing; numbers of another get the lanes that meet.
// CHECK-LABEL: func.func @numbers
// CHECK: [[HERE:%.+]] = tile.floordiv %n,
// CHECK: atomic.rmw add %v, %out[[[HERE]], %j]
// CHECK: [[LANES:%.+]] = tile.broadcast %m dims [1]
// CHECK-NEXT: atomic.rmw xchg %u, %out[0, [[LANES]]]
func.func @numbers(%x: memref<37x40xf32>, %rows: memref<37xi32>, %columns: memref<40xi32>, %out: memref<1x40xf32>) {
  %wide = host.expand %out : memref<1x40xf32> to memref<37x40xf32, strided<[0, 1]>>
  tile.grid (%i: b0=8, %j: b1=16) in (37, 40) {
    %n = tile.load %rows[%i] : memref<37xi32> -> !tile.tile<b0=8 x i32>
    %v = tile.load %x[%i, %j] : memref<37x40xf32> -> !tile.tile<b0=8 x b1=16 x f32>
    atomic.rmw add %v, %wide[%n, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
    %m = tile.load %columns[%j] : memref<40xi32> -> !tile.tile<b1=16 x i32>
    %u = tile.load %x[%i, %j] : memref<37x40xf32> -> !tile.tile<b0=8 x b1=16 x f32>
    atomic.rmw xchg %u, %wide[%i, %m] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
  }
  func.return
}

// -----

// Blocks that go beyond the view are left: a loop that ends behind it, and a shifted block.
// CHECK-LABEL: func.func @outside
// CHECK-NEXT: %wide = host.expand %out : memref<1x40xf32> to memref<37x40xf32, strided<[0, 1]>>
// CHECK-NEXT: tile.grid (%i: b0=8, %j: b1=16) in (38, 40) {
// CHECK-NEXT: %v = tile.load %x[%i, %j] : memref<40x40xf32> -> !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: atomic.rmw add %v, %wide[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
// CHECK-NEXT: %n = arith.constant 1 : index
// CHECK-NEXT: %k = tile.shift %i by %n : !tile.range<b0=8>
// CHECK-NEXT: atomic.rmw add %v, %wide[%k, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @outside(%x: memref<40x40xf32>, %out: memref<1x40xf32>) {
  %wide = host.expand %out : memref<1x40xf32> to memref<37x40xf32, strided<[0, 1]>>
  tile.grid (%i: b0=8, %j: b1=16) in (38, 40) {
    %v = tile.load %x[%i, %j] : memref<40x40xf32> -> !tile.tile<b0=8 x b1=16 x f32>
    atomic.rmw add %v, %wide[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
    %n = arith.constant 1 : index
    %k = tile.shift %i by %n : !tile.range<b0=8>
    atomic.rmw add %v, %wide[%k, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
  }
  func.return
}

// -----

// A loop that ends before the view does, in whole blocks, and rows of which nothing is taken twice.
// CHECK-LABEL: func.func @inside
// CHECK-NEXT: tile.grid (%i: b0=8, %j: b1=16) in (37, 40) {
// CHECK-NEXT: %v = tile.load %x[%i, %j] : memref<40x40xf32> -> !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %0 = tile.reduce max %v [0] : !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: atomic.rmw max %0, %out[0, %j] : !tile.tile<b1=16 x f32>, memref<1x40xf32>
// CHECK-NEXT: %w = tile.load %x[3:8, %j] : memref<40x40xf32> -> !tile.tile<5 x b1=16 x f32>
// CHECK-NEXT: %1 = tile.reduce min %w [0] : !tile.tile<5 x b1=16 x f32>
// CHECK-NEXT: atomic.rmw min %1, %out[0, %j] : !tile.tile<b1=16 x f32>, memref<1x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @inside(%x: memref<40x40xf32>, %out: memref<1x40xf32>) {
  %wide = host.expand %out : memref<1x40xf32> to memref<37x40xf32, strided<[0, 1]>>
  tile.grid (%i: b0=8, %j: b1=16) in (37, 40) {
    %v = tile.load %x[%i, %j] : memref<40x40xf32> -> !tile.tile<b0=8 x b1=16 x f32>
    atomic.rmw max %v, %wide[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
    %w = tile.load %x[3:8, %j] : memref<40x40xf32> -> !tile.tile<5 x b1=16 x f32>
    atomic.rmw min %w, %wide[3:8, %j] : !tile.tile<5 x b1=16 x f32>, memref<37x40xf32, strided<[0, 1]>>
  }
  func.return
}

// -----

// An update whose old value is used meets row by row: its rows are all numbered 0.
// CHECK-LABEL: func.func @between
// CHECK-NEXT: tile.grid (%i: b0=8, %j: b1=16, %k: b2=8) in (8, 16, 8) {
// CHECK-NEXT: %v = tile.load %x[%i, %j, %k] : memref<8x16x8xf32> -> !tile.tile<b0=8 x b1=16 x b2=8 x f32>
// CHECK-NEXT: %0 = tile.full 0 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %p = atomic.rmw add %v, %out[%0, %j, %k] : !tile.tile<b0=8 x b1=16 x b2=8 x f32>, memref<1x16x8xf32> -> !tile.tile<b0=8 x b1=16 x b2=8 x f32>
// CHECK-NEXT: tile.store %p, %x[%i, %j, %k] : !tile.tile<b0=8 x b1=16 x b2=8 x f32>, memref<8x16x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @between(%x: memref<8x16x8xf32>, %rows: memref<8xi32>, %out: memref<1x16x8xf32>) {
  %wide = host.expand %out : memref<1x16x8xf32> to memref<37x16x8xf32, strided<[0, 8, 1]>>
  tile.grid (%i: b0=8, %j: b1=16, %k: b2=8) in (8, 16, 8) {
    %v = tile.load %x[%i, %j, %k] : memref<8x16x8xf32> -> !tile.tile<b0=8 x b1=16 x b2=8 x f32>
    %p = atomic.rmw add %v, %wide[%i, %j, %k] : !tile.tile<b0=8 x b1=16 x b2=8 x f32>, memref<37x16x8xf32, strided<[0, 8, 1]>> -> !tile.tile<b0=8 x b1=16 x b2=8 x f32>
    tile.store %p, %x[%i, %j, %k] : !tile.tile<b0=8 x b1=16 x b2=8 x f32>, memref<8x16x8xf32>
  }
  func.return
}

// -----

// Repeated dimensions with another one between them have no numbers in one place: the update stays.
// CHECK-LABEL: func.func @apart
// CHECK-NEXT: %wide = host.expand %out : memref<1x16x1xf32> to memref<37x16x8xf32, strided<[0, 1, 0]>>
// CHECK-NEXT: tile.grid (%i: b0=8, %j: b1=16, %k: b2=8) in (8, 16, 8) {
// CHECK-NEXT: %v = tile.load %x[%i, %j, %k] : memref<8x16x8xf32> -> !tile.tile<b0=8 x b1=16 x b2=8 x f32>
// CHECK-NEXT: %p = atomic.rmw add %v, %wide[%i, %j, %k] : !tile.tile<b0=8 x b1=16 x b2=8 x f32>, memref<37x16x8xf32, strided<[0, 1, 0]>> -> !tile.tile<b0=8 x b1=16 x b2=8 x f32>
// CHECK-NEXT: tile.store %p, %x[%i, %j, %k] : !tile.tile<b0=8 x b1=16 x b2=8 x f32>, memref<8x16x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @apart(%x: memref<8x16x8xf32>, %out: memref<1x16x1xf32>) {
  %wide = host.expand %out : memref<1x16x1xf32> to memref<37x16x8xf32, strided<[0, 1, 0]>>
  tile.grid (%i: b0=8, %j: b1=16, %k: b2=8) in (8, 16, 8) {
    %v = tile.load %x[%i, %j, %k] : memref<8x16x8xf32> -> !tile.tile<b0=8 x b1=16 x b2=8 x f32>
    %p = atomic.rmw add %v, %wide[%i, %j, %k] : !tile.tile<b0=8 x b1=16 x b2=8 x f32>, memref<37x16x8xf32, strided<[0, 1, 0]>> -> !tile.tile<b0=8 x b1=16 x b2=8 x f32>
    tile.store %p, %x[%i, %j, %k] : !tile.tile<b0=8 x b1=16 x b2=8 x f32>, memref<8x16x8xf32>
  }
  func.return
}
