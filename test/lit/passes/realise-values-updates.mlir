// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(return-mutated-arguments,functionalise-host,normalise-accesses,plan-values{prefer=one_hot},realise-values,cse,dce)' | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(return-mutated-arguments,functionalise-host,normalise-accesses,plan-values{prefer=row_loop},realise-values,cse,dce)' | filecheck %s --check-prefix=ROWS
// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(return-mutated-arguments,functionalise-host,normalise-accesses,plan-values{prefer=row_dma},realise-values,cse,dce)' | filecheck %s --check-prefix=DMA

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
// ROWS-LABEL: func.func @sums
// ROWS: ordered [0]
// ROWS: [[BEGIN:%.+]] = tile.begin %i
// ROWS: [[COUNT:%.+]] = arith.subi
// ROWS: tile.put %{{v_.}}, %row_values[:, :]
// ROWS-NEXT: tile.for %r: r0=1 in (0, [[COUNT]])
// ROWS: arith.addi [[BEGIN]], %at
// ROWS-NEXT: %n_2 = tile.load %n_1[%{{[0-9]+}}]
// ROWS: scf.if
// ROWS-NEXT: %row = tile.extract
// ROWS-NEXT: %{{old.*}} = tile.load %{{out_.}}[%row, %j] : memref<30x200xf32> -> !tile.tile<b1=128 x f32>
// ROWS-NEXT: [[V:%.+]] = tile.get %row_values[%at, :]
// ROWS-NEXT: %new = tile.add %{{old.*}}, [[V]]
// ROWS-NEXT: tile.store %new, %{{out_.}}[%row, %j]
// DMA-LABEL: func.func @sums
// DMA: host.call "aten.constant_pad_nd.default"(%out) {{.*}} -> (memref<30x256xf32>)
// DMA: %{{old.*}} = tile.load %{{.+}}[%row, %j] {space = "hbm"} : memref<30x256xf32>
// DMA: %new = tile.select
// DMA-NEXT: tile.store %new, %{{.+}}[%row, %j] {space = "hbm"}
func.func @sums(%n: memref<40xi32>, %v: memref<40x200xf32>, %out: memref<30x200xf32>) {
  tile.grid (%i: b0=16, %j: b1=128) in (40, 200) {
    %rows = tile.load %n[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    %v_1 = tile.load %v[%i, %j] : memref<40x200xf32> -> !tile.tile<b0=16 x b1=128 x f32>
    atomic.rmw add %v_1, %out[%rows, %j] : !tile.tile<b0=16 x b1=128 x f32>, memref<30x200xf32>
  }
  func.return
}

// -----

// Elements of a short array are compared with every lane; a long one is folded to rows of 128. One lane goes after
// the other where previous values are wanted.
// CHECK-LABEL: func.func @counts
// CHECK: tile.reduce add {{%.+}} [0] : !tile.tile<b0=16 x 300 x i32>
// CHECK: tile.store %new, %{{bins_.}}[:]
// CHECK: tile.for
// CHECK: tile.put %{{.*}}, %row_before[%at, :]
// CHECK: tile.take_along
// CHECK: tile.store {{%.+}}, %seen_
// ROWS-LABEL: func.func @counts
// ROWS: host.reshape {{%.+}} : memref<384xi32> to memref<3x128xi32>
// ROWS: host.slice {{%.+}} [0] [300] [1]
func.func @counts(%n: memref<32xi32>, %bins: memref<300xi32>, %places: memref<300xi32>, %seen: memref<32xi32>) {
  tile.grid (%i: b0=16) in (32) {
    %rows = tile.load %n[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
    %one = tile.full 1 : !tile.tile<b0=16 x i32>
    atomic.rmw add %one, %bins[%rows] : !tile.tile<b0=16 x i32>, memref<300xi32>
    %old = atomic.rmw add %one, %places[%rows] : !tile.tile<b0=16 x i32>, memref<300xi32> -> !tile.tile<b0=16 x i32>
    tile.store %old, %seen[%i] : !tile.tile<b0=16 x i32>, memref<32xi32>
  }
  func.return
}

// -----

// A range's own lane numbers are that range. Narrow elements are widened, gathered columns become rows, on the host.
// CHECK-LABEL: func.func @stores
// CHECK: host.permute %y [1, 0]
// CHECK: host.call "prims.convert_element_type.default"
// CHECK: tile.store {{%.+}}, %x_{{.*}}[%i, :]
// CHECK: tile.store %new, %y_{{.*}}[%row, :] : !tile.tile<8 x f32>
func.func @stores(%n: memref<32xi32>, %x: memref<32x8xbf16>, %y: memref<8x20xbf16>) {
  tile.grid (%i: b0=16) in (32) {
    %lanes = tile.index %i : !tile.range<b0=16>
    %rows = tile.load %n[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.full 1.0 : !tile.tile<b0=16 x 8 x bf16>
    tile.store %v, %x[%lanes, :] : !tile.tile<b0=16 x 8 x bf16>, memref<32x8xbf16>
    %w = tile.transpose %v [1, 0] : !tile.tile<b0=16 x 8 x bf16>
    tile.store %w, %y[:, %rows] : !tile.tile<8 x b0=16 x bf16>, memref<8x20xbf16>
  }
  func.return
}

// -----

// Blocks of rows that DMAs cannot move: they fetch whole rows, in which the block's lanes alone are updated.
// DMA-LABEL: func.func @narrow_blocks
// DMA: tile.grid (%i: b0=16, %j: b1=64) in (32, 192) ordered [0, 1]
// DMA: %[[FIRST:.+]] = tile.begin %j
// DMA: tile.splat %[[FIRST]] : index to !tile.tile<b0=16 x 192 x i32>
// DMA: tile.take_along %a, {{.+}} dim 1
// DMA: tile.load %x_{{.+}}[%row, :] {space = "hbm"}
func.func @narrow_blocks(%n: memref<32xi32>, %v: memref<32x192xf32>, %x: memref<1000x192xf32>) {
  tile.grid (%i: b0=16, %j: b1=64) in (32, 192) {
    %rows = tile.load %n[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
    %a = tile.load %v[%i, %j] : memref<32x192xf32> -> !tile.tile<b0=16 x b1=64 x f32>
    atomic.rmw add %a, %x[%rows, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<1000x192xf32>
  }
  func.return
}

// -----

// Columns counted from one on, beside whole rows: those are whole rows too, masked.
// ROWS-LABEL: func.func @parts
// ROWS: tile.store %new, %x_{{.+}}[%row, :]
// ROWS: tile.take_along %v, {{.+}} dim 1 : !tile.tile<b0=16 x 4 x f32>, !tile.tile<b0=16 x 8 x i32>
// ROWS: tile.store %new_1, %x_{{.+}}[%row_1, :]
func.func @parts(%n: memref<32xi32>, %x: memref<32x8xf32>, %c: memref<1xi32>) {
  tile.grid (%i: b0=16) in (32) {
    %rows = tile.load %n[%i] : memref<32xi32> -> !tile.tile<b0=16 x i32>
    %z = tile.full 0.0 : !tile.tile<b0=16 x 8 x f32>
    tile.store %z, %x[%rows, :] : !tile.tile<b0=16 x 8 x f32>, memref<32x8xf32>
    %lane = tile.arange 0, 1 : !tile.tile<4 x i32>
    %one = tile.load %c[0] : memref<1xi32> -> !tile.tile<i32>
    %first = tile.broadcast %one dims [] : !tile.tile<i32> to !tile.tile<4 x i32>
    %at = tile.add %first, %lane : !tile.tile<4 x i32>
    %columns = tile.broadcast %at dims [1] : !tile.tile<4 x i32> to !tile.tile<b0=16 x 4 x i32>
    %all = tile.broadcast %rows dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 4 x i32>
    %v = tile.full 1.0 : !tile.tile<b0=16 x 4 x f32>
    tile.store %v, %x[%all, %columns] : !tile.tile<b0=16 x 4 x f32>, memref<32x8xf32>
  }
  func.return
}
