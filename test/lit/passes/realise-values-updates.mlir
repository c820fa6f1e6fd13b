// RUN: kopt %s --split-input-file --verify-diagnostics -p 'realise-values,cse,dce' | filecheck %s

// Sums of rows: a product that no infinity takes part in, and another one where there are any; or a loop over the rows,
// whose numbers are scalars, of an array of their own; or the same loop with the rows left in HBM, in blocks that DMAs can move.
// CHECK-LABEL: func.func @sums
// CHECK: tile.grid (%i: b0=16, %j: b1=128) in (40, 200) ordered [0]
// CHECK: [[N:%.+]] = tile.mask {{%.+}} in (%i) else -1 : !tile.tile<b0=16 x i32>
// CHECK: [[F:%.+]] = tile.select {{%.+}}, %{{v_.}}, {{%.+}} : !tile.tile<b0=16 x b1=128 x f32>
// CHECK: [[P:%.+]] = tile.dot %hot, [[F]] precision ieee
// CHECK-NEXT: %{{old.*}} = tile.load %{{out_.}}[:, %j] : memref<30x200xf32> -> !tile.tile<30 x b1=128 x f32>
// CHECK-NEXT: %new = tile.add %{{old.*}}, [[P]]
// CHECK-NEXT: tile.store %new, %{{out_.}}[:, %j]
// CHECK: tile.reduce min
// CHECK: scf.if
// CHECK: tile.dot {{.*}} x bf16>
func.func @sums(%n: memref<40xi32>, %v: memref<40x200xf32>, %out: memref<30x200xf32>) -> memref<30x200xf32> {
  %out_1 = host.launch @sums (%n_1 = %n, %v_1 = %v, %out_2 = %out) writes [2] : (memref<40xi32>, memref<40x200xf32>, memref<30x200xf32>) -> memref<30x200xf32> {
    tile.grid (%i: b0=16, %j: b1=128) in (40, 200) plan {order [i, j] parallel [i, j]
        @out = %out_2 one_hot} {
      %rows = tile.load %n_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v_2 = tile.load %v_1[%i, %j] : memref<40x200xf32> -> !tile.tile<b0=16 x b1=128 x f32>
      atomic.rmw add %v_2, %out_2[%rows, %j] via @out : !tile.tile<b0=16 x b1=128 x f32>, memref<30x200xf32>
    }
  }
  func.return %out_1 : memref<30x200xf32>
}

// -----

// The same, one row after the other.
// CHECK-LABEL: func.func @sums
// CHECK: ordered [0]
// CHECK: [[BEGIN:%.+]] = tile.begin %i
// CHECK: [[COUNT:%.+]] = arith.subi
// CHECK: tile.put %{{v_.}}, %row_values[:, :]
// CHECK-NEXT: tile.for %r: r0=1 in (0, [[COUNT]])
// CHECK: arith.addi [[BEGIN]], %at
// CHECK-NEXT: %n_2 = tile.load %n_1[%{{[0-9]+}}]
// CHECK: scf.if
// CHECK-NEXT: %row = tile.extract
// CHECK-NEXT: %{{old.*}} = tile.load %{{out_.}}[%row, %j] : memref<30x200xf32> -> !tile.tile<b1=128 x f32>
// CHECK-NEXT: [[V:%.+]] = tile.get %row_values[%at, :]
// CHECK-NEXT: %new = tile.add %{{old.*}}, [[V]]
// CHECK-NEXT: tile.store %new, %{{out_.}}[%row, %j]
func.func @sums(%n: memref<40xi32>, %v: memref<40x200xf32>, %out: memref<30x200xf32>) -> memref<30x200xf32> {
  %out_1 = host.launch @sums (%n_1 = %n, %v_1 = %v, %out_2 = %out) writes [2] : (memref<40xi32>, memref<40x200xf32>, memref<30x200xf32>) -> memref<30x200xf32> {
    tile.grid (%i: b0=16, %j: b1=128) in (40, 200) plan {order [i, j] parallel [i, j]
        @out = %out_2 row_loop} {
      %rows = tile.load %n_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v_2 = tile.load %v_1[%i, %j] : memref<40x200xf32> -> !tile.tile<b0=16 x b1=128 x f32>
      atomic.rmw add %v_2, %out_2[%rows, %j] via @out : !tile.tile<b0=16 x b1=128 x f32>, memref<30x200xf32>
    }
  }
  func.return %out_1 : memref<30x200xf32>
}

// -----

// The same, rows in HBM.
// CHECK-LABEL: func.func @sums
// CHECK: host.call "aten.constant_pad_nd.default"(%out) {{.*}} -> (memref<30x256xf32>)
// CHECK: %{{old.*}} = tile.load %{{.+}}[%row, %j] {space = "hbm"} : memref<30x256xf32>
// CHECK: %new = tile.select
// CHECK-NEXT: tile.store %new, %{{.+}}[%row, %j] {space = "hbm"}
func.func @sums(%n: memref<40xi32>, %v: memref<40x200xf32>, %out: memref<30x200xf32>) -> memref<30x200xf32> {
  %out_1 = host.launch @sums (%n_1 = %n, %v_1 = %v, %out_2 = %out) writes [2] : (memref<40xi32>, memref<40x200xf32>, memref<30x200xf32>) -> memref<30x200xf32> {
    tile.grid (%i: b0=16, %j: b1=128) in (40, 200) plan {order [i, j] parallel [i, j]
        @out = %out_2 row_dma} {
      %rows = tile.load %n_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v_2 = tile.load %v_1[%i, %j] : memref<40x200xf32> -> !tile.tile<b0=16 x b1=128 x f32>
      atomic.rmw add %v_2, %out_2[%rows, %j] via @out : !tile.tile<b0=16 x b1=128 x f32>, memref<30x200xf32>
    }
  }
  func.return %out_1 : memref<30x200xf32>
}

// -----

// Elements of a short array are compared with every lane; a long one is folded to rows of 128. Where
// previous values are wanted, one lane goes after the other: each is put down in a row of zeros, and rows are summed.
// CHECK-LABEL: func.func @counts
// CHECK: tile.reduce add {{%.+}} [0] : !tile.tile<b0=16 x 300 x i32>
// CHECK: tile.store %new, %{{bins_.}}[:]
// CHECK: tile.for
// CHECK: [[ROW:%.+]] = tile.maximum
// CHECK: %hit = tile.eq
// CHECK: %row = tile.extract [[ROW]]
// CHECK: tile.put %{{.*}}, %row_before[%at, :]
// CHECK: tile.transpose
// CHECK-NEXT: tile.reduce add
// CHECK: tile.store {{%.+}}, %seen_
func.func @counts(%n: memref<32xi32>, %bins: memref<300xi32>, %places: memref<300xi32>, %seen: memref<32xi32>) -> (memref<300xi32>, memref<300xi32>, memref<32xi32>) {
  %bins_1, %places_1, %seen_1 = host.launch @counts (%n_1 = %n, %bins_2 = %bins, %places_2 = %places, %seen_2 = %seen) writes [1, 2, 3] : (memref<32xi32>, memref<300xi32>, memref<300xi32>, memref<32xi32>) -> (memref<300xi32>, memref<300xi32>, memref<32xi32>) {
    tile.grid (%i: b0=16) in (32) plan {order [i] parallel [i]
        @bins = %bins_2 one_hot
        @places = %places_2 row_loop} {
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %one = tile.full 1 : !tile.tile<b0=16 x i32>
      atomic.rmw add %one, %bins_2[%rows] via @bins : !tile.tile<b0=16 x i32>, memref<300xi32>
      %old = atomic.rmw add %one, %places_2[%rows] via @places : !tile.tile<b0=16 x i32>, memref<300xi32> -> !tile.tile<b0=16 x i32>
      tile.store %old, %seen_2[%i] : !tile.tile<b0=16 x i32>, memref<32xi32>
    }
  }
  func.return %bins_1, %places_1, %seen_1 : memref<300xi32>, memref<300xi32>, memref<32xi32>
}

// -----

// The same, one row after the other.
// CHECK-LABEL: func.func @counts
// CHECK: host.reshape {{%.+}} : memref<384xi32> to memref<3x128xi32>
// CHECK: host.slice {{%.+}} [0] [300] [1]
func.func @counts(%n: memref<32xi32>, %bins: memref<300xi32>, %places: memref<300xi32>, %seen: memref<32xi32>) -> (memref<300xi32>, memref<300xi32>, memref<32xi32>) {
  %bins_1, %places_1, %seen_1 = host.launch @counts (%n_1 = %n, %bins_2 = %bins, %places_2 = %places, %seen_2 = %seen) writes [1, 2, 3] : (memref<32xi32>, memref<300xi32>, memref<300xi32>, memref<32xi32>) -> (memref<300xi32>, memref<300xi32>, memref<32xi32>) {
    tile.grid (%i: b0=16) in (32) plan {order [i] parallel [i]
        @bins = %bins_2 row_loop
        @places = %places_2 row_loop} {
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %one = tile.full 1 : !tile.tile<b0=16 x i32>
      atomic.rmw add %one, %bins_2[%rows] via @bins : !tile.tile<b0=16 x i32>, memref<300xi32>
      %old = atomic.rmw add %one, %places_2[%rows] via @places : !tile.tile<b0=16 x i32>, memref<300xi32> -> !tile.tile<b0=16 x i32>
      tile.store %old, %seen_2[%i] : !tile.tile<b0=16 x i32>, memref<32xi32>
    }
  }
  func.return %bins_1, %places_1, %seen_1 : memref<300xi32>, memref<300xi32>, memref<32xi32>
}

// -----

// A range's own lane numbers are that range. Narrow elements are widened, gathered columns become rows, on the host.
// CHECK-LABEL: func.func @stores
// CHECK: host.permute %y [1, 0]
// CHECK: host.call "prims.convert_element_type.default"
// CHECK: tile.store {{%.+}}, %x_{{.*}}[%i, :]
// CHECK: tile.store %new, %y_{{.*}}[%row, :] : !tile.tile<8 x f32>
func.func @stores(%n: memref<32xi32>, %x: memref<32x8xbf16>, %y: memref<8x20xbf16>) -> (memref<32x8xbf16>, memref<8x20xbf16>) {
  %x_1, %y_1 = host.launch @stores (%n_1 = %n, %x_2 = %x, %y_2 = %y) writes [1, 2] : (memref<32xi32>, memref<32x8xbf16>, memref<8x20xbf16>) -> (memref<32x8xbf16>, memref<8x20xbf16>) {
    tile.grid (%i: b0=16) in (32) plan {order [i] parallel [i]
        @y = %y_2 row_loop} {
      %lanes = tile.index %i : !tile.range<b0=16>
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.full 1.0 : !tile.tile<b0=16 x 8 x bf16>
      tile.store %v, %x_2[%i, :] : !tile.tile<b0=16 x 8 x bf16>, memref<32x8xbf16>
      %w = tile.transpose %v [1, 0] : !tile.tile<b0=16 x 8 x bf16>
      tile.store %w, %y_2[:, %rows] via @y : !tile.tile<8 x b0=16 x bf16>, memref<8x20xbf16>
    }
  }
  func.return %x_1, %y_1 : memref<32x8xbf16>, memref<8x20xbf16>
}

// -----

// Blocks of rows that DMAs cannot move: they fetch whole rows, in which the block's lanes alone are updated.
// CHECK-LABEL: func.func @narrow_blocks
// CHECK: tile.grid (%i: b0=16, %j: b1=64) in (32, 192) ordered [0, 1]
// CHECK: %[[FIRST:.+]] = tile.begin %j
// CHECK: tile.splat %[[FIRST]] : index to !tile.tile<b0=16 x 192 x i32>
// CHECK: tile.take_along %a, {{.+}} dim 1
// CHECK: tile.load %x_{{.+}}[%row, :] {space = "hbm"}
func.func @narrow_blocks(%n: memref<32xi32>, %v: memref<32x192xf32>, %x: memref<1000x192xf32>) -> memref<1000x192xf32> {
  %x_1 = host.launch @narrow_blocks (%n_1 = %n, %v_1 = %v, %x_2 = %x) writes [2] : (memref<32xi32>, memref<32x192xf32>, memref<1000x192xf32>) -> memref<1000x192xf32> {
    tile.grid (%i: b0=16, %j: b1=64) in (32, 192) plan {order [i, j] parallel [i, j]
        @x = %x_2 row_dma} {
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %a = tile.load %v_1[%i, %j] : memref<32x192xf32> -> !tile.tile<b0=16 x b1=64 x f32>
      atomic.rmw add %a, %x_2[%rows, %j] via @x : !tile.tile<b0=16 x b1=64 x f32>, memref<1000x192xf32>
    }
  }
  func.return %x_1 : memref<1000x192xf32>
}

// -----

// Columns counted from one on, beside whole rows: those are whole rows too, masked.
// CHECK-LABEL: func.func @parts
// CHECK: tile.store %new, %x_{{.+}}[%row, :]
// CHECK: tile.take_along %v, {{.+}} dim 1 : !tile.tile<b0=16 x 4 x f32>, !tile.tile<b0=16 x 8 x i32>
// CHECK: tile.store %new_1, %x_{{.+}}[%row_1, :]
func.func @parts(%n: memref<32xi32>, %x: memref<32x8xf32>, %c: memref<1xi32>) -> memref<32x8xf32> {
  %x_1 = host.launch @parts (%n_1 = %n, %c_1 = %c, %x_2 = %x) writes [2] : (memref<32xi32>, memref<1xi32>, memref<32x8xf32>) -> memref<32x8xf32> {
    tile.grid (%i: b0=16) in (32) plan {order [i] parallel [i]
        @x = %x_2 row_loop} {
      %rows = tile.load %n_1[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
      %z = tile.full 0.0 : !tile.tile<b0=16 x 8 x f32>
      tile.store %z, %x_2[%rows, :] via @x : !tile.tile<b0=16 x 8 x f32>, memref<32x8xf32>
      %lane = tile.arange 0, 1 : !tile.tile<4 x i32>
      %one = tile.load %c_1[0] : memref<1xi32> -> !tile.tile<i32>
      %first = tile.broadcast %one dims [] : !tile.tile<i32> to !tile.tile<4 x i32>
      %at = tile.add %first, %lane : !tile.tile<4 x i32>
      %columns = tile.broadcast %at dims [1] : !tile.tile<4 x i32> to !tile.tile<b0=16 x 4 x i32>
      %all = tile.broadcast %rows dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 4 x i32>
      %v = tile.full 1.0 : !tile.tile<b0=16 x 4 x f32>
      %0 = tile.extract %one : !tile.tile<i32> to index
      %1 = tile.splat %0 : index to !tile.tile<b0=16 x 8 x i32>
      %2 = tile.arange 0, 1 : !tile.tile<8 x i32>
      %3 = tile.broadcast %2 dims [1] : !tile.tile<8 x i32> to !tile.tile<b0=16 x 8 x i32>
      %4 = tile.sub %3, %1 : !tile.tile<b0=16 x 8 x i32>
      %5 = tile.full 3 : !tile.tile<b0=16 x 8 x i32>
      %6 = tile.minimum %4, %5 : !tile.tile<b0=16 x 8 x i32>
      %7 = tile.full 0 : !tile.tile<b0=16 x 8 x i32>
      %8 = tile.maximum %6, %7 : !tile.tile<b0=16 x 8 x i32>
      %9 = tile.take_along %v, %8 dim 1 : !tile.tile<b0=16 x 4 x f32>, !tile.tile<b0=16 x 8 x i32>
      %10 = tile.splat %0 : index to !tile.tile<b0=16 x 8 x i32>
      %11 = tile.arange 0, 1 : !tile.tile<8 x i32>
      %12 = tile.broadcast %11 dims [1] : !tile.tile<8 x i32> to !tile.tile<b0=16 x 8 x i32>
      %13 = tile.sub %12, %10 : !tile.tile<b0=16 x 8 x i32>
      %14 = tile.full 0 : !tile.tile<b0=16 x 8 x i32>
      %15 = tile.ge %13, %14 : !tile.tile<b0=16 x 8 x i32>
      %16 = tile.full 4 : !tile.tile<b0=16 x 8 x i32>
      %17 = tile.lt %13, %16 : !tile.tile<b0=16 x 8 x i32>
      %18 = tile.and %15, %17 : !tile.tile<b0=16 x 8 x i1>
      tile.store %9, %x_2[%rows, :] via @x mask %18 : !tile.tile<b0=16 x 8 x f32>, memref<32x8xf32>
    }
  }
  func.return %x_1 : memref<32x8xf32>
}

// -----

// Of more than 512 rows, a product for 512 at a time.
// CHECK-LABEL: func.func @many
// CHECK-NEXT: %out_1 = host.launch @many (%n_1 = %n, %v_1 = %v, %out_2 = %out) writes [2] : (memref<40xi32>, memref<40x128xf32>, memref<1300x128xf32>) -> memref<1300x128xf32> {
// CHECK-NEXT: tile.grid (%i: b0=16, %j: b1=128) in (40, 128) ordered [0] {
// CHECK-NEXT: %rows = tile.load %n_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
// CHECK-NEXT: %v_2 = tile.load %v_1[%i, %j] : memref<40x128xf32> -> !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %0 = tile.full 0 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %1 = tile.ge %rows, %0 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %2 = tile.full 1300 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %3 = tile.lt %rows, %2 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %4 = tile.and %1, %3 : !tile.tile<b0=16 x i1>
// CHECK-NEXT: %5 = tile.full 1299 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %6 = tile.minimum %rows, %5 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %7 = tile.maximum %6, %0 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %8 = tile.full -1 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %9 = tile.select %4, %7, %8 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %row_numbers = tile.mask %9 in (%i) else -1 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %10 = tile.abs %v_2 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %11 = tile.full inf : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %12 = tile.lt %10, %11 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %13 = tile.full 0.0 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %14 = tile.select %12, %v_2, %13 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: tile.for %n_2: n0=512 in (0, 1300) {
// CHECK-NEXT: %15 = tile.index %n_2 : !tile.range<n0=512>
// CHECK-NEXT: %16 = tile.broadcast %15 dims [0] : !tile.tile<n0=512 x i32> to !tile.tile<n0=512 x b0=16 x i32>
// CHECK-NEXT: %17 = tile.broadcast %row_numbers dims [1] : !tile.tile<b0=16 x i32> to !tile.tile<n0=512 x b0=16 x i32>
// CHECK-NEXT: %18 = tile.eq %16, %17 : !tile.tile<n0=512 x b0=16 x i32>
// CHECK-NEXT: %19 = tile.full 1.0 : !tile.tile<n0=512 x b0=16 x f32>
// CHECK-NEXT: %20 = tile.full 0.0 : !tile.tile<n0=512 x b0=16 x f32>
// CHECK-NEXT: %hot = tile.select %18, %19, %20 : !tile.tile<n0=512 x b0=16 x f32>
// CHECK-NEXT: %21 = tile.dot %hot, %14 precision ieee : !tile.tile<n0=512 x b0=16 x f32>, !tile.tile<b0=16 x b1=128 x f32> -> !tile.tile<n0=512 x b1=128 x f32>
// CHECK-NEXT: %old = tile.load %out_2[%n_2, %j] : memref<1300x128xf32> -> !tile.tile<n0=512 x b1=128 x f32>
// CHECK-NEXT: %new = tile.add %old, %21 : !tile.tile<n0=512 x b1=128 x f32>
// CHECK-NEXT: tile.store %new, %out_2[%n_2, %j] : !tile.tile<n0=512 x b1=128 x f32>, memref<1300x128xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %22 = tile.cast %12 : !tile.tile<b0=16 x b1=128 x i1> to !tile.tile<b0=16 x b1=128 x i32>
// CHECK-NEXT: %23 = tile.reduce min %22 [0, 1] : !tile.tile<b0=16 x b1=128 x i32>
// CHECK-NEXT: %24 = tile.full 0 : !tile.tile<i32>
// CHECK-NEXT: %25 = tile.eq %23, %24 : !tile.tile<i32>
// CHECK-NEXT: %26 = tile.extract %25 : !tile.tile<i1> to i1
// CHECK-NEXT: scf.if %26 {
// CHECK-NEXT: tile.for %n_3: n1=512 in (0, 1300) {
// CHECK-NEXT: %27 = tile.index %n_3 : !tile.range<n1=512>
// CHECK-NEXT: %28 = tile.broadcast %27 dims [0] : !tile.tile<n1=512 x i32> to !tile.tile<n1=512 x b0=16 x i32>
// CHECK-NEXT: %29 = tile.broadcast %row_numbers dims [1] : !tile.tile<b0=16 x i32> to !tile.tile<n1=512 x b0=16 x i32>
// CHECK-NEXT: %30 = tile.eq %28, %29 : !tile.tile<n1=512 x b0=16 x i32>
// CHECK-NEXT: %31 = tile.full 1.0 : !tile.tile<n1=512 x b0=16 x f32>
// CHECK-NEXT: %32 = tile.full 0.0 : !tile.tile<n1=512 x b0=16 x f32>
// CHECK-NEXT: %hot_1 = tile.select %30, %31, %32 : !tile.tile<n1=512 x b0=16 x f32>
// CHECK-NEXT: %33 = tile.eq %v_2, %11 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %34 = tile.full 1.0 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %35 = tile.select %33, %34, %13 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %36 = tile.full -inf : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %37 = tile.eq %v_2, %36 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %38 = tile.full 4096.0 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %39 = tile.select %37, %38, %35 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %40 = tile.isnan %v_2 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %41 = tile.full 16777216.0 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %42 = tile.select %40, %41, %39 : !tile.tile<b0=16 x b1=128 x f32>
// CHECK-NEXT: %43 = tile.cast %hot_1 : !tile.tile<n1=512 x b0=16 x f32> to !tile.tile<n1=512 x b0=16 x bf16>
// CHECK-NEXT: %44 = tile.cast %42 : !tile.tile<b0=16 x b1=128 x f32> to !tile.tile<b0=16 x b1=128 x bf16>
// CHECK-NEXT: %45 = tile.dot %43, %44 : !tile.tile<n1=512 x b0=16 x bf16>, !tile.tile<b0=16 x b1=128 x bf16> -> !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %46 = tile.full 0.00024414062 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %47 = tile.mul %45, %46 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %48 = tile.floor %47 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %49 = tile.full 4096.0 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %50 = tile.mul %48, %49 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %51 = tile.sub %45, %50 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %52 = tile.full 0.0 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %53 = tile.gt %51, %52 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %54 = tile.full inf : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %55 = tile.select %53, %54, %52 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %56 = tile.gt %48, %52 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %57 = tile.full -inf : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %58 = tile.select %56, %57, %55 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %59 = tile.and %53, %56 : !tile.tile<n1=512 x b1=128 x i1>
// CHECK-NEXT: %60 = tile.full 16777216.0 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %61 = tile.ge %45, %60 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %62 = tile.or %59, %61 : !tile.tile<n1=512 x b1=128 x i1>
// CHECK-NEXT: %63 = tile.full nan : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %64 = tile.select %62, %63, %58 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %old_1 = tile.load %out_2[%n_3, %j] : memref<1300x128xf32> -> !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: %new_1 = tile.add %old_1, %64 : !tile.tile<n1=512 x b1=128 x f32>
// CHECK-NEXT: tile.store %new_1, %out_2[%n_3, %j] : !tile.tile<n1=512 x b1=128 x f32>, memref<1300x128xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out_1 : memref<1300x128xf32>
func.func @many(%n: memref<40xi32>, %v: memref<40x128xf32>, %out: memref<1300x128xf32>) -> memref<1300x128xf32> {
  %out_1 = host.launch @many (%n_1 = %n, %v_1 = %v, %out_2 = %out) writes [2] : (memref<40xi32>, memref<40x128xf32>, memref<1300x128xf32>) -> memref<1300x128xf32> {
    tile.grid (%i: b0=16, %j: b1=128) in (40, 128) plan {order [i, j] parallel [i, j]
        @out = %out_2 one_hot} {
      %rows = tile.load %n_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v_2 = tile.load %v_1[%i, %j] : memref<40x128xf32> -> !tile.tile<b0=16 x b1=128 x f32>
      atomic.rmw add %v_2, %out_2[%rows, %j] via @out : !tile.tile<b0=16 x b1=128 x f32>, memref<1300x128xf32>
    }
  }
  func.return %out_1 : memref<1300x128xf32>
}
