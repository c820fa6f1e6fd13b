// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(plan-splits{chip=sm90})' | filecheck %s
// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(plan-splits{chip=sm90},split-k{deterministic=true})' | filecheck %s --check-prefix=SPLIT

// Eight programs for 132 multiprocessors, and 32 MiB to be read.
// CHECK-LABEL: @rows
// CHECK: tile.grid (%i: b0=1) in (8) plan {order [i] parallel [i] split 128
// SPLIT-LABEL: @rows
// SPLIT: %a_parts = host.alloc : memref<128x8xf32>
// SPLIT: tile.grid (%i: b0=1, %part: b{{.*}}=8192) in (8, 1048576) {
// SPLIT: tile.grid
// SPLIT-NOT: plan
func.func @rows(%x: memref<8x1048576xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=1) in (8) {
    %z = tile.full 0.0 : !tile.tile<b0=1 x f32>
    %sum = tile.for %k: b1=8192 in (0, 1048576) iter(%a = %z) -> (!tile.tile<b0=1 x f32>) schedule walk {
      %v = tile.load %x[%i, %k] : memref<8x1048576xf32> -> !tile.tile<b0=1 x b1=8192 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=1 x b1=8192 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=1 x f32>
      tile.yield %n : !tile.tile<b0=1 x f32>
    }
    tile.store %sum, %out[%i] : !tile.tile<b0=1 x f32>, memref<8xf32>
  }
  func.return
}

// -----

// Little work takes less time than another launch.
// CHECK-LABEL: @short
// CHECK-NOT: split
func.func @short(%x: memref<8x16384xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=1) in (8) {
    %z = tile.full 0.0 : !tile.tile<b0=1 x f32>
    %sum = tile.for %k: b1=8192 in (0, 16384) iter(%a = %z) -> (!tile.tile<b0=1 x f32>) schedule walk {
      %v = tile.load %x[%i, %k] : memref<8x16384xf32> -> !tile.tile<b0=1 x b1=8192 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=1 x b1=8192 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=1 x f32>
      tile.yield %n : !tile.tile<b0=1 x f32>
    }
    tile.store %sum, %out[%i] : !tile.tile<b0=1 x f32>, memref<8xf32>
  }
  func.return
}

// -----

// A dimension of one cell needs no place of its own among the parts.
// CHECK-LABEL: @one_cell
// SPLIT-LABEL: @one_cell
// SPLIT: host.alloc : memref<128x8xf32>
func.func @one_cell(%x: memref<8x1048576xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=1, %j: b2=4) in (8, 4) {
    %z = tile.full 0.0 : !tile.tile<b0=1 x f32>
    %sum = tile.for %k: b1=8192 in (0, 1048576) iter(%a = %z) -> (!tile.tile<b0=1 x f32>) schedule walk {
      %v = tile.load %x[%i, %k] : memref<8x1048576xf32> -> !tile.tile<b0=1 x b1=8192 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=1 x b1=8192 x f32>
      %n = tile.add %a, %s : !tile.tile<b0=1 x f32>
      tile.yield %n : !tile.tile<b0=1 x f32>
    }
    tile.store %sum, %out[%i] : !tile.tile<b0=1 x f32>, memref<8xf32>
  }
  func.return
}

// -----

// Blocks of rows that each item stores by itself are dealt out too: 128 programs would leave four multiprocessors idle.
// CHECK-LABEL: @packed
// CHECK: plan {order [i, h] parallel [i, h] split 2
// SPLIT-LABEL: @packed
// SPLIT: tile.grid (%i: b0=1, %h: b1=1, %part: b{{.*}}=1) in (16, 8, 2) {
// SPLIT: [[END:%.+]] = arith.minsi %e,
// SPLIT: tile.for %m: b2=64 in ({{%.+}}, [[END]]) {
// SPLIT-NOT: tile.grid
func.func @packed(%x: memref<2048x8x128xf32>, %offsets: memref<17xi32>, %out: memref<2048x8x128xf32>) {
  tile.grid (%i: b0=1, %h: b1=1) in (16, 8) {
    %first = tile.begin %i : !tile.range<b0=1>
    %one = arith.constant 1 : index
    %next = arith.addi %first, %one : index
    %bt = tile.load %offsets[%first] : memref<17xi32> -> !tile.tile<i32>
    %et = tile.load %offsets[%next] : memref<17xi32> -> !tile.tile<i32>
    %b = tile.extract %bt : !tile.tile<i32> to index
    %e = tile.extract %et : !tile.tile<i32> to index
    tile.for %m: b2=64 in (%b, %e) {
      %v = tile.load %x[%m, %h, :] : memref<2048x8x128xf32> -> !tile.tile<b2=64 x b1=1 x 128 x f32>
      tile.store %v, %out[%m, %h, :] : !tile.tile<b2=64 x b1=1 x 128 x f32>, memref<2048x8x128xf32>
    }
  }
  func.return
}
