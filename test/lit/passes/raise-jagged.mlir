// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(raise-jagged,cse,dce)' | filecheck %s
// RUN: kopt %s --split-input-file --remarks --pass-pipeline='builtin.module(raise-jagged,cse,dce)' 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(raise-jagged,dce,lower-jagged,cse)' | filecheck %s --check-prefix=LOW

// A loop to the longest item with masks, and flat element numbers: a jagged loop over rows. The masks say nothing more.
// CHECK-LABEL: func.func @flat
// CHECK: jagged.for %k: b2=8 in %n iter(
// CHECK-NEXT: %rows = jagged.rows %k from %starts : !tile.range<b2=8>, !tile.tile<b0=4 x i64>
// CHECK-NEXT: %v = tile.load %x[%rows, %m] : memref<40x20xf32> -> !tile.tile<b0=4 x b2=8 x b1=16 x f32>
// LOW-LABEL: func.func @flat
// LOW: %rows = tile.add {{%.+}}, {{%.+}} : !tile.tile<b0=4 x b2=8 x i64>
// LOW: %v = tile.load %x[%rows, %m] mask {{%.+}} : memref<40x20xf32>
func.func @flat(%x: memref<40x20xf32>, %begins: memref<6xi64>, %lens: memref<6xi64>, %out: memref<6x20xf32>) {
  %f = host.reshape %x : memref<40x20xf32> to memref<800xf32>
  tile.grid (%b: b0=4, %m: b1=16) in (6, 20) {
    %starts = tile.load %begins[%b] : memref<6xi64> -> !tile.tile<b0=4 x i64>
    %n = tile.load %lens[%b] : memref<6xi64> -> !tile.tile<b0=4 x i64>
    %most = tile.reduce max %n [0] : !tile.tile<b0=4 x i64>
    %end = tile.extract %most : !tile.tile<i64> to index
    %z = tile.full 0.0 : !tile.tile<b0=4 x b1=16 x f32>
    %s = tile.for %k: b2=8 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=4 x b1=16 x f32>) {
      %ki = tile.index %k : !tile.range<b2=8>
      %kw = tile.cast %ki : !tile.tile<b2=8 x i32> to !tile.tile<b2=8 x i64>
      %kb = tile.broadcast %kw dims [1] : !tile.tile<b2=8 x i64> to !tile.tile<b0=4 x b2=8 x i64>
      %nb = tile.broadcast %n dims [0] : !tile.tile<b0=4 x i64> to !tile.tile<b0=4 x b2=8 x i64>
      %has = tile.lt %kb, %nb : !tile.tile<b0=4 x b2=8 x i64>
      %hb = tile.broadcast %has dims [0, 1] : !tile.tile<b0=4 x b2=8 x i1> to !tile.tile<b0=4 x b2=8 x b1=16 x i1>
      %sb = tile.broadcast %starts dims [0] : !tile.tile<b0=4 x i64> to !tile.tile<b0=4 x b2=8 x i64>
      %r = tile.add %sb, %kb : !tile.tile<b0=4 x b2=8 x i64>
      %c = tile.full 20 : !tile.tile<b0=4 x b2=8 x i64>
      %e = tile.mul %r, %c : !tile.tile<b0=4 x b2=8 x i64>
      %eb = tile.broadcast %e dims [0, 1] : !tile.tile<b0=4 x b2=8 x i64> to !tile.tile<b0=4 x b2=8 x b1=16 x i64>
      %mi = tile.index %m : !tile.range<b1=16>
      %mw = tile.cast %mi : !tile.tile<b1=16 x i32> to !tile.tile<b1=16 x i64>
      %mb = tile.broadcast %mw dims [2] : !tile.tile<b1=16 x i64> to !tile.tile<b0=4 x b2=8 x b1=16 x i64>
      %at = tile.add %eb, %mb : !tile.tile<b0=4 x b2=8 x b1=16 x i64>
      %v = tile.load %f[%at] mask %hb other 0.0 : memref<800xf32> -> !tile.tile<b0=4 x b2=8 x b1=16 x f32>
      %p = tile.reduce add %v [1] : !tile.tile<b0=4 x b2=8 x b1=16 x f32>
      %next = tile.add %a, %p : !tile.tile<b0=4 x b1=16 x f32>
      tile.yield %next : !tile.tile<b0=4 x b1=16 x f32>
    }
    tile.store %s, %out[%b, %m] : !tile.tile<b0=4 x b1=16 x f32>, memref<6x20xf32>
  }
  func.return
}

// -----

// Without a mask the maximum sees what lies behind an item: the loop is what it was.
// CHECK-LABEL: func.func @unmasked
// CHECK: tile.for %k
// REMARK: remark: the loop to the longest item is not raised to a jagged one: 'tile.reduce' combines lanes that no mask leaves out
func.func @unmasked(%x: memref<6x20xf32>, %lens: memref<6xi32>, %out: memref<6xf32>) {
  tile.grid (%b: b0=4) in (6) {
    %n = tile.load %lens[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
    %most = tile.reduce max %n [0] : !tile.tile<b0=4 x i32>
    %end = tile.extract %most : !tile.tile<i32> to index
    %z = tile.full 0.0 : !tile.tile<b0=4 x f32>
    %s = tile.for %k: b2=8 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=4 x f32>) {
      %v = tile.load %x[%b, %k] : memref<6x20xf32> -> !tile.tile<b0=4 x b2=8 x f32>
      %p = tile.reduce max %v [1] : !tile.tile<b0=4 x b2=8 x f32>
      %next = tile.maximum %a, %p : !tile.tile<b0=4 x f32>
      tile.yield %next : !tile.tile<b0=4 x f32>
    }
    tile.store %s, %out[%b] : !tile.tile<b0=4 x f32>, memref<6xf32>
  }
  func.return
}

// -----

// Flat storage that is an argument: its rows follow from the index. A number of the grid is an entry of its own, other
// dimensions may stand in another order, and a store goes by slices as a load does.
// CHECK-LABEL: func.func @heads
// CHECK: %x_1 = host.reshape %x : memref<2400xf32> to memref<40x3x20xf32>
// CHECK: [[V:%.+]] = tile.load %x_1[%rows, {{%.+}}, %m] : memref<40x3x20xf32> -> !tile.tile<b0=4 x b2=8 x b1=16 x f32>
// CHECK: [[T:%.+]] = tile.transpose [[V]] [2, 0, 1] : !tile.tile<b0=4 x b2=8 x b1=16 x f32>
// CHECK: [[E:%.+]] = tile.exp [[T]]
// CHECK: [[W:%.+]] = tile.transpose [[E]] [1, 2, 0] : !tile.tile<b1=16 x b0=4 x b2=8 x f32>
// CHECK: tile.store [[W]], %out_1[%rows, {{%.+}}, %m] :
func.func @heads(%x: memref<2400xf32>, %begins: memref<6xi32>, %lens: memref<6xi32>, %out: memref<2400xf32>) {
  tile.grid (%b: b0=4, %h: b3=1, %m: b1=16) in (6, 3, 20) {
    %starts = tile.load %begins[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
    %n = tile.load %lens[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
    %h0 = tile.begin %h : !tile.range<b3=1>
    jagged.for %k: b2=8 in %n {
      %ki = tile.index %k : !tile.range<b2=8>
      %kb = tile.broadcast %ki dims [2] : !tile.tile<b2=8 x i32> to !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %sb = tile.broadcast %starts dims [1] : !tile.tile<b0=4 x i32> to !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %r = tile.add %sb, %kb : !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %three = tile.full 3 : !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %twenty = tile.full 20 : !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %hb = tile.splat %h0 : index to !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %r3 = tile.mul %r, %three : !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %rh = tile.add %r3, %hb : !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %e = tile.mul %rh, %twenty : !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %mi = tile.index %m : !tile.range<b1=16>
      %mb = tile.broadcast %mi dims [0] : !tile.tile<b1=16 x i32> to !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %at = tile.add %e, %mb : !tile.tile<b1=16 x b0=4 x b2=8 x i32>
      %v = tile.load %x[%at] : memref<2400xf32> -> !tile.tile<b1=16 x b0=4 x b2=8 x f32>
      %w = tile.exp %v : !tile.tile<b1=16 x b0=4 x b2=8 x f32>
      tile.store %w, %out[%at] : !tile.tile<b1=16 x b0=4 x b2=8 x f32>, memref<2400xf32>
    }
  }
  func.return
}

// -----

// Numbers that a table gives, and lanes that may run into the next row, are gathered as before.
// CHECK-LABEL: func.func @kept
// CHECK: tile.load %x[{{%.+}}] : memref<40xf32>
// REMARK: remark: 'x' is gathered lane by lane, not by slices of rows: 'n' at line 118, column 10, picks rows one by one
// REMARK: remark: 'y' is gathered lane by lane, not by slices of rows: 'k' is not known to stay below 20
func.func @kept(%x: memref<40xf32>, %y2: memref<40x20xf32>, %lens: memref<6xi32>, %out: memref<2x6xf32>) {
  %y = host.reshape %y2 : memref<40x20xf32> to memref<800xf32>
  tile.grid (%b: b0=4) in (6) {
    %n = tile.load %lens[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
    jagged.for %k: b2=8 in %n {
      %ki = tile.index %k : !tile.range<b2=8>
      %kb = tile.broadcast %ki dims [1] : !tile.tile<b2=8 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %nb = tile.broadcast %n dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %two = tile.full 2 : !tile.tile<b0=4 x b2=8 x i32>
      %twenty = tile.full 20 : !tile.tile<b0=4 x b2=8 x i32>
      %k2 = tile.mul %kb, %two : !tile.tile<b0=4 x b2=8 x i32>
      %at = tile.add %nb, %k2 : !tile.tile<b0=4 x b2=8 x i32>
      %b2 = tile.index %b : !tile.range<b0=4>
      %bb = tile.broadcast %b2 dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %b20 = tile.mul %bb, %twenty : !tile.tile<b0=4 x b2=8 x i32>
      %bt = tile.add %b20, %kb : !tile.tile<b0=4 x b2=8 x i32>
      %v = tile.load %x[%at] : memref<40xf32> -> !tile.tile<b0=4 x b2=8 x f32>
      %w = tile.load %y[%bt] : memref<800xf32> -> !tile.tile<b0=4 x b2=8 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=4 x b2=8 x f32>
      %t = tile.reduce add %w [1] : !tile.tile<b0=4 x b2=8 x f32>
      tile.store %s, %out[0, %b] : !tile.tile<b0=4 x f32>, memref<2x6xf32>
      tile.store %t, %out[1, %b] : !tile.tile<b0=4 x f32>, memref<2x6xf32>
    }
  }
  func.return
}

// -----

// Columns up to a loaded number stay inside a row where another array is indexed by them, and rows may start at a
// number that is the same for all lanes.
// CHECK-LABEL: func.func @columns
// CHECK: [[AT:%.+]] = tile.extract %start
// CHECK: [[ROWS:%.+]] = tile.shift %k by [[AT]]
// CHECK: tile.load %y2{{.*}}[[[ROWS]], %m]
func.func @columns(%y2: memref<40x20xf32>, %starts: memref<6xi32>, %widths: memref<6xi32>, %out: memref<6x20xf32>) {
  %y = host.reshape %y2 : memref<40x20xf32> to memref<800xf32>
  tile.grid (%b: b0=1) in (6) {
    %i = tile.begin %b : !tile.range<b0=1>
    %start = tile.load %starts[%i] : memref<6xi32> -> !tile.tile<i32>
    %width = tile.load %widths[%i] : memref<6xi32> -> !tile.tile<i32>
    %end = tile.extract %width : !tile.tile<i32> to index
    tile.for %m: b1=16 in (0, %end) {
      %zero = tile.full 0.0 : !tile.tile<b1=16 x f32>
      %sum = tile.for %k: b2=8 in (0, 5) iter(%a = %zero) -> (!tile.tile<b1=16 x f32>) {
        %ki = tile.index %k : !tile.range<b2=8>
        %sb = tile.broadcast %start dims [] : !tile.tile<i32> to !tile.tile<b2=8 x i32>
        %row = tile.add %sb, %ki : !tile.tile<b2=8 x i32>
        %twenty = tile.full 20 : !tile.tile<b2=8 x i32>
        %first = tile.mul %row, %twenty : !tile.tile<b2=8 x i32>
        %fb = tile.broadcast %first dims [0] : !tile.tile<b2=8 x i32> to !tile.tile<b2=8 x b1=16 x i32>
        %mi = tile.index %m : !tile.range<b1=16>
        %mb = tile.broadcast %mi dims [1] : !tile.tile<b1=16 x i32> to !tile.tile<b2=8 x b1=16 x i32>
        %at = tile.add %fb, %mb : !tile.tile<b2=8 x b1=16 x i32>
        %v = tile.load %y[%at] : memref<800xf32> -> !tile.tile<b2=8 x b1=16 x f32>
        %r = tile.reduce add %v [0] : !tile.tile<b2=8 x b1=16 x f32>
        %next = tile.add %a, %r : !tile.tile<b1=16 x f32>
        tile.yield %next : !tile.tile<b1=16 x f32>
      }
      tile.store %sum, %out[%i, %m] : !tile.tile<b1=16 x f32>, memref<6x20xf32>
    }
  }
  func.return
}

// -----

// A loop's rows from %s on, read and written: other blocks of them serve as well, so the store is a slice too.
// CHECK-LABEL: @moved_store
// CHECK: [[FROM:%.+]] = tile.extract
// CHECK: tile.for %m: b1=32 in (0, %n)
// CHECK: tile.store {{%.+}}, %out[{{%.+}}, :] : !tile.tile<b1=32 x 256 x f32>
func.func @moved_store(%x: memref<96x256xf32>, %bounds: memref<2xi32>, %out: memref<96x256xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %e = tile.load %bounds[1] : memref<2xi32> -> !tile.tile<i32>
    %n = tile.extract %e : !tile.tile<i32> to index
    tile.for %m: b1=32 in (0, %n) {
      %k = tile.index %m : !tile.range<b1=32>
      %b = tile.broadcast %s dims [] : !tile.tile<i32> to !tile.tile<b1=32 x i32>
      %rows = tile.add %b, %k : !tile.tile<b1=32 x i32>
      %v = tile.load %x[%rows, :] : memref<96x256xf32> -> !tile.tile<b1=32 x 256 x f32>
      tile.store %v, %out[%rows, :] : !tile.tile<b1=32 x 256 x f32>, memref<96x256xf32>
    }
  }
  func.return
}

// -----

// Blocks of fewer rows than a tile of memory may have do not move: the store keeps its rows' numbers.
// CHECK-LABEL: @store_of_few_rows
// CHECK: tile.for %m: b1=16 in (0, %n)
// CHECK: tile.store {{%.+}}, %out[%rows, :] : !tile.tile<b1=16 x 256 x f32>
func.func @store_of_few_rows(%x: memref<96x256xf32>, %bounds: memref<2xi32>, %out: memref<96x256xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %e = tile.load %bounds[1] : memref<2xi32> -> !tile.tile<i32>
    %n = tile.extract %e : !tile.tile<i32> to index
    tile.for %m: b1=16 in (0, %n) {
      %k = tile.index %m : !tile.range<b1=16>
      %b = tile.broadcast %s dims [] : !tile.tile<i32> to !tile.tile<b1=16 x i32>
      %rows = tile.add %b, %k : !tile.tile<b1=16 x i32>
      %v = tile.load %x[%rows, :] : memref<96x256xf32> -> !tile.tile<b1=16 x 256 x f32>
      tile.store %v, %out[%rows, :] : !tile.tile<b1=16 x 256 x f32>, memref<96x256xf32>
    }
  }
  func.return
}

// -----

// Numbers that are known now are a slice, all of a dimension as ":".
// CHECK-LABEL: @numbered
// CHECK: tile.load %x[{{%.+}}, :] : memref<40x20xf32> -> !tile.tile<b0=8 x 20 x f32>
// CHECK-LABEL: @numbered_part
// CHECK: tile.load %x[{{%.+}}, 4:12] : memref<40x20xf32> -> !tile.tile<b0=8 x 8 x f32>
func.func @numbered(%x: memref<40x20xf32>, %bounds: memref<1xi32>, %out: memref<8x20xf32>) {
  %flat = host.reshape %x : memref<40x20xf32> to memref<800xf32>
  tile.grid (%i: b0=8) in (8) {
    %s = tile.load %bounds[0] : memref<1xi32> -> !tile.tile<i32>
    %k = tile.index %i : !tile.range<b0=8>
    %b = tile.broadcast %s dims [] : !tile.tile<i32> to !tile.tile<b0=8 x i32>
    %row = tile.add %b, %k : !tile.tile<b0=8 x i32>
    %c = tile.full 20 : !tile.tile<b0=8 x i32>
    %first = tile.mul %row, %c : !tile.tile<b0=8 x i32>
    %wide = tile.broadcast %first dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 20 x i32>
    %lanes = tile.arange 0, 1 : !tile.tile<20 x i32>
    %all = tile.broadcast %lanes dims [1] : !tile.tile<20 x i32> to !tile.tile<b0=8 x 20 x i32>
    %at = tile.add %wide, %all : !tile.tile<b0=8 x 20 x i32>
    %v = tile.load %flat[%at] : memref<800xf32> -> !tile.tile<b0=8 x 20 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 20 x f32>, memref<8x20xf32>
  }
  func.return
}
func.func @numbered_part(%x: memref<40x20xf32>, %bounds: memref<1xi32>, %out: memref<8x8xf32>) {
  %flat = host.reshape %x : memref<40x20xf32> to memref<800xf32>
  tile.grid (%i: b0=8) in (8) {
    %s = tile.load %bounds[0] : memref<1xi32> -> !tile.tile<i32>
    %k = tile.index %i : !tile.range<b0=8>
    %b = tile.broadcast %s dims [] : !tile.tile<i32> to !tile.tile<b0=8 x i32>
    %row = tile.add %b, %k : !tile.tile<b0=8 x i32>
    %c = tile.full 20 : !tile.tile<b0=8 x i32>
    %first = tile.mul %row, %c : !tile.tile<b0=8 x i32>
    %wide = tile.broadcast %first dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 8 x i32>
    %lanes = tile.arange 4, 1 : !tile.tile<8 x i32>
    %some = tile.broadcast %lanes dims [1] : !tile.tile<8 x i32> to !tile.tile<b0=8 x 8 x i32>
    %at = tile.add %wide, %some : !tile.tile<b0=8 x 8 x i32>
    %v = tile.load %flat[%at] : memref<800xf32> -> !tile.tile<b0=8 x 8 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 8 x f32>, memref<8x8xf32>
  }
  func.return
}

// -----

// What is computed of lanes alone is no item's: it stays a gather. Starts that are loaded make rows.
// CHECK-LABEL: @computed_starts
// CHECK-NOT: jagged.rows
// CHECK-LABEL: @loaded_starts
// CHECK: jagged.rows %j from
func.func @computed_starts(%x: memref<9344xf32>, %out: memref<50x72xf32>) {
  tile.grid (%i: b0=16, %j: b1=72) in (50, 72) {
    %r = tile.index %i : !tile.range<b0=16>
    %l = tile.index %j : !tile.range<b1=72>
    %t = tile.full 16 : !tile.tile<b0=16 x i32>
    %g = tile.gt %r, %t : !tile.tile<b0=16 x i32>
    %w = tile.full 128 : !tile.tile<b0=16 x i32>
    %p = tile.mul %r, %w : !tile.tile<b0=16 x i32>
    %s = tile.select %g, %p, %w : !tile.tile<b0=16 x i32>
    %a = tile.broadcast %s dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=72 x i32>
    %b = tile.broadcast %l dims [1] : !tile.tile<b1=72 x i32> to !tile.tile<b0=16 x b1=72 x i32>
    %at = tile.add %a, %b : !tile.tile<b0=16 x b1=72 x i32>
    %v = tile.load %x[%at] : memref<9344xf32> -> !tile.tile<b0=16 x b1=72 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=16 x b1=72 x f32>, memref<50x72xf32>
  }
  func.return
}
func.func @loaded_starts(%x: memref<9344xf32>, %ids: memref<50xi32>, %out: memref<50x72xf32>) {
  tile.grid (%i: b0=16, %j: b1=72) in (50, 72) {
    %s = tile.load %ids[%i] : memref<50xi32> -> !tile.tile<b0=16 x i32>
    %l = tile.index %j : !tile.range<b1=72>
    %a = tile.broadcast %s dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=72 x i32>
    %b = tile.broadcast %l dims [1] : !tile.tile<b1=72 x i32> to !tile.tile<b0=16 x b1=72 x i32>
    %at = tile.add %a, %b : !tile.tile<b0=16 x b1=72 x i32>
    %v = tile.load %x[%at] : memref<9344xf32> -> !tile.tile<b0=16 x b1=72 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=16 x b1=72 x f32>, memref<50x72xf32>
  }
  func.return
}

// -----

// What a function combines has no number that it ignores: no mask leaves lanes out of it.
// CHECK-LABEL: func.func @own_function
// CHECK: tile.for %k
// REMARK: remark: the loop to the longest item is not raised to a jagged one: 'tile.associative_reduce' combines lanes that no mask leaves out
func.func @own_function(%x: memref<6x20xf32>, %lens: memref<6xi32>, %out: memref<6xf32>) {
  tile.grid (%b: b0=4) in (6) {
    %n = tile.load %lens[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
    %most = tile.reduce max %n [0] : !tile.tile<b0=4 x i32>
    %end = tile.extract %most : !tile.tile<i32> to index
    %z = tile.full 1.0 : !tile.tile<b0=4 x f32>
    %s = tile.for %k: b2=8 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=4 x f32>) {
      %nb = tile.broadcast %n dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %ki = tile.index %k : !tile.range<b2=8>
      %kb = tile.broadcast %ki dims [1] : !tile.tile<b2=8 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %has = tile.lt %kb, %nb : !tile.tile<b0=4 x b2=8 x i32>
      %v = tile.load %x[%b, %k] mask %has other 0.0 : memref<6x20xf32> -> !tile.tile<b0=4 x b2=8 x f32>
      %p = tile.associative_reduce %v dim 1 : !tile.tile<b0=4 x b2=8 x f32> {
      ^bb0(%l: !tile.tile<f32>, %r: !tile.tile<f32>):
        %m = tile.minimum %l, %r : !tile.tile<f32>
        tile.yield %m : !tile.tile<f32>
      }
      %next = tile.minimum %a, %p : !tile.tile<b0=4 x f32>
      tile.yield %next : !tile.tile<b0=4 x f32>
    }
    tile.store %s, %out[%b] : !tile.tile<b0=4 x f32>, memref<6xf32>
  }
  func.return
}

// -----

// Of a mask that says more than the loop, the rest stays, wherever it was computed: what the loop says is gone.
// CHECK-LABEL: func.func @rest_of_masks
// CHECK-NEXT: tile.grid (%b: b0=4) in (6) {
// CHECK-NEXT: %n = tile.load %lens[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
// CHECK-NEXT: %z = tile.full 0.0 : !tile.tile<b0=4 x f32>
// CHECK-NEXT: %from = tile.load %starts[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
// CHECK-NEXT: %s = jagged.for %k: b2=8 in %n iter(%a = %z) -> (!tile.tile<b0=4 x f32>) {
// CHECK-NEXT: %o = tile.load %own[%k] : memref<20xi1> -> !tile.tile<b2=8 x i1>
// CHECK-NEXT: %ob = tile.broadcast %o dims [1] : !tile.tile<b2=8 x i1> to !tile.tile<b0=4 x b2=8 x i1>
// CHECK-NEXT: %rows = jagged.rows %k from %from : !tile.range<b2=8>, !tile.tile<b0=4 x i32>
// CHECK-NEXT: %0 = tile.and %ob, %ob : !tile.tile<b0=4 x b2=8 x i1>
// CHECK-NEXT: %turned = tile.transpose %0 [1, 0] : !tile.tile<b0=4 x b2=8 x i1>
// CHECK-NEXT: %back = tile.transpose %turned [1, 0] : !tile.tile<b2=8 x b0=4 x i1>
// CHECK-NEXT: %v = tile.load %x[%rows] mask %back other 0.0 : memref<40xf32> -> !tile.tile<b0=4 x b2=8 x f32>
// CHECK-NEXT: %p = tile.reduce add %v [1] : !tile.tile<b0=4 x b2=8 x f32>
// CHECK-NEXT: %next = tile.add %a, %p : !tile.tile<b0=4 x f32>
// CHECK-NEXT: tile.yield %next : !tile.tile<b0=4 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %s, %out[%b] : !tile.tile<b0=4 x f32>, memref<6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @rest_of_masks(%x: memref<40xf32>, %starts: memref<6xi32>, %lens: memref<6xi32>, %own: memref<20xi1>, %out: memref<6xf32>) {
  tile.grid (%b: b0=4) in (6) {
    %n = tile.load %lens[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
    %most = tile.reduce max %n [0] : !tile.tile<b0=4 x i32>
    %end = tile.extract %most : !tile.tile<i32> to index
    %z = tile.full 0.0 : !tile.tile<b0=4 x f32>
    %from = tile.load %starts[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
    %s = tile.for %k: b2=8 in (0, %end) iter(%a = %z) -> (!tile.tile<b0=4 x f32>) {
      %ki = tile.index %k : !tile.range<b2=8>
      %kb = tile.broadcast %ki dims [1] : !tile.tile<b2=8 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %nb = tile.broadcast %n dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %has = tile.lt %kb, %nb : !tile.tile<b0=4 x b2=8 x i32>
      %o = tile.load %own[%k] : memref<20xi1> -> !tile.tile<b2=8 x i1>
      %ob = tile.broadcast %o dims [1] : !tile.tile<b2=8 x i1> to !tile.tile<b0=4 x b2=8 x i1>
      %both = tile.and %has, %ob : !tile.tile<b0=4 x b2=8 x i1>
      %twice = tile.and %both, %ob : !tile.tile<b0=4 x b2=8 x i1>
      %turned = tile.transpose %twice [1, 0] : !tile.tile<b0=4 x b2=8 x i1>
      %back = tile.transpose %turned [1, 0] : !tile.tile<b2=8 x b0=4 x i1>
      %fb = tile.broadcast %from dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %at = tile.add %fb, %kb : !tile.tile<b0=4 x b2=8 x i32>
      %v = tile.load %x[%at] mask %back other 0.0 : memref<40xf32> -> !tile.tile<b0=4 x b2=8 x f32>
      %p = tile.reduce add %v [1] : !tile.tile<b0=4 x b2=8 x f32>
      %next = tile.add %a, %p : !tile.tile<b0=4 x f32>
      tile.yield %next : !tile.tile<b0=4 x f32>
    }
    tile.store %s, %out[%b] : !tile.tile<b0=4 x f32>, memref<6xf32>
  }
  func.return
}

// -----

// Elements beyond the array are no slice, and neither are two dimensions that start at numbers of the items.
// CHECK-LABEL: func.func @no_slices
// CHECK-NEXT: tile.grid (%b: b0=4) in (6) {
// CHECK-NEXT: %n = tile.load %lens[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
// CHECK-NEXT: %l = tile.arange 4, 1 : !tile.tile<8 x i32>
// CHECK-NEXT: %v = tile.load %x[%l] : memref<10xf32> -> !tile.tile<8 x f32>
// CHECK-NEXT: tile.store %v, %o[:] : !tile.tile<8 x f32>, memref<8xf32>
// CHECK-NEXT: %z = tile.full 0.0 : !tile.tile<b0=4 x f32>
// CHECK-NEXT: %s = jagged.for %k: b2=8 in %n iter(%a = %z) -> (!tile.tile<b0=4 x f32>) {
// CHECK-NEXT: %ki = tile.index %k : !tile.range<b2=8>
// CHECK-NEXT: %kb = tile.broadcast %ki dims [1] : !tile.tile<b2=8 x i32> to !tile.tile<b0=4 x b2=8 x i32>
// CHECK-NEXT: %nb = tile.broadcast %n dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x b2=8 x i32>
// CHECK-NEXT: %at = tile.add %kb, %nb : !tile.tile<b0=4 x b2=8 x i32>
// CHECK-NEXT: %w = tile.load %y[%at, %at] : memref<40x20xf32> -> !tile.tile<b0=4 x b2=8 x f32>
// CHECK-NEXT: %p = tile.reduce add %w [1] : !tile.tile<b0=4 x b2=8 x f32>
// CHECK-NEXT: %next = tile.add %a, %p : !tile.tile<b0=4 x f32>
// CHECK-NEXT: tile.yield %next : !tile.tile<b0=4 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %s, %out[%b] : !tile.tile<b0=4 x f32>, memref<6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @no_slices(%x: memref<10xf32>, %y: memref<40x20xf32>, %lens: memref<6xi32>, %out: memref<6xf32>, %o: memref<8xf32>) {
  tile.grid (%b: b0=4) in (6) {
    %n = tile.load %lens[%b] : memref<6xi32> -> !tile.tile<b0=4 x i32>
    %l = tile.arange 4, 1 : !tile.tile<8 x i32>
    %v = tile.load %x[%l] : memref<10xf32> -> !tile.tile<8 x f32>
    tile.store %v, %o[:] : !tile.tile<8 x f32>, memref<8xf32>
    %z = tile.full 0.0 : !tile.tile<b0=4 x f32>
    %s = jagged.for %k: b2=8 in %n iter(%a = %z) -> (!tile.tile<b0=4 x f32>) {
      %ki = tile.index %k : !tile.range<b2=8>
      %kb = tile.broadcast %ki dims [1] : !tile.tile<b2=8 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %nb = tile.broadcast %n dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x b2=8 x i32>
      %at = tile.add %kb, %nb : !tile.tile<b0=4 x b2=8 x i32>
      %w = tile.load %y[%at, %at] : memref<40x20xf32> -> !tile.tile<b0=4 x b2=8 x f32>
      %p = tile.reduce add %w [1] : !tile.tile<b0=4 x b2=8 x f32>
      %next = tile.add %a, %p : !tile.tile<b0=4 x f32>
      tile.yield %next : !tile.tile<b0=4 x f32>
    }
    tile.store %s, %out[%b] : !tile.tile<b0=4 x f32>, memref<6xf32>
  }
  func.return
}

// -----

// Numbers that a kernel has as scalars are indices of a slice.
// CHECK-LABEL: func.func @scalars
// CHECK-NEXT: tile.grid (%i: b0=8) in (8) {
// CHECK-NEXT: %t = tile.load %n[0] : memref<1xi32> -> !tile.tile<i32>
// CHECK-NEXT: %0 = tile.extract %t : !tile.tile<i32> to index
// CHECK-NEXT: %1 = tile.shift %i by %0 : !tile.range<b0=8>
// CHECK-NEXT: %v = tile.load %x[%1, :] : memref<40x20xf32> -> !tile.tile<b0=8 x 20 x f32>
// CHECK-NEXT: tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 20 x f32>, memref<8x20xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @scalars(%x: memref<40x20xf32>, %n: memref<1xi32>, %out: memref<8x20xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %t = tile.load %n[0] : memref<1xi32> -> !tile.tile<i32>
    %e = tile.extract %t : !tile.tile<i32> to i32
    %b = tile.splat %e : i32 to !tile.tile<b0=8 x i32>
    %k = tile.index %i : !tile.range<b0=8>
    %rows = tile.add %b, %k : !tile.tile<b0=8 x i32>
    %v = tile.load %x[%rows, :] : memref<40x20xf32> -> !tile.tile<b0=8 x 20 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 20 x f32>, memref<8x20xf32>
  }
  func.return
}
