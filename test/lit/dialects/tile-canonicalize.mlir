// What canonicalize does to tile ops, and what it must leave alone.
// RUN: kopt %s -p canonicalize | filecheck %s

// CHECK-LABEL: func.func @constants
func.func @constants(%x: memref<8xf32>, %n: memref<8xi32>, %b: memref<8xi1>, %d: memref<8xf64>) {
  %two = tile.full 2.0 : !tile.tile<8 x f32>
  %three = tile.full 3.0 : !tile.tile<8 x f32>
  // CHECK: %[[A:.*]] = tile.full 6.0 : !tile.tile<8 x f32>
  // CHECK-NEXT: tile.store %[[A]], %x[:]
  %a = tile.mul %two, %three : !tile.tile<8 x f32>
  tile.store %a, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  // A third in f32, rounded once.
  // CHECK: %[[T:.*]] = tile.full 0.6666667 : !tile.tile<8 x f32>
  // CHECK-NEXT: tile.store %[[T]], %x[:]
  %t = tile.div %two, %three : !tile.tile<8 x f32>
  tile.store %t, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  // Overflow is the device's.
  // CHECK: tile.mul
  %big = tile.full 1.0e+30 : !tile.tile<8 x f32>
  %o = tile.mul %big, %big : !tile.tile<8 x f32>
  tile.store %o, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  // So are functions that are not exact.
  // CHECK: tile.exp
  %e = tile.exp %two : !tile.tile<8 x f32>
  tile.store %e, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  // NaN wins.
  // CHECK: %[[N:.*]] = tile.full nan : !tile.tile<8 x f32>
  // CHECK-NEXT: tile.store %[[N]], %x[:]
  %nan = tile.full nan : !tile.tile<8 x f32>
  %m = tile.maximum %two, %nan : !tile.tile<8 x f32>
  tile.store %m, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  // Integers wrap.
  // CHECK: %[[W:.*]] = tile.full -2147483648 : !tile.tile<8 x i32>
  // CHECK-NEXT: tile.store %[[W]], %n[:]
  %most = tile.full 2147483647 : !tile.tile<8 x i32>
  %one = tile.full 1 : !tile.tile<8 x i32>
  %w = tile.add %most, %one : !tile.tile<8 x i32>
  tile.store %w, %n[:] : !tile.tile<8 x i32>, memref<8xi32>
  // Python's floor division; nothing is said about division by zero.
  // CHECK: %[[F:.*]] = tile.full -4 : !tile.tile<8 x i32>
  // CHECK-NEXT: tile.store %[[F]], %n[:]
  // CHECK: tile.floordiv
  %seven = tile.full -7 : !tile.tile<8 x i32>
  %half = tile.full 2 : !tile.tile<8 x i32>
  %zero = tile.full 0 : !tile.tile<8 x i32>
  %f = tile.floordiv %seven, %half : !tile.tile<8 x i32>
  tile.store %f, %n[:] : !tile.tile<8 x i32>, memref<8xi32>
  %g = tile.floordiv %seven, %zero : !tile.tile<8 x i32>
  tile.store %g, %n[:] : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK: %[[L:.*]] = tile.full 1 : !tile.tile<8 x i1>
  // CHECK-NEXT: tile.store %[[L]], %b[:]
  %l = tile.lt %two, %three : !tile.tile<8 x f32>
  tile.store %l, %b[:] : !tile.tile<8 x i1>, memref<8xi1>
  func.return
}

// CHECK-LABEL: func.func @neutral
func.func @neutral(%x: memref<8xf32>, %n: memref<8xi32>, %b: memref<8xi1>) {
  %v = tile.load %x[:] : memref<8xf32> -> !tile.tile<8 x f32>
  %k = tile.load %n[:] : memref<8xi32> -> !tile.tile<8 x i32>
  %t = tile.load %b[:] : memref<8xi1> -> !tile.tile<8 x i1>
  %one = tile.full 1.0 : !tile.tile<8 x f32>
  %zero = tile.full 0.0 : !tile.tile<8 x f32>
  %minus = tile.full -0.0 : !tile.tile<8 x f32>
  %i0 = tile.full 0 : !tile.tile<8 x i32>
  %i1 = tile.full 1 : !tile.tile<8 x i32>
  // CHECK: tile.store %v, %x[:]
  // CHECK-NEXT: tile.store %v, %x[:]
  // CHECK-NEXT: tile.store %v, %x[:]
  %a = tile.mul %one, %v : !tile.tile<8 x f32>
  tile.store %a, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  %c = tile.add %v, %minus : !tile.tile<8 x f32>
  tile.store %c, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  %d = tile.sub %v, %zero : !tile.tile<8 x f32>
  tile.store %d, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  // -0.0 + 0.0 is 0.0, and NaN * 0 is NaN.
  // CHECK-NEXT: tile.add
  // CHECK: tile.mul
  %e = tile.add %v, %zero : !tile.tile<8 x f32>
  tile.store %e, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  %f = tile.mul %v, %zero : !tile.tile<8 x f32>
  tile.store %f, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  // CHECK: tile.store %k, %n[:]
  // CHECK-NEXT: tile.store %k, %n[:]
  %g = tile.add %i0, %k : !tile.tile<8 x i32>
  tile.store %g, %n[:] : !tile.tile<8 x i32>, memref<8xi32>
  %h = tile.mul %k, %i1 : !tile.tile<8 x i32>
  tile.store %h, %n[:] : !tile.tile<8 x i32>, memref<8xi32>
  // 0 - x is not x.
  // CHECK-NEXT: tile.sub
  %m = tile.sub %i0, %k : !tile.tile<8 x i32>
  tile.store %m, %n[:] : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK: tile.store %t, %b[:]
  %o = tile.not %t : !tile.tile<8 x i1>
  %p = tile.not %o : !tile.tile<8 x i1>
  tile.store %p, %b[:] : !tile.tile<8 x i1>, memref<8xi1>
  // CHECK-NEXT: tile.store %v, %x[:]
  %yes = tile.full 1 : !tile.tile<8 x i1>
  %q = tile.select %yes, %v, %one : !tile.tile<8 x f32>
  tile.store %q, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  // CHECK-NEXT: tile.store %v, %x[:]
  %r = tile.select %t, %v, %v : !tile.tile<8 x f32>
  tile.store %r, %x[:] : !tile.tile<8 x f32>, memref<8xf32>
  func.return
}

// CHECK-LABEL: func.func @casts
func.func @casts(%x: memref<8xbf16>, %y: memref<8xf32>, %z: memref<8xf64>) {
  %v = tile.load %x[:] : memref<8xbf16> -> !tile.tile<8 x bf16>
  %w = tile.load %y[:] : memref<8xf32> -> !tile.tile<8 x f32>
  // bf16 to f32 and back is the same value.
  // CHECK: tile.store %v, %x[:]
  %a = tile.cast %v : !tile.tile<8 x bf16> to !tile.tile<8 x f32>
  %b = tile.cast %a : !tile.tile<8 x f32> to !tile.tile<8 x bf16>
  tile.store %b, %x[:] : !tile.tile<8 x bf16>, memref<8xbf16>
  // f32 to bf16 and back has rounded.
  // CHECK-NEXT: %[[C:.*]] = tile.cast %w : !tile.tile<8 x f32> to !tile.tile<8 x bf16>
  // CHECK-NEXT: %[[D:.*]] = tile.cast %[[C]] : !tile.tile<8 x bf16> to !tile.tile<8 x f32>
  // CHECK-NEXT: tile.store %[[D]], %y[:]
  %c = tile.cast %w : !tile.tile<8 x f32> to !tile.tile<8 x bf16>
  %d = tile.cast %c : !tile.tile<8 x bf16> to !tile.tile<8 x f32>
  tile.store %d, %y[:] : !tile.tile<8 x f32>, memref<8xf32>
  // Wider and wider still is one cast; neither bf16 nor f16 is wider than the other.
  // CHECK-NEXT: tile.cast %v : !tile.tile<8 x bf16> to !tile.tile<8 x f64>
  // CHECK: tile.cast %v : !tile.tile<8 x bf16> to !tile.tile<8 x f16>
  // CHECK-NEXT: tile.cast %{{.*}} : !tile.tile<8 x f16> to !tile.tile<8 x bf16>
  %e = tile.cast %a : !tile.tile<8 x f32> to !tile.tile<8 x f64>
  tile.store %e, %z[:] : !tile.tile<8 x f64>, memref<8xf64>
  %f = tile.cast %v : !tile.tile<8 x bf16> to !tile.tile<8 x f16>
  %g = tile.cast %f : !tile.tile<8 x f16> to !tile.tile<8 x bf16>
  tile.store %g, %x[:] : !tile.tile<8 x bf16>, memref<8xbf16>
  // Constants that the type has; 0.1 would be rounded.
  // CHECK: tile.full 0.5 : !tile.tile<8 x bf16>
  // CHECK: tile.full 0.1 : !tile.tile<8 x f32>
  // CHECK-NEXT: tile.cast %{{.*}} : !tile.tile<8 x f32> to !tile.tile<8 x bf16>
  %half = tile.full 0.5 : !tile.tile<8 x f32>
  %h = tile.cast %half : !tile.tile<8 x f32> to !tile.tile<8 x bf16>
  tile.store %h, %x[:] : !tile.tile<8 x bf16>, memref<8xbf16>
  %tenth = tile.full 0.1 : !tile.tile<8 x f32>
  %i = tile.cast %tenth : !tile.tile<8 x f32> to !tile.tile<8 x bf16>
  tile.store %i, %x[:] : !tile.tile<8 x bf16>, memref<8xbf16>
  func.return
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: memref<8x4xf32>, %y: memref<4x8xf32>, %z: memref<2x8x4xf32>, %q: memref<32xf32>) {
  %v = tile.load %x[:, :] : memref<8x4xf32> -> !tile.tile<8 x 4 x f32>
  %r = tile.load %x[0, :] : memref<8x4xf32> -> !tile.tile<4 x f32>
  // CHECK: tile.store %v, %x[:, :]
  // CHECK-NEXT: tile.store %v, %x[:, :]
  %t = tile.transpose %v [1, 0] : !tile.tile<8 x 4 x f32>
  %a = tile.transpose %t [1, 0] : !tile.tile<4 x 8 x f32>
  tile.store %a, %x[:, :] : !tile.tile<8 x 4 x f32>, memref<8x4xf32>
  %b = tile.slice %v [0, 0] [8, 4] [1, 1] : !tile.tile<8 x 4 x f32> to !tile.tile<8 x 4 x f32>
  tile.store %b, %x[:, :] : !tile.tile<8 x 4 x f32>, memref<8x4xf32>
  // CHECK-NEXT: %[[B:.*]] = tile.broadcast %r dims [2] : !tile.tile<4 x f32> to !tile.tile<2 x 8 x 4 x f32>
  // CHECK-NEXT: tile.store %[[B]]
  %c = tile.broadcast %r dims [1] : !tile.tile<4 x f32> to !tile.tile<8 x 4 x f32>
  %d = tile.broadcast %c dims [1, 2] : !tile.tile<8 x 4 x f32> to !tile.tile<2 x 8 x 4 x f32>
  tile.store %d, %z[:, :, :] : !tile.tile<2 x 8 x 4 x f32>, memref<2x8x4xf32>
  // CHECK-NEXT: %[[R:.*]] = tile.reshape %v : !tile.tile<8 x 4 x f32> to !tile.tile<4 x 8 x f32>
  // CHECK-NEXT: tile.store %[[R]]
  // CHECK-NEXT: tile.store %v, %x[:, :]
  %e = tile.reshape %v : !tile.tile<8 x 4 x f32> to !tile.tile<32 x f32>
  %f = tile.reshape %e : !tile.tile<32 x f32> to !tile.tile<4 x 8 x f32>
  tile.store %f, %y[:, :] : !tile.tile<4 x 8 x f32>, memref<4x8xf32>
  %g = tile.reshape %e : !tile.tile<32 x f32> to !tile.tile<8 x 4 x f32>
  tile.store %g, %x[:, :] : !tile.tile<8 x 4 x f32>, memref<8x4xf32>
  // CHECK-NEXT: tile.full 1.0 : !tile.tile<2 x 8 x 4 x f32>
  %one = tile.full 1.0 : !tile.tile<f32>
  %h = tile.broadcast %one dims [] : !tile.tile<f32> to !tile.tile<8 x 4 x f32>
  %i = tile.broadcast %h dims [1, 2] : !tile.tile<8 x 4 x f32> to !tile.tile<2 x 8 x 4 x f32>
  tile.store %i, %z[:, :, :] : !tile.tile<2 x 8 x 4 x f32>, memref<2x8x4xf32>
  // CHECK: tile.store %v, %x[:, :]
  %j = tile.mask %v in (_, _) else 0.0 : !tile.tile<8 x 4 x f32>
  %k = tile.reduce add %j [] : !tile.tile<8 x 4 x f32>
  tile.store %k, %x[:, :] : !tile.tile<8 x 4 x f32>, memref<8x4xf32>
  func.return
}

// CHECK-LABEL: func.func @scalars
func.func @scalars(%n: memref<8xi32>, %i: i32) {
  // CHECK-NEXT: %[[C:.*]] = tile.full 5 : !tile.tile<8 x i32>
  // CHECK-NEXT: tile.store %[[C]], %n[:]
  %c = arith.constant 5 : index
  %a = tile.splat %c : index to !tile.tile<8 x i32>
  tile.store %a, %n[:] : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK-NEXT: tile.splat %i : i32 to !tile.tile<8 x i32>
  %b = tile.splat %i : i32 to !tile.tile<i32>
  %s = tile.extract %b : !tile.tile<i32> to i32
  %d = tile.splat %s : i32 to !tile.tile<8 x i32>
  tile.store %d, %n[:] : !tile.tile<8 x i32>, memref<8xi32>
  // CHECK: %[[T:.*]] = tile.load %n[0]
  // CHECK-NEXT: tile.store %[[T]], %n[1]
  %e = tile.load %n[0] : memref<8xi32> -> !tile.tile<i32>
  %f = tile.extract %e : !tile.tile<i32> to i32
  %g = tile.splat %f : i32 to !tile.tile<i32>
  tile.store %g, %n[1] : !tile.tile<i32>, memref<8xi32>
  // CHECK: %[[TRUE:.*]] = arith.constant true
  // CHECK: %[[FOUR:.*]] = arith.constant 4 : index
  // CHECK: "test.op"(%[[TRUE]], %[[FOUR]])
  %h = tile.full 1 : !tile.tile<i1>
  %j = tile.extract %h : !tile.tile<i1> to i1
  %k = tile.full 4 : !tile.tile<i32>
  %l = tile.extract %k : !tile.tile<i32> to index
  "test.op"(%j, %l) : (i1, index) -> ()
  func.return
}

// CHECK-LABEL: func.func @loops
func.func @loops(%x: memref<8xf32>) {
  // CHECK-NEXT: tile.grid (%i: b0=8) in (8) {
  tile.grid (%i: b0=8) in (8) {
    %c = arith.constant 0 : index
    %s = tile.shift %i by %c : !tile.range<b0=8>
    // CHECK-NEXT: %z = tile.load %x[%i]
    // CHECK-NEXT: tile.store %z, %x[%i]
    // CHECK-NEXT: {{^}}  }
    // CHECK-NEXT: func.return
    %z = tile.load %x[%s] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    %r = tile.for %k: b1=4 in (8, 8) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %n = tile.neg %a : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    tile.when first(%i) {
    }
    tile.store %r, %x[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  tile.grid (%j: b2=8, %l: b3=4) in (8, 0) {
    %v = tile.load %x[%j] : memref<8xf32> -> !tile.tile<b2=8 x f32>
    tile.store %v, %x[%j] : !tile.tile<b2=8 x f32>, memref<8xf32>
  }
  tile.grid (%m: b4=8) in (8) {
  }
  func.return
}

// Lane numbers of lane numbers; one index of them, inside the array, is a slice.
// CHECK-LABEL: func.func @lane_numbers
// CHECK: tile.load %x[3:66:2] :
// CHECK: tile.store %{{.*}}, %x[0:32] :
// CHECK: tile.load %x[:] :
func.func @lane_numbers(%x: memref<100xf32>, %out: memref<100xf32>) {
  %n = tile.arange 0, 1 : !tile.tile<32 x i32>
  %two = tile.full 2 : !tile.tile<32 x i32>
  %three = tile.full 3 : !tile.tile<32 x i32>
  %m = tile.mul %two, %n : !tile.tile<32 x i32>
  %k = tile.add %m, %three : !tile.tile<32 x i32>
  %w = tile.cast %k : !tile.tile<32 x i32> to !tile.tile<32 x i64>
  %v = tile.load %x[%w] : memref<100xf32> -> !tile.tile<32 x f32>
  tile.store %v, %x[%n] : !tile.tile<32 x f32>, memref<100xf32>
  %all = tile.arange 0, 1 : !tile.tile<100 x i32>
  %a = tile.load %x[%all] : memref<100xf32> -> !tile.tile<100 x f32>
  tile.store %a, %out[:] : !tile.tile<100 x f32>, memref<100xf32>
  func.return
}

// What leaves the array, runs backwards or would wrap stays as it is.
// CHECK-LABEL: func.func @beyond
// CHECK: tile.load %x[%{{.*}}] :
func.func @beyond(%x: memref<100xf32>) {
  %past = tile.arange 93, 1 : !tile.tile<8 x i32>
  %v = tile.load %x[%past] : memref<100xf32> -> !tile.tile<8 x f32>
  "test.op"(%v) : (!tile.tile<8 x f32>) -> ()
  func.return
}

// CHECK-LABEL: func.func @no_slice
// CHECK: tile.load %x[%{{.*}}] :
// CHECK: tile.add
func.func @no_slice(%x: memref<100xf32>, %out: memref<100xf32>, %i: memref<8xi32>) {
  %back = tile.arange 7, -1 : !tile.tile<8 x i32>
  %w = tile.load %x[%back] : memref<100xf32> -> !tile.tile<8 x f32>
  tile.store %w, %out[0:8] : !tile.tile<8 x f32>, memref<100xf32>
  %past = tile.arange 93, 1 : !tile.tile<8 x i32>
  %most = tile.full 2147483647 : !tile.tile<8 x i32>
  %wrapped = tile.add %past, %most : !tile.tile<8 x i32>
  tile.store %wrapped, %i[:] : !tile.tile<8 x i32>, memref<8xi32>
  func.return
}

// Bounds that are constants are numbers.
// CHECK-LABEL: func.func @bounds
// CHECK-NEXT: tile.for %i: b0=4 in (0, 9) iter(%{{.*}} = %z) -> (f32) {
// CHECK: tile.for %{{.*}}: b1=4 in (%n, 9)
func.func @bounds(%z: f32, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %nine = arith.constant 9 : index
  %r = tile.for %i: b0=4 in (%zero, %nine) iter(%a = %z) -> (f32) {
    %b = arith.addf %a, %a : f32
    tile.yield %b : f32
  }
  tile.for %j: b1=4 in (%n, %nine) {
    "test.op"() : () -> ()
  }
  func.return %r : f32
}

// CHECK-LABEL: func.func @masks_of_accesses
func.func @masks_of_accesses(%x: memref<8xf32>, %y: memref<8xf32>) {
  %true = tile.full 1 : !tile.tile<8 x i1>
  %false = tile.full 0 : !tile.tile<8 x i1>
  // CHECK-NEXT: %[[A:.*]] = tile.load %x[:] : memref<8xf32>
  // CHECK-NEXT: tile.store %[[A]], %y[:] : !tile.tile<8 x f32>
  %a = tile.load %x[:] mask %true other 2.0 : memref<8xf32> -> !tile.tile<8 x f32>
  tile.store %a, %y[:] mask %true : !tile.tile<8 x f32>, memref<8xf32>
  // CHECK-NEXT: %[[B:.*]] = tile.full 2.0 : !tile.tile<8 x f32>
  // CHECK-NEXT: tile.store %[[B]], %y[:]
  %b = tile.load %x[:] mask %false other 2.0 : memref<8xf32> -> !tile.tile<8 x f32>
  tile.store %b, %y[:] : !tile.tile<8 x f32>, memref<8xf32>
  // CHECK-NEXT: func.return
  tile.store %b, %x[:] mask %false : !tile.tile<8 x f32>, memref<8xf32>
  func.return
}
