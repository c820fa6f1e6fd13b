// RUN: kopt %s --verify-each --remarks --pass-pipeline='builtin.module(functionalise-host,order-grid)' 2>&1 | filecheck %s

// CHECK-DAG: remark: the grid runs in order: every cell stores into the same elements, and the last one's stay
// CHECK-DAG: remark: the grid runs in order: the previous value of 'count' is used at line [[#]]
// CHECK-DAG: remark: the grid runs in order: the last exchange of 'last' stays at line [[#]]
// CHECK-DAG: remark: the grid runs in order: what a compare-and-swap finds in 'lock' depends on it at line [[#]]
// CHECK-DAG: remark: the grid runs in order: add and max of 'mixed' do not commute at line [[#]]
// CHECK-DAG: remark: the grid runs in order: 'seen' is also read beside its updates at line [[#]]
// CHECK-DAG: remark: no order of the grid serves all outputs: the whole of 'columns' stays on chip
// CHECK-DAG: remark: no order of the grid serves all outputs: the launch is split into 2

// The output stays put along %j, which goes innermost, and in order: the last value stays.
// CHECK-LABEL: func.func @order
// CHECK: tile.grid (%i3: b5=8, %j3: b4=8) in (16, 32) ordered [1] {
func.func @order(%x: memref<32x16xf32>, %out: memref<16x32xf32>) {
  tile.grid (%j3: b4=8, %i3: b5=8) in (32, 16) {
    %v = tile.load %x[%j3, %i3] : memref<32x16xf32> -> !tile.tile<b4=8 x b5=8 x f32>
    %s = tile.reduce add %v [0] : !tile.tile<b4=8 x b5=8 x f32>
    tile.store %s, %out[%i3, 3] : !tile.tile<b5=8 x f32>, memref<16x32xf32>
  }
  func.return
}

// Updates: the split is a reduction, which goes innermost; the outputs' dimensions are nested, so one order serves both.
// CHECK-LABEL: func.func @reduction
// CHECK: tile.grid (%i1: b11=8, %j1: b12=128, %s1: b10=2) in (16, 256, 64) reduce [1, 2] {
func.func @reduction(%x: memref<64x16x256xf32>, %out: memref<16x256xf32>, %rows: memref<16xf32>) {
  tile.grid (%s1: b10=2, %i1: b11=8, %j1: b12=128) in (64, 16, 256) {
    %v = tile.load %x[%s1, %i1, %j1] : memref<64x16x256xf32> -> !tile.tile<b10=2 x b11=8 x b12=128 x f32>
    %a = tile.reduce add %v [0] : !tile.tile<b10=2 x b11=8 x b12=128 x f32>
    %r = tile.reduce add %a [1] : !tile.tile<b11=8 x b12=128 x f32>
    atomic.rmw add %a, %out[%i1, %j1] : !tile.tile<b11=8 x b12=128 x f32>, memref<16x256xf32>
    atomic.rmw add %r, %rows[%i1] : !tile.tile<b11=8 x f32>, memref<16xf32>
  }
  func.return
}

// Who comes first can be seen: the order stays, and is kept.
// CHECK-LABEL: func.func @tickets
// CHECK: tile.grid (%i2: b20=8, %j2: b21=8) in (16, 32) ordered [0, 1] {
func.func @tickets(%count: memref<1xi32>, %out: memref<32x16xi32>) {
  tile.grid (%i2: b20=8, %j2: b21=8) in (16, 32) {
    %one = tile.full 1 : !tile.tile<i32>
    %t = atomic.rmw add %one, %count[0] : !tile.tile<i32>, memref<1xi32> -> !tile.tile<i32>
    %w = tile.broadcast %t dims [] : !tile.tile<i32> to !tile.tile<b21=8 x b20=8 x i32>
    tile.store %w, %out[%j2, %i2] : !tile.tile<b21=8 x b20=8 x i32>, memref<32x16xi32>
  }
  func.return
}

// Rows and columns want different orders; the columns are few enough to stay.
// CHECK-LABEL: func.func @crossed
// CHECK: tile.grid (%i3: b30=8, %j3: b31=128) in (16, 256) reduce [0, 1] {
func.func @crossed(%x: memref<16x256xf32>, %rows: memref<16xf32>, %columns: memref<256xf32>) {
  tile.grid (%i3: b30=8, %j3: b31=128) in (16, 256) {
    %v = tile.load %x[%i3, %j3] : memref<16x256xf32> -> !tile.tile<b30=8 x b31=128 x f32>
    %r = tile.reduce add %v [1] : !tile.tile<b30=8 x b31=128 x f32>
    %c = tile.reduce add %v [0] : !tile.tile<b30=8 x b31=128 x f32>
    atomic.rmw add %r, %rows[%i3] : !tile.tile<b30=8 x f32>, memref<16xf32>
    atomic.rmw add %c, %columns[%j3] : !tile.tile<b31=128 x f32>, memref<256xf32>
  }
  func.return
}

// Too large to stay: one launch for each, with what it needs.
// CHECK-LABEL: func.func @split
// CHECK: host.launch @split_0 ({{.*}}) writes [1]
// CHECK-NEXT: tile.grid (%i4: b{{[0-9]+}}=256, %j4: b{{[0-9]+}}=1024) in (16384, 16384) reduce [1] {
// CHECK-NOT: tile.exp
// CHECK: atomic.rmw add {{%.+}}, %rows_{{.+}}[%i4, :]
// CHECK: host.launch @split_1 ({{.*}}) writes [2]
// CHECK-NEXT: tile.grid (%j4: b{{[0-9]+}}=1024, %i4: b{{[0-9]+}}=256) in (16384, 16384) reduce [1] {
// CHECK: tile.exp
// CHECK-NOT: atomic.rmw add {{%.+}}, %rows_
// CHECK: atomic.rmw add {{%.+}}, %columns_{{.+}}[:, %j4]
func.func @split(%x: memref<16384x16384xf32>, %rows: memref<16384x1024xf32>, %columns: memref<256x16384xf32>) {
  tile.grid (%i4: b40=256, %j4: b41=1024) in (16384, 16384) {
    %v = tile.load %x[%i4, %j4] : memref<16384x16384xf32> -> !tile.tile<b40=256 x b41=1024 x f32>
    %r = tile.mask %v in (_, %j4) else 0.0 : !tile.tile<b40=256 x b41=1024 x f32> to !tile.tile<b40=256 x 1024 x f32>
    %e = tile.exp %v : !tile.tile<b40=256 x b41=1024 x f32>
    %c = tile.mask %e in (%i4, _) else 0.0 : !tile.tile<b40=256 x b41=1024 x f32> to !tile.tile<256 x b41=1024 x f32>
    atomic.rmw add %r, %rows[%i4, :] : !tile.tile<b40=256 x 1024 x f32>, memref<16384x1024xf32>
    atomic.rmw add %c, %columns[:, %j4] : !tile.tile<256 x b41=1024 x f32>, memref<256x16384xf32>
  }
  func.return
}

// An exchange, a compare-and-swap, two kinds of updates and a load beside them: any order of cells could be seen.
// CHECK-LABEL: func.func @exchanged
// CHECK: tile.grid (%i50: b50=1, %j50: b51=8) in (16, 32) ordered [0, 1] {
func.func @exchanged(%x: memref<16x32xf32>, %last: memref<32xf32>) {
  tile.grid (%i50: b50=1, %j50: b51=8) in (16, 32) {
    %row = tile.begin %i50 : !tile.range<b50=1>
    %v = tile.load %x[%row, %j50] : memref<16x32xf32> -> !tile.tile<b51=8 x f32>
    atomic.rmw xchg %v, %last[%j50] : !tile.tile<b51=8 x f32>, memref<32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @claimed
// CHECK: tile.grid (%i52: b52=1, %j52: b53=8) in (16, 32) ordered [0, 1] {
func.func @claimed(%x: memref<16x32xf32>, %lock: memref<32xf32>) {
  tile.grid (%i52: b52=1, %j52: b53=8) in (16, 32) {
    %row = tile.begin %i52 : !tile.range<b52=1>
    %v = tile.load %x[%row, %j52] : memref<16x32xf32> -> !tile.tile<b53=8 x f32>
    %old = atomic.cas %v, %v, %lock[%j52] : !tile.tile<b53=8 x f32>, memref<32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @mixed
// CHECK: tile.grid (%i54: b54=1, %j54: b55=8) in (16, 32) ordered [0, 1] {
func.func @mixed(%x: memref<16x32xf32>, %mixed: memref<32xf32>) {
  tile.grid (%i54: b54=1, %j54: b55=8) in (16, 32) {
    %row = tile.begin %i54 : !tile.range<b54=1>
    %v = tile.load %x[%row, %j54] : memref<16x32xf32> -> !tile.tile<b55=8 x f32>
    atomic.rmw add %v, %mixed[%j54] : !tile.tile<b55=8 x f32>, memref<32xf32>
    atomic.rmw max %v, %mixed[%j54] : !tile.tile<b55=8 x f32>, memref<32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @beside
// CHECK: tile.grid (%i56: b56=1, %j56: b57=8) in (16, 32) ordered [0, 1] {
func.func @beside(%x: memref<16x32xf32>, %seen: memref<32xf32>, %y: memref<16x32xf32>) {
  tile.grid (%i56: b56=1, %j56: b57=8) in (16, 32) {
    %row = tile.begin %i56 : !tile.range<b56=1>
    %v = tile.load %x[%row, %j56] : memref<16x32xf32> -> !tile.tile<b57=8 x f32>
    %w = tile.load %seen[%j56] : memref<32xf32> -> !tile.tile<b57=8 x f32>
    tile.store %w, %y[%row, %j56] : !tile.tile<b57=8 x f32>, memref<16x32xf32>
    atomic.rmw add %v, %seen[%j56] : !tile.tile<b57=8 x f32>, memref<32xf32>
  }
  func.return
}
