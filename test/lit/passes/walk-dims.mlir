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
