// RUN: kopt %s --split-input-file --verify-diagnostics --verify-each -p drop-empty | filecheck %s

// Reductions give neutral values, products their accumulators; joined are the parts that there are.
// CHECK-LABEL: func.func @values
// CHECK-NOT: x 0 x
// CHECK: %s = tile.full -inf : !tile.tile<b0=4 x f32>
// CHECK-NEXT: tile.store %s, %out[%i, 0]
// CHECK-NEXT: %y = tile.load
// CHECK-NEXT: %d = tile.full 0.0 : !tile.tile<b0=4 x 4 x f32>
// CHECK-NEXT: %c = tile.concat %d, %y dim 1 : {{.*}} to !tile.tile<b0=4 x 8 x f32>
// CHECK-NEXT: tile.store %c, %joined[%i, :]
func.func @values(%x: memref<8x0xf32>, %w: memref<0x4xf32>, %o: memref<8x4xf32>, %out: memref<8x1xf32>, %joined: memref<8x8xf32>) {
  tile.grid (%i: b0=4) in (8) {
    %v = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=4 x 0 x f32>
    %e = tile.exp %v : !tile.tile<b0=4 x 0 x f32>
    %s = tile.reduce max %e [1] : !tile.tile<b0=4 x 0 x f32>
    tile.store %s, %out[%i, 0] : !tile.tile<b0=4 x f32>, memref<8x1xf32>
    %y = tile.load %o[%i, :] : memref<8x4xf32> -> !tile.tile<b0=4 x 4 x f32>
    %r = tile.load %w[:, :] : memref<0x4xf32> -> !tile.tile<0 x 4 x f32>
    %d = tile.dot %e, %r : !tile.tile<b0=4 x 0 x f32>, !tile.tile<0 x 4 x f32> -> !tile.tile<b0=4 x 4 x f32>
    %c = tile.concat %d, %e, %y dim 1 : !tile.tile<b0=4 x 4 x f32>, !tile.tile<b0=4 x 0 x f32>, !tile.tile<b0=4 x 4 x f32> to !tile.tile<b0=4 x 8 x f32>
    tile.store %c, %joined[%i, :] : !tile.tile<b0=4 x 8 x f32>, memref<8x8xf32>
  }
  func.return
}

// -----

// Rows by number of an array without rows: none is loaded or stored.
// CHECK-LABEL: func.func @rows
// CHECK: %v = tile.full 0.0 : !tile.tile<b0=4 x 8 x f32>
// CHECK-NOT: %x[
// CHECK: tile.store %v, %out[%i, :]
// CHECK-NOT: %x[
// CHECK: func.return
func.func @rows(%x: memref<0x8xf32>, %n: memref<8xi32>, %out: memref<8x8xf32>) {
  tile.grid (%i: b0=4) in (8) {
    %r = tile.load %n[%i] : memref<8xi32> -> !tile.tile<b0=4 x i32>
    %m = tile.full 0 : !tile.tile<b0=4 x 8 x i1>
    %v = tile.load %x[%r, :] mask %m : memref<0x8xf32> -> !tile.tile<b0=4 x 8 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=4 x 8 x f32>, memref<8x8xf32>
    tile.store %v, %x[%r, :] mask %m : !tile.tile<b0=4 x 8 x f32>, memref<0x8xf32>
  }
  func.return
}

// -----

// No lanes of a block are stored in an array that has rows; an update of them gives none.
// CHECK-LABEL: func.func @lanes
// CHECK-NOT: x 0 x
// CHECK: tile.store %y, %out[%i, :]
// CHECK-NOT: tile.store
// CHECK-NOT: atomic.rmw
// CHECK: func.return
func.func @lanes(%x: memref<8x0xf32>, %out: memref<8x8xf32>, %n: memref<8x0xi32>) {
  tile.grid (%i: b0=4) in (8) {
    %y = tile.full 1.0 : !tile.tile<b0=4 x 8 x f32>
    tile.store %y, %out[%i, :] : !tile.tile<b0=4 x 8 x f32>, memref<8x8xf32>
    %v = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=4 x 0 x f32>
    %c = tile.load %n[%i, :] : memref<8x0xi32> -> !tile.tile<b0=4 x 0 x i32>
    tile.store %v, %out[%c, %c] : !tile.tile<b0=4 x 0 x f32>, memref<8x8xf32>
    %old = atomic.rmw add %v, %out[%c, %c] : !tile.tile<b0=4 x 0 x f32>, memref<8x8xf32> -> !tile.tile<b0=4 x 0 x f32>
  }
  func.return
}

// -----

// The first of no elements is none.
func.func @first(%x: memref<8x0xf32>, %out: memref<8xi32>) {
  tile.grid (%i: b0=4) in (8) {
    %v = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=4 x 0 x f32> // expected-error {{'tile.load' computes on a block without lanes}}
    %n = tile.argreduce max %v dim 1 : !tile.tile<b0=4 x 0 x f32>
    tile.store %n, %out[%i] : !tile.tile<b0=4 x i32>, memref<8xi32>
  }
  func.return
}

// -----

// Loops carry, and branches give, only values with lanes; the loop keeps its bounds, its schedule and its notes.
// CHECK-LABEL: func.func @carried
// CHECK-NEXT: tile.grid (%i: b0=8) in (8) {
// CHECK-NEXT: %v = tile.load %y[%i, :] : memref<8x4xf32> -> !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: %r = tile.for %k: b1=2 in (2, 10) iter(%b = %v) -> (!tile.tile<b0=8 x 4 x f32>) schedule prefetch attributes {note = "kept"} {
// CHECK-NEXT: %w = tile.add %b, %v : !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: tile.yield %w : !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %r, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<8x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @carried(%x: memref<8x0xf32>, %y: memref<8x4xf32>, %out: memref<8x4xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %e = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=8 x 0 x f32>
    %v = tile.load %y[%i, :] : memref<8x4xf32> -> !tile.tile<b0=8 x 4 x f32>
    %r:3 = tile.for %k: b1=2 in (2, 10) iter(%a = %e, %b = %v, %c = %e) -> (!tile.tile<b0=8 x 0 x f32>, !tile.tile<b0=8 x 4 x f32>, !tile.tile<b0=8 x 0 x f32>) schedule prefetch attributes {note = "kept"} {
      %n = tile.add %a, %c : !tile.tile<b0=8 x 0 x f32>
      %w = tile.add %b, %v : !tile.tile<b0=8 x 4 x f32>
      tile.yield %n, %w, %a : !tile.tile<b0=8 x 0 x f32>, !tile.tile<b0=8 x 4 x f32>, !tile.tile<b0=8 x 0 x f32>
    }
    %t = tile.exp %r#2 : !tile.tile<b0=8 x 0 x f32>
    tile.store %r#1, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<8x4xf32>
  }
  func.return
}

// -----

// A loop still yields first whether it goes on.
// CHECK-LABEL: func.func @while
// CHECK-NEXT: tile.grid (%i: b0=8) in (8) {
// CHECK-NEXT: %v = tile.load %y[%i, :] : memref<8x4xf32> -> !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: %r = tile.while %go iter(%b = %v) -> (!tile.tile<b0=8 x 4 x f32>) attributes {note = "kept"} {
// CHECK-NEXT: %w = tile.exp %b : !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: %more = arith.constant false
// CHECK-NEXT: tile.yield %more, %w : i1, !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %r, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<8x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @while(%x: memref<8x0xf32>, %y: memref<8x4xf32>, %out: memref<8x4xf32>, %go: i1) {
  tile.grid (%i: b0=8) in (8) {
    %e = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=8 x 0 x f32>
    %v = tile.load %y[%i, :] : memref<8x4xf32> -> !tile.tile<b0=8 x 4 x f32>
    %r:2 = tile.while %go iter(%a = %e, %b = %v) -> (!tile.tile<b0=8 x 0 x f32>, !tile.tile<b0=8 x 4 x f32>) attributes {note = "kept"} {
      %n = tile.exp %a : !tile.tile<b0=8 x 0 x f32>
      %w = tile.exp %b : !tile.tile<b0=8 x 4 x f32>
      %more = arith.constant false
      tile.yield %more, %n, %w : i1, !tile.tile<b0=8 x 0 x f32>, !tile.tile<b0=8 x 4 x f32>
    }
    tile.store %r#1, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<8x4xf32>
  }
  func.return
}

// -----

// The branch stays where its condition is, also if nothing is left that it gives.
// CHECK-LABEL: func.func @branch
// CHECK-NEXT: tile.grid (%i: b0=8) in (8) {
// CHECK-NEXT: %v = tile.load %y[%i, :] : memref<8x4xf32> -> !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: %r = scf.if %go -> (!tile.tile<b0=8 x 4 x f32>) {
// CHECK-NEXT: %a = tile.exp %v : !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: scf.yield %a : !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %v : !tile.tile<b0=8 x 4 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %go {
// CHECK-NEXT: tile.store %r, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<8x4xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @branch(%x: memref<8x0xf32>, %y: memref<8x4xf32>, %out: memref<8x4xf32>, %go: i1) {
  tile.grid (%i: b0=8) in (8) {
    %e = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=8 x 0 x f32>
    %v = tile.load %y[%i, :] : memref<8x4xf32> -> !tile.tile<b0=8 x 4 x f32>
    %r:2 = scf.if %go -> (!tile.tile<b0=8 x 4 x f32>, !tile.tile<b0=8 x 0 x f32>) {
      %a = tile.exp %v : !tile.tile<b0=8 x 4 x f32>
      scf.yield %a, %e : !tile.tile<b0=8 x 4 x f32>, !tile.tile<b0=8 x 0 x f32>
    } else {
      %b = tile.exp %e : !tile.tile<b0=8 x 0 x f32>
      scf.yield %v, %b : !tile.tile<b0=8 x 4 x f32>, !tile.tile<b0=8 x 0 x f32>
    }
    %q = scf.if %go -> (!tile.tile<b0=8 x 0 x f32>) {
      tile.store %r#0, %out[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<8x4xf32>
      scf.yield %r#1 : !tile.tile<b0=8 x 0 x f32>
    } else {
      scf.yield %e : !tile.tile<b0=8 x 0 x f32>
    }
  }
  func.return
}

// -----

// A product over nothing is its accumulator; a load from rows that are not there gives its other value.
// CHECK-LABEL: func.func @accumulator
// CHECK-NEXT: tile.grid (%i: b0=4) in (8) {
// CHECK-NEXT: %a = tile.load %o[%i, :] : memref<8x4xf32> -> !tile.tile<b0=4 x 4 x f32>
// CHECK-NEXT: tile.store %a, %out[%i, :] : !tile.tile<b0=4 x 4 x f32>, memref<8x4xf32>
// CHECK-NEXT: %n = tile.full 0 : !tile.tile<b0=4 x i32>
// CHECK-NEXT: %m = tile.full 0 : !tile.tile<b0=4 x 4 x i1>
// CHECK-NEXT: %p = tile.full 7.0 : !tile.tile<b0=4 x 4 x f32>
// CHECK-NEXT: tile.store %p, %out[%i, :] : !tile.tile<b0=4 x 4 x f32>, memref<8x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @accumulator(%x: memref<8x0xf32>, %w: memref<0x4xf32>, %o: memref<8x4xf32>, %out: memref<8x4xf32>) {
  tile.grid (%i: b0=4) in (8) {
    %a = tile.load %o[%i, :] : memref<8x4xf32> -> !tile.tile<b0=4 x 4 x f32>
    %v = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=4 x 0 x f32>
    %r = tile.load %w[:, :] : memref<0x4xf32> -> !tile.tile<0 x 4 x f32>
    %d = tile.dot %v, %r, %a : !tile.tile<b0=4 x 0 x f32>, !tile.tile<0 x 4 x f32> -> !tile.tile<b0=4 x 4 x f32>
    tile.store %d, %out[%i, :] : !tile.tile<b0=4 x 4 x f32>, memref<8x4xf32>
    %n = tile.full 0 : !tile.tile<b0=4 x i32>
    %m = tile.full 0 : !tile.tile<b0=4 x 4 x i1>
    %p = tile.load %w[%n, :] mask %m other 7.0 : memref<0x4xf32> -> !tile.tile<b0=4 x 4 x f32>
    tile.store %p, %out[%i, :] : !tile.tile<b0=4 x 4 x f32>, memref<8x4xf32>
  }
  func.return
}

// -----

// Products and joins of lanes stay; a join of nothing but nothing goes.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT: tile.grid (%i: b0=4) in (8) {
// CHECK-NEXT: %a = tile.load %o[%i, :] : memref<8x4xf32> -> !tile.tile<b0=4 x 4 x f32>
// CHECK-NEXT: %s = tile.load %o[0:4, :] : memref<8x4xf32> -> !tile.tile<4 x 4 x f32>
// CHECK-NEXT: %d = tile.dot %a, %s, %a : !tile.tile<b0=4 x 4 x f32>, !tile.tile<4 x 4 x f32> -> !tile.tile<b0=4 x 4 x f32>
// CHECK-NEXT: %j = tile.concat %a, %d dim 1 : !tile.tile<b0=4 x 4 x f32>, !tile.tile<b0=4 x 4 x f32> to !tile.tile<b0=4 x 8 x f32>
// CHECK-NEXT: %t = tile.reduce add %j [1] : !tile.tile<b0=4 x 8 x f32>
// CHECK-NEXT: tile.store %t, %out[%i, 1] : !tile.tile<b0=4 x f32>, memref<8x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @stays(%x: memref<8x0xf32>, %o: memref<8x4xf32>, %out: memref<8x4xf32>) {
  tile.grid (%i: b0=4) in (8) {
    %v = tile.load %x[%i, :] : memref<8x0xf32> -> !tile.tile<b0=4 x 0 x f32>
    %c = tile.concat %v, %v dim 1 : !tile.tile<b0=4 x 0 x f32>, !tile.tile<b0=4 x 0 x f32> to !tile.tile<b0=4 x 0 x f32>
    %a = tile.load %o[%i, :] : memref<8x4xf32> -> !tile.tile<b0=4 x 4 x f32>
    %s = tile.load %o[0:4, :] : memref<8x4xf32> -> !tile.tile<4 x 4 x f32>
    %d = tile.dot %a, %s, %a : !tile.tile<b0=4 x 4 x f32>, !tile.tile<4 x 4 x f32> -> !tile.tile<b0=4 x 4 x f32>
    %j = tile.concat %a, %d dim 1 : !tile.tile<b0=4 x 4 x f32>, !tile.tile<b0=4 x 4 x f32> to !tile.tile<b0=4 x 8 x f32>
    %t = tile.reduce add %j [1] : !tile.tile<b0=4 x 8 x f32>
    tile.store %t, %out[%i, 1] : !tile.tile<b0=4 x f32>, memref<8x4xf32>
  }
  func.return
}
