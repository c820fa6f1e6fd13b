// RUN: kopt %s --verify-each --remarks -p walk-dims 2>&1 | filecheck %s

// The maximum and the sum share a walk: the sum is rescaled by how much the maximum has grown. The second walk loads and
// computes the numerators again.
// CHECK: remark: dimension 1 of 'x' is walked 2 times by 128
// CHECK: remark: dimension 1 of 'x' is walked 3 times by 256
// CHECK-LABEL: func.func @online
// CHECK: tile.grid (%i: b0=8) in (64) {
// CHECK-DAG: [[NONE:%.+]] = tile.full -inf : !tile.tile<b0=8 x f32>
// CHECK-DAG: [[ZERO:%.+]] = tile.full 0.0 : !tile.tile<b0=8 x f32>
// CHECK: %m, %s = tile.for %k: b1=128 in (0, 1000) iter([[OLD:%.+]] = [[NONE]], [[A:%.+]] = [[ZERO]]) -> (!tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>) schedule walk {
// CHECK: [[V:%.+]] = tile.load %x[%i, %k] : memref<64x1000xf32> -> !tile.tile<b0=8 x b1=128 x f32>
// CHECK: [[M:%.+]] = tile.reduce max [[V]] [1]
// CHECK: [[NEW:%.+]] = tile.maximum [[OLD]], [[M]]
// CHECK: [[STAYS:%.+]] = tile.eq [[OLD]], [[NEW]]
// CHECK: [[D:%.+]] = tile.sub [[OLD]], [[NEW]]
// CHECK: [[F:%.+]] = tile.exp [[D]]
// CHECK: [[BY:%.+]] = tile.select [[STAYS]], {{%.+}}, [[F]]
// CHECK: [[SCALED:%.+]] = tile.mul [[A]], [[BY]]
// CHECK: [[KEPT:%.+]] = tile.select {{%.+}}, {{%.+}}, [[SCALED]]
// CHECK: [[B:%.+]] = tile.broadcast [[NEW]] dims [0]
// CHECK: [[X:%.+]] = tile.sub [[V]], [[B]]
// CHECK: [[E:%.+]] = tile.exp [[X]]
// CHECK: [[S:%.+]] = tile.reduce add [[E]] [1]
// CHECK: [[N:%.+]] = tile.add [[KEPT]], [[S]]
// CHECK: tile.yield [[NEW]], [[N]]
// CHECK: tile.for %k_1: b2=128 in (0, 1000) schedule walk {
// CHECK: tile.load %x[%i, %k_1]
// CHECK: tile.broadcast %m dims [0]
// CHECK: tile.store {{%.+}}, %out[%i, %k_1] : !tile.tile<b0=8 x b2=128 x f32>, memref<64x1000xf32>
// CHECK-NOT: 1000 x f32>
func.func @online(%x: memref<64x1000xf32>, %out: memref<64x1000xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=128, online)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=8 x 1000 x f32>
    %b = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1000 x f32>
    %d = tile.sub %v, %b : !tile.tile<b0=8 x 1000 x f32>
    %e = tile.exp %d : !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=8 x 1000 x f32>
    %c = tile.broadcast %s dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1000 x f32>
    %r = tile.div %e, %c : !tile.tile<b0=8 x 1000 x f32>
    tile.store %r, %out[%i, :] : !tile.tile<b0=8 x 1000 x f32>, memref<64x1000xf32>
  }
  func.return
}

// A walk for each of the reductions, and one that writes, in place: each block is loaded before it is stored. What else
// the plan says stays; buffers serve the accesses of every walk.
// CHECK-LABEL: func.func @passes
// CHECK: tile.grid (%i: b0=8) in (64) plan {order [i] parallel [i] warps 8
// CHECK-NEXT: {{^}}        @x = %x pointer} {
// CHECK: %s = tile.for %k: b1=256 in (0, 1000) {{.*}} {
// CHECK: tile.load %x[%i, %k] via @x
// CHECK: tile.reduce add
// CHECK: %mean = tile.div %s
// CHECK: %q = tile.for %k_1: b2=256 in (0, 1000) {{.*}} {
// CHECK: tile.load %x[%i, %k_1] via @x
// CHECK: tile.for %k_2: b3=256 in (0, 1000) schedule walk {
// CHECK: tile.load %x[%i, %k_2] via @x
// CHECK: tile.store {{%.+}}, %x[%i, %k_2] via @x
func.func @passes(%x: memref<64x1000xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] warps 8 walk(dim 1 of %x: b1=256, passes)
      @x = %x pointer} {
    %v = tile.load %x[%i, :] via @x : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 1000 x f32>
    %n = tile.full 1000.0 : !tile.tile<b0=8 x f32>
    %mean = tile.div %s, %n : !tile.tile<b0=8 x f32>
    %b = tile.broadcast %mean dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1000 x f32>
    %d = tile.sub %v, %b : !tile.tile<b0=8 x 1000 x f32>
    %e = tile.mul %d, %d : !tile.tile<b0=8 x 1000 x f32>
    %q = tile.reduce add %e [1] : !tile.tile<b0=8 x 1000 x f32>
    %c = tile.broadcast %q dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1000 x f32>
    %r = tile.div %d, %c : !tile.tile<b0=8 x 1000 x f32>
    tile.store %r, %x[%i, :] via @x : !tile.tile<b0=8 x 1000 x f32>, memref<64x1000xf32>
  }
  func.return
}

// The number of the best lane goes on from block to block, lane numbers do, and masks come in parts.
// CHECK-LABEL: func.func @counted
// CHECK: [[NO:%.+]] = tile.full -inf : !tile.tile<b0=8 x f32>
// CHECK: %s, {{%.+}}, %m = tile.for %k: b1=128 in (0, 1000)
// CHECK: tile.index %k
// CHECK: tile.load %y[%i, %k] mask {{%.+}} other 2.0
// CHECK: tile.reduce add
// CHECK: [[P:%.+]] = tile.reduce max
// CHECK: [[L:%.+]] = tile.argreduce max {{%.+}} dim 1
// CHECK: [[AT:%.+]] = tile.begin %k
// CHECK: [[SPLAT:%.+]] = tile.splat [[AT]]
// CHECK: tile.gt [[P]]
// CHECK: tile.isnan [[P]]
// CHECK: tile.add [[SPLAT]], [[L]]
// CHECK-NOT: tile.for
func.func @counted(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>, %a: memref<64xf32>, %n: memref<64xi32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=128, passes)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %at = tile.arange 0, 2 : !tile.tile<1000 x i32>
    %f = tile.full 77 : !tile.tile<1000 x i32>
    %low = tile.lt %at, %f : !tile.tile<1000 x i32>
    %mask = tile.broadcast %low dims [1] : !tile.tile<1000 x i1> to !tile.tile<b0=8 x 1000 x i1>
    %w = tile.load %y[%i, :] mask %mask other 2.0 : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %u = tile.mul %v, %w : !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %u [1] : !tile.tile<b0=8 x 1000 x f32>
    %m = tile.argreduce max %v dim 1 : !tile.tile<b0=8 x 1000 x f32>
    tile.store %s, %a[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    tile.store %m, %n[%i] : !tile.tile<b0=8 x i32>, memref<64xi32>
  }
  func.return
}

// Scores, their sum and the products with what they weigh: all in one walk over the keys.
// CHECK-LABEL: func.func @attention
// CHECK: tile.for %k_1: b1=128 in (0, 1000) iter({{.+}} = {{.+}}, {{.+}} = {{.+}}, [[O:%.+]] = {{%.+}}) -> (!tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32>, !tile.tile<b0=16 x 64 x f32>)
// CHECK: tile.load %k[%k_1, :]
// CHECK: [[F:%.+]] = tile.broadcast {{%.+}} dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x 64 x f32>
// CHECK: [[R:%.+]] = tile.mul [[O]], [[F]]
// CHECK: [[S:%.+]] = tile.select {{%.+}}, {{%.+}}, [[R]]
// CHECK: tile.load %v[%k_1, :]
// CHECK: tile.dot {{%.+}}, {{%.+}}, [[S]]
// CHECK-NOT: tile.for
func.func @attention(%q: memref<64x64xf32>, %k: memref<1000x64xf32>, %v: memref<1000x64xf32>, %out: memref<64x64xf32>) {
  tile.grid (%i: b0=16) in (64) plan {order [i] walk(dim 0 of %k: b1=128, online)} {
    %rows = tile.load %q[%i, :] : memref<64x64xf32> -> !tile.tile<b0=16 x 64 x f32>
    %keys = tile.load %k[:, :] : memref<1000x64xf32> -> !tile.tile<1000 x 64 x f32>
    %columns = tile.transpose %keys [1, 0] : !tile.tile<1000 x 64 x f32>
    %x = tile.dot %rows, %columns : !tile.tile<b0=16 x 64 x f32>, !tile.tile<64 x 1000 x f32> -> !tile.tile<b0=16 x 1000 x f32>
    %m = tile.reduce max %x [1] : !tile.tile<b0=16 x 1000 x f32>
    %b = tile.broadcast %m dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x 1000 x f32>
    %d = tile.sub %x, %b : !tile.tile<b0=16 x 1000 x f32>
    %e = tile.exp %d : !tile.tile<b0=16 x 1000 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=16 x 1000 x f32>
    %values = tile.load %v[:, :] : memref<1000x64xf32> -> !tile.tile<1000 x 64 x f32>
    %o = tile.dot %e, %values : !tile.tile<b0=16 x 1000 x f32>, !tile.tile<1000 x 64 x f32> -> !tile.tile<b0=16 x 64 x f32>
    %c = tile.broadcast %s dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x 64 x f32>
    %r = tile.div %o, %c : !tile.tile<b0=16 x 64 x f32>
    tile.store %r, %out[%i, :] : !tile.tile<b0=16 x 64 x f32>, memref<64x64xf32>
  }
  func.return
}

// A plan that says anything else stays, whatever it is.
// CHECK-LABEL: func.func @one_buffer
// CHECK: tile.grid (%i: b0=8) in (64) plan {order [i] parallel [i]
// CHECK-NEXT: {{^}}        @out = %out pointer} {
func.func @one_buffer(%x: memref<64x1000xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=256, passes) @out = %out pointer} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 1000 x f32>
    tile.store %s, %out[%i] via @out : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @assumed
// CHECK: tile.grid (%i: b0=8) in (64) plan {order [i] parallel [i] assume [%n in 0 to 64]} {
func.func @assumed(%x: memref<64x1000xf32>, %n: memref<64xi32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=256, passes) assume [%n in 0 to 64]} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 1000 x f32>
    %at = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
    tile.store %s, %out[%at] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @options
// CHECK: tile.grid (%i: b0=8) in (64) plan {order [i] parallel [i] warps 8} {
func.func @options(%x: memref<64x1000xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] warps 8 walk(dim 1 of %x: b1=256, passes)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 1000 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @views
// CHECK: tile.grid (%i: b0=8) in (64) plan {order [i] parallel [i] views [%x pad]} {
func.func @views(%x: memref<64x1000xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] views [%x pad] walk(dim 1 of %x: b1=256, passes)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 1000 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}

// Numbers of 64 bits go on from visit to visit; the best lane of narrow numbers is compared in 32 bits, and what is
// summed in 16 bits beside a maximum is rescaled there.
// CHECK-LABEL: func.func @long_numbers
// CHECK-NEXT: tile.grid (%i: b0=8) in (64) {
// CHECK-NEXT: %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
// CHECK-NEXT: %n = tile.arange 5, 3 : !tile.tile<1000 x i64>
// CHECK-NEXT: %b = tile.broadcast %n dims [1] : !tile.tile<1000 x i64> to !tile.tile<b0=8 x 1000 x i64>
// CHECK-NEXT: %c = tile.cast %v : !tile.tile<b0=8 x 1000 x f32> to !tile.tile<b0=8 x 1000 x i64>
// CHECK-NEXT: %d = tile.add %b, %c : !tile.tile<b0=8 x 1000 x i64>
// CHECK-NEXT: %0 = tile.full 0 : !tile.tile<b0=8 x i64>
// CHECK-NEXT: %s = tile.for %k: b1=256 in (0, 1000) iter(%1 = %0) -> (!tile.tile<b0=8 x i64>) schedule walk {
// CHECK-NEXT: %2 = tile.index %k : !tile.range<b1=256>
// CHECK-NEXT: %3 = tile.cast %2 : !tile.tile<b1=256 x i32> to !tile.tile<b1=256 x i64>
// CHECK-NEXT: %4 = tile.full 3 : !tile.tile<b1=256 x i64>
// CHECK-NEXT: %5 = tile.mul %3, %4 : !tile.tile<b1=256 x i64>
// CHECK-NEXT: %6 = tile.full 5 : !tile.tile<b1=256 x i64>
// CHECK-NEXT: %n_1 = tile.add %5, %6 : !tile.tile<b1=256 x i64>
// CHECK-NEXT: %b_1 = tile.broadcast %n_1 dims [1] : !tile.tile<b1=256 x i64> to !tile.tile<b0=8 x b1=256 x i64>
// CHECK-NEXT: %v_1 = tile.load %x[%i, %k] : memref<64x1000xf32> -> !tile.tile<b0=8 x b1=256 x f32>
// CHECK-NEXT: %c_1 = tile.cast %v_1 : !tile.tile<b0=8 x b1=256 x f32> to !tile.tile<b0=8 x b1=256 x i64>
// CHECK-NEXT: %d_1 = tile.add %b_1, %c_1 : !tile.tile<b0=8 x b1=256 x i64>
// CHECK-NEXT: %7 = tile.reduce add %d_1 [1] : !tile.tile<b0=8 x b1=256 x i64>
// CHECK-NEXT: %8 = tile.add %1, %7 : !tile.tile<b0=8 x i64>
// CHECK-NEXT: tile.yield %8 : !tile.tile<b0=8 x i64>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %s, %a[%i] : !tile.tile<b0=8 x i64>, memref<64xi64>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @long_numbers(%x: memref<64x1000xf32>, %a: memref<64xi64>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=256, passes)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %n = tile.arange 5, 3 : !tile.tile<1000 x i64>
    %b = tile.broadcast %n dims [1] : !tile.tile<1000 x i64> to !tile.tile<b0=8 x 1000 x i64>
    %c = tile.cast %v : !tile.tile<b0=8 x 1000 x f32> to !tile.tile<b0=8 x 1000 x i64>
    %d = tile.add %b, %c : !tile.tile<b0=8 x 1000 x i64>
    %s = tile.reduce add %d [1] : !tile.tile<b0=8 x 1000 x i64>
    tile.store %s, %a[%i] : !tile.tile<b0=8 x i64>, memref<64xi64>
  }
  func.return
}

// CHECK-LABEL: func.func @narrow_best
// CHECK-NEXT: tile.grid (%i: b0=8) in (64) {
// CHECK-NEXT: %v = tile.load %x[%i, :] : memref<64x1000xbf16> -> !tile.tile<b0=8 x 1000 x bf16>
// CHECK-NEXT: %0 = tile.full -inf : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %1 = tile.full 0 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %2, %a = tile.for %k: b1=256 in (0, 1000) iter(%3 = %0, %4 = %1) -> (!tile.tile<b0=8 x f32>, !tile.tile<b0=8 x i32>) schedule walk {
// CHECK-NEXT: %v_1 = tile.load %x[%i, %k] : memref<64x1000xbf16> -> !tile.tile<b0=8 x b1=256 x bf16>
// CHECK-NEXT: %5 = tile.reduce max %v_1 [1] : !tile.tile<b0=8 x b1=256 x bf16>
// CHECK-NEXT: %6 = tile.cast %5 : !tile.tile<b0=8 x bf16> to !tile.tile<b0=8 x f32>
// CHECK-NEXT: %7 = tile.argreduce max %v_1 dim 1 : !tile.tile<b0=8 x b1=256 x bf16>
// CHECK-NEXT: %8 = tile.begin %k : !tile.range<b1=256>
// CHECK-NEXT: %9 = tile.splat %8 : index to !tile.tile<b0=8 x i32>
// CHECK-NEXT: %10 = tile.gt %6, %3 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %11 = tile.isnan %6 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %12 = tile.isnan %3 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %13 = tile.not %12 : !tile.tile<b0=8 x i1>
// CHECK-NEXT: %14 = tile.and %11, %13 : !tile.tile<b0=8 x i1>
// CHECK-NEXT: %15 = tile.or %10, %14 : !tile.tile<b0=8 x i1>
// CHECK-NEXT: %16 = tile.add %9, %7 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %17 = tile.select %15, %6, %3 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %18 = tile.select %15, %16, %4 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: tile.yield %17, %18 : !tile.tile<b0=8 x f32>, !tile.tile<b0=8 x i32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %a, %n[%i] : !tile.tile<b0=8 x i32>, memref<64xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @narrow_best(%x: memref<64x1000xbf16>, %n: memref<64xi32>, %m: memref<64xi32>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=256, passes)} {
    %v = tile.load %x[%i, :] : memref<64x1000xbf16> -> !tile.tile<b0=8 x 1000 x bf16>
    %a = tile.argreduce max %v dim 1 : !tile.tile<b0=8 x 1000 x bf16>
    tile.store %a, %n[%i] : !tile.tile<b0=8 x i32>, memref<64xi32>
  }
  func.return
}

// CHECK-LABEL: func.func @narrow_sum
// CHECK-NEXT: tile.grid (%i: b0=8) in (64) {
// CHECK-NEXT: %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
// CHECK-NEXT: %0 = tile.full -inf : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %1 = tile.full 0.0 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %m, %2 = tile.for %k: b1=128 in (0, 1000) iter(%3 = %0, %4 = %1) -> (!tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>) schedule walk {
// CHECK-NEXT: %v_1 = tile.load %x[%i, %k] : memref<64x1000xf32> -> !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %5 = tile.reduce max %v_1 [1] : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %6 = tile.maximum %3, %5 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %7 = tile.full 1.0 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %8 = tile.eq %3, %6 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %9 = tile.full -inf : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %10 = tile.eq %3, %9 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %11 = tile.sub %3, %6 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %12 = tile.exp %11 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %13 = tile.select %8, %7, %12 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %14 = tile.mul %4, %13 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %15 = tile.not %8 : !tile.tile<b0=8 x i1>
// CHECK-NEXT: %16 = tile.and %10, %15 : !tile.tile<b0=8 x i1>
// CHECK-NEXT: %17 = tile.full 0.0 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %18 = tile.select %16, %17, %14 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %b = tile.broadcast %6 dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %d = tile.sub %v_1, %b : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %e = tile.exp %d : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %h = tile.cast %e : !tile.tile<b0=8 x b1=128 x f32> to !tile.tile<b0=8 x b1=128 x bf16>
// CHECK-NEXT: %19 = tile.reduce add %h [1] : !tile.tile<b0=8 x b1=128 x bf16>
// CHECK-NEXT: %20 = tile.cast %19 : !tile.tile<b0=8 x bf16> to !tile.tile<b0=8 x f32>
// CHECK-NEXT: %21 = tile.add %18, %20 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: tile.yield %6, %21 : !tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: %s = tile.cast %2 : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x bf16>
// CHECK-NEXT: %b_1 = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1000 x f32>
// CHECK-NEXT: %d_1 = tile.sub %v, %b_1 : !tile.tile<b0=8 x 1000 x f32>
// CHECK-NEXT: %e_1 = tile.exp %d_1 : !tile.tile<b0=8 x 1000 x f32>
// CHECK-NEXT: %h_1 = tile.cast %e_1 : !tile.tile<b0=8 x 1000 x f32> to !tile.tile<b0=8 x 1000 x bf16>
// CHECK-NEXT: tile.store %s, %out[%i] : !tile.tile<b0=8 x bf16>, memref<64xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @narrow_sum(%x: memref<64x1000xf32>, %out: memref<64xbf16>) {
  tile.grid (%i: b0=8) in (64) plan {order [i] walk(dim 1 of %x: b1=128, online)} {
    %v = tile.load %x[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=8 x 1000 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=8 x 1000 x f32>
    %b = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1000 x f32>
    %d = tile.sub %v, %b : !tile.tile<b0=8 x 1000 x f32>
    %e = tile.exp %d : !tile.tile<b0=8 x 1000 x f32>
    %h = tile.cast %e : !tile.tile<b0=8 x 1000 x f32> to !tile.tile<b0=8 x 1000 x bf16>
    %s = tile.reduce add %h [1] : !tile.tile<b0=8 x 1000 x bf16>
    tile.store %s, %out[%i] : !tile.tile<b0=8 x bf16>, memref<64xbf16>
  }
  func.return
}
