// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(functionalise-host,eliminate-output-only,plan-accesses,apply-schedule,bind-buffers)' | filecheck %s
// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(functionalise-host,eliminate-output-only,plan-accesses{loop-type=pipeline},apply-schedule,bind-buffers)' | filecheck %s --check-prefix=PIPELINE

// A block of a grid's range is a window; a whole dimension is its extent. The alloc is no operand.
// CHECK-LABEL: func.func @blocks
// CHECK-NEXT: pallas.call @blocks(%x) windows [<[8, 300], (d0) -> (d0, 0), vmem>, <[8, 300], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1]
// CHECK: tile.get {{%.+}}[:, :] : !tile.ref<8 x 300 x f32, vmem> -> !tile.tile<b0=8 x 300 x f32>
// CHECK-NEXT: tile.put {{%.+}}[:, :]
func.func @blocks(%x: memref<60x300xf32>) -> memref<60x300xf32> {
  %out = host.alloc : memref<60x300xf32>
  tile.grid (%i: b0=8) in (60) {
    %v = tile.load %x[%i, :] : memref<60x300xf32> -> !tile.tile<b0=8 x 300 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 300 x f32>, memref<60x300xf32>
  }
  func.return %out : memref<60x300xf32>
}

// -----

// Part of the rows is written: the others come from the operand, whose buffer the result takes over.
// CHECK-LABEL: func.func @part
// CHECK-NEXT: pallas.call @part(%x, %out) {{.*}} semantics (parallel) aliases [1]
// CHECK: [[OLD:%.+]] = tile.get %out
// CHECK-NEXT: tile.put [[OLD]], %new_out
// CHECK: [[ONES:%.+]] = tile.full 1
// CHECK: tile.mask [[ONES]] in (%i, _) else 0
// CHECK: tile.select
// CHECK-NEXT: tile.put {{%.+}}, %new_out
func.func @part(%x: memref<60x128xf32>, %out: memref<60x128xf32>) -> memref<60x128xf32> {
  tile.grid (%i: b0=8) in (20) {
    %v = tile.load %x[%i, :] : memref<60x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<60x128xf32>
  }
  func.return %out : memref<60x128xf32>
}

// -----

// Whole blocks of some rows are written: the operand is taken for its memory alone, and the other rows stay.
// CHECK-LABEL: func.func @part_in_blocks
// CHECK-NEXT: pallas.call @part_in_blocks(%x, %out) windows [{{.*}}, <[60, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [1]
// CHECK-NOT: tile.get %out
// CHECK: tile.put {{%.+}}, %new_out
// CHECK-NOT: tile.put
// CHECK: func.return
func.func @part_in_blocks(%x: memref<60x128xf32>, %out: memref<60x128xf32>) -> memref<60x128xf32> {
  tile.grid (%i: b0=8) in (24) {
    %v = tile.load %x[%i, :] : memref<60x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<60x128xf32>
  }
  func.return %out : memref<60x128xf32>
}

// -----

// One row a cell: a unit stands before the lanes.
// CHECK-LABEL: func.func @rows
// CHECK: [[X:%.+]] = host.reshape %x : memref<20x300xf32> to memref<20x1x300xf32>
// CHECK-NEXT: pallas.call @rows([[X]]) windows [<[_, 1, 300], (d0) -> (d0, 0, 0), vmem>
// CHECK: tile.get {{%.+}}[0, :] : !tile.ref<1 x 300 x f32, vmem> -> !tile.tile<300 x f32>
// CHECK: host.reshape {{%.+}} : memref<20x1x300xf32> to memref<20x300xf32>
func.func @rows(%x: memref<20x300xf32>) -> memref<20x300xf32> {
  %out = host.alloc : memref<20x300xf32>
  tile.grid (%i: b0=1) in (20) {
    %n = tile.begin %i : !tile.range<b0=1>
    %v = tile.load %x[%n, :] : memref<20x300xf32> -> !tile.tile<300 x f32>
    tile.store %v, %out[%n, :] : !tile.tile<300 x f32>, memref<20x300xf32>
  }
  func.return %out : memref<20x300xf32>
}

// -----

// Blocks that begin 70 lanes before the array: it is padded in front.
// CHECK-LABEL: func.func @shifted
// CHECK: [[Y:%.+]] = host.call "aten.constant_pad_nd.default"(%y) args [unit, [70 : i64, 0 : i64, 0 : i64, 0 : i64], 0.000000e+00 : f32] : (memref<8x186xf32>) -> (memref<8x256xf32>)
// CHECK-NEXT: pallas.call @shifted([[Y]]) windows [<[8, 128], (d0) -> (0, d0), vmem>
func.func @shifted(%y: memref<8x186xf32>) -> memref<8x256xf32> {
  %out = host.alloc : memref<8x256xf32>
  tile.grid (%j: b0=128) in (256) {
    %d = arith.constant -70 : index
    %s = tile.shift %j by %d : !tile.range<b0=128>
    %v = tile.load %y[:, %s] : memref<8x186xf32> -> !tile.tile<8 x b0=128 x f32>
    tile.store %v, %out[:, %j] : !tile.tile<8 x b0=128 x f32>, memref<8x256xf32>
  }
  func.return %out : memref<8x256xf32>
}

// -----

// No cells, no call.
// CHECK-LABEL: func.func @idle
// CHECK-NEXT: [[NEW:%.+]] = host.alloc : memref<0x8xf32>
// CHECK-NEXT: func.return [[NEW]]
func.func @idle(%out: memref<0x8xf32>) -> memref<0x8xf32> {
  tile.grid (%i: b0=8) in (0) {
    %v = tile.full 0.0 : !tile.tile<b0=8 x 8 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 8 x f32>, memref<0x8xf32>
  }
  func.return %out : memref<0x8xf32>
}

// -----

// What one loop of a cell hands to the next is memory of the chip; an array that the caller sees, or that another
// launch reads, is not.
// CHECK-LABEL: func.func @temporary
// CHECK-NOT: host.alloc
// CHECK: [[O:%.+]] = pallas.call @temporary_0(%x) windows
// CHECK-NEXT: ^bb0(%x_1: {{.+}}, %out_1: {{.+}}, %tmp: !tile.ref<16 x 256 x f32, vmem>):
// CHECK: tile.put %v, %tmp[:, 0:128]
// CHECK: tile.get %tmp[:, 0:64]
// CHECK: [[S:%.+]] = pallas.call @temporary_1([[O]])
// CHECK: pallas.call @temporary_2({{.*}}[[S]]
func.func @temporary(%x: memref<64x128xf32>) -> memref<64x256xf32> {
  %tmp = host.alloc : memref<64x256xf32>
  %out = host.alloc : memref<64x256xf32>
  %shared = host.alloc : memref<64x256xf32>
  tile.grid (%i: b0=16) in (64) {
    %v = tile.load %x[%i, :] : memref<64x128xf32> -> !tile.tile<b0=16 x 128 x f32>
    tile.store %v, %tmp[%i, 0:128] : !tile.tile<b0=16 x 128 x f32>, memref<64x256xf32>
    %w = tile.load %tmp[%i, 0:64] : memref<64x256xf32> -> !tile.tile<b0=16 x 64 x f32>
    tile.store %w, %out[%i, 0:64] : !tile.tile<b0=16 x 64 x f32>, memref<64x256xf32>
  }
  tile.grid (%j: b1=16) in (64) {
    %v = tile.load %out[%j, :] : memref<64x256xf32> -> !tile.tile<b1=16 x 256 x f32>
    tile.store %v, %shared[%j, :] : !tile.tile<b1=16 x 256 x f32>, memref<64x256xf32>
  }
  tile.grid (%k: b2=16) in (64) {
    %v = tile.load %shared[%k, :] : memref<64x256xf32> -> !tile.tile<b2=16 x 256 x f32>
    tile.store %v, %out[%k, :] : !tile.tile<b2=16 x 256 x f32>, memref<64x256xf32>
  }
  func.return %out : memref<64x256xf32>
}

// -----

// Pipelined loops: the updated array is one in HBM, and its blocks are split where they are no tiles of the chip.
// PIPELINE-LABEL: func.func @pipeline
// PIPELINE: host.call "aten.constant_pad_nd.default"
// PIPELINE: pallas.call @pipeline({{.*}}) windows [<[16, 512], (d0) -> (0, 0), hbm>, <[7, 3, 128], (d0) -> (0, 0, 0), hbm>, <[16, 512], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [0]
// PIPELINE: %0 = tile.id %i
// PIPELINE-NEXT: pallas.pipeline reads (%new_x) writes (%new_x) at (%0) windows [<[8, 128], (d0)[s0] -> (s0, (d0 + 1)), vmem>, <[8, 128], (d0)[s0] -> (s0, (d0 + 1)), vmem>]
// PIPELINE: tile.get %x_block[:, :]
// PIPELINE: tile.put {{%.+}}, %new_x_block[:, :]
// PIPELINE: pallas.pipeline reads (%y{{.*}}) windows [<[_, 3, 128], (d0) -> (d0, 0, 0), vmem>]
func.func @pipeline(%y: memref<20x128xf32>, %x: memref<16x512xf32>) {
  tile.grid (%i: b0=8) in (16) {
    tile.for %k: b1=128 in (128, 384) {
      %v = tile.load %x[%i, %k] : memref<16x512xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %w = tile.add %v, %v : !tile.tile<b0=8 x b1=128 x f32>
      tile.store %w, %x[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<16x512xf32>
    }
    tile.for %j: b2=3 in (0, 20) {
      %u = tile.load %y[%j, :] : memref<20x128xf32> -> !tile.tile<b2=3 x 128 x f32>
    }
  }
  func.return
}

// -----

// Lanes behind the end of what was loaded have the load's fill, those that its mask leaves out the other number.
// CHECK-LABEL: func.func @filled
// CHECK-NEXT: %k_1 = host.call "aten.constant_pad_nd.default"(%k) args [unit, [0 : i64, 0 : i64, 0 : i64, 4 : i64], false] : (memref<60x128xi1>) -> (memref<64x128xi1>)
// CHECK-NEXT: %k_2 = host.reshape %k_1 : memref<64x128xi1> to memref<8x8x128xi1>
// CHECK-NEXT: %out = pallas.call @filled(%k_2, %x) windows [<[_, 8, 128], (d0) -> (d0, 0, 0), vmem>, <[8, 128], (d0) -> (d0, 0), vmem>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<8x8x128xi1>, memref<60x128xf32>) -> memref<64x128xf32> {
// CHECK-NEXT: ^bb0(%k_3: !tile.ref<8 x 128 x i1, vmem>, %x_1: !tile.ref<8 x 128 x f32, vmem>, %out_1: !tile.ref<8 x 128 x f32, vmem>):
// CHECK-NEXT: tile.grid (%i: b0=8) in (60) {
// CHECK-NEXT: %m = tile.get %k_3[:, :] : !tile.ref<8 x 128 x i1, vmem> -> !tile.tile<b0=8 x 128 x i1>
// CHECK-NEXT: %0 = tile.get %x_1[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %1 = tile.full 1 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %2 = tile.full 0 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %3 = tile.mask %1 in (%i, _) else 0 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %inside = tile.ne %3, %2 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %4 = tile.full 3.0 : !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %5 = tile.select %inside, %0, %4 : !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %6 = tile.full 5.0 : !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %v = tile.select %m, %5, %6 : !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %7 = tile.full 1 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %8 = tile.full 0 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %9 = tile.mask %7 in (%i, _) else 0 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %inside_1 = tile.ne %9, %8 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %old = tile.get %out_1[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %new = tile.select %inside_1, %v, %old : !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: tile.put %new, %out_1[:, :] : !tile.tile<b0=8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out : memref<64x128xf32>
func.func @filled(%x: memref<60x128xf32>, %k: memref<60x128xi1>) -> memref<64x128xf32> {
  %out = host.alloc : memref<64x128xf32>
  tile.grid (%i: b0=8) in (60) {
    %m = tile.load %k[%i, :] : memref<60x128xi1> -> !tile.tile<b0=8 x 128 x i1>
    %v = tile.load %x[%i, :] mask %m other 5.0 pad 3.0 : memref<60x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x128xf32>
  }
  func.return %out : memref<64x128xf32>
}

// -----

// A launch that writes nothing is no call, and what only it took is not made.
// CHECK-LABEL: func.func @gives_nothing
// CHECK-NEXT: %t = host.alloc : memref<64x128xf32>
// CHECK-NEXT: func.return %x : memref<64x128xf32>
func.func @gives_nothing(%x: memref<64x128xf32>) -> memref<64x128xf32> {
  %h = host.call "aten.exp.default"(%x) args [unit] : (memref<64x128xf32>) -> (memref<64x128xf32>)
  %t = host.alloc : memref<64x128xf32>
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %h[%i, :] : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 128 x f32>
  }
  func.return %x : memref<64x128xf32>
}
