// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(schedule-jagged,canonicalize,cse,dce)' | filecheck %s
// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(schedule-jagged{resize=false},canonicalize,cse,dce)' | filecheck %s --check-prefix=KEEP
// RUN: kopt %s --split-input-file --remarks -p schedule-jagged 2>&1 | filecheck %s --check-prefix=REMARK

// Lengths and starts are numbers, loaded once an item; its rows are a slice, in blocks of whole tiles of memory: 32 rows of bytes. A
// store keeps its mask.
// CHECK-LABEL: func.func @slices
// KEEP-LABEL: func.func @slices
// KEEP: jagged.for %k: b1=20 in %n
// CHECK: tile.grid (%i: b0=1) in (100) {
// CHECK-NEXT: [[I:%.+]] = tile.begin %i
// CHECK: %n = tile.load %lens[[[I]]] : memref<100xi64> -> !tile.tile<i64>
// CHECK: [[N:%.+]] = tile.extract %n : !tile.tile<i64> to index
// CHECK: %s = tile.load %starts[[[I]]] : memref<100xi64> -> !tile.tile<i64>
// CHECK: [[S:%.+]] = tile.extract %s : !tile.tile<i64> to index
// CHECK: tile.for %k: b1=32 in (0, [[N]]) iter(%a = %z) -> (!tile.tile<64 x f32>)
// CHECK: %rows = tile.shift %k by [[S]] : !tile.range<b1=32>
// CHECK: %m = tile.load %mask[%rows, :] : memref<999x64xi1> -> !tile.tile<b1=32 x 64 x i1>
// CHECK: %v = tile.load %x[%rows, :] mask %m : memref<999x64xf32> -> !tile.tile<b1=32 x 64 x f32>
// CHECK: tile.store %v, %out[%rows, :] mask %m
// CHECK: tile.reduce add %v [0] : !tile.tile<b1=32 x 64 x f32>
func.func @slices(%x: memref<999x64xf32>, %mask: memref<999x64xi1>, %lens: memref<100xi64>, %starts: memref<100xi64>,
                  %out: memref<999x64xf32>, %sums: memref<100x64xf32>) {
  tile.grid (%i: b0=8) in (100) {
    %n = tile.load %lens[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>
    %s = tile.load %starts[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>
    %z = tile.full 0.0 : !tile.tile<b0=8 x 64 x f32>
    %r = jagged.for %k: b1=20 in %n iter(%a = %z) -> (!tile.tile<b0=8 x 64 x f32>) {
      %rows = jagged.rows %k from %s : !tile.range<b1=20>, !tile.tile<b0=8 x i64>
      %m = tile.load %mask[%rows, :] : memref<999x64xi1> -> !tile.tile<b0=8 x b1=20 x 64 x i1>
      %v = tile.load %x[%rows, :] mask %m : memref<999x64xf32> -> !tile.tile<b0=8 x b1=20 x 64 x f32>
      tile.store %v, %out[%rows, :] mask %m : !tile.tile<b0=8 x b1=20 x 64 x f32>, memref<999x64xf32>
      %t = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=20 x 64 x f32>
      %b = tile.add %a, %t : !tile.tile<b0=8 x 64 x f32>
      tile.yield %b : !tile.tile<b0=8 x 64 x f32>
    }
    tile.store %r, %sums[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<100x64xf32>
  }
  func.return
}

// -----

// What `jagged.valid` says of an item is that the lanes are the loop's.
// CHECK-LABEL: func.func @lanes
// CHECK: tile.for %k: b1=16
// CHECK-NEXT: %has = tile.valid %k : !tile.range<b1=16>
// CHECK: tile.load %x[{{%.+}}, %k] mask %has :
func.func @lanes(%x: memref<100x64xf32>, %lens: memref<100xi32>, %out: memref<100x64xf32>) {
  tile.grid (%i: b0=8) in (100) {
    %n = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    jagged.for %k: b1=16 in %n {
      %has = jagged.valid %k of %n : !tile.range<b1=16>, !tile.tile<b0=8 x i32>
      %v = tile.load %x[%i, %k] mask %has : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      tile.store %v, %out[%i, %k] : !tile.tile<b0=8 x b1=16 x f32>, memref<100x64xf32>
    }
  }
  func.return
}

// -----

// Items that are combined stay in blocks: another block would give another result.
// CHECK-LABEL: func.func @combined
// CHECK: tile.grid (%i: b0=8) in (8)
// CHECK: jagged.for
func.func @combined(%x: memref<8x64xf32>, %lens: memref<8xi32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.load %lens[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
    %z = tile.full 0.0 : !tile.tile<f32>
    %r = jagged.for %k: b1=16 in %n iter(%a = %z) -> (!tile.tile<f32>) {
      %v = tile.load %x[%i, %k] : memref<8x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      %t = tile.reduce add %v [0, 1] : !tile.tile<b0=8 x b1=16 x f32>
      %b = tile.add %a, %t : !tile.tile<f32>
      tile.yield %b : !tile.tile<f32>
    }
    tile.store %r, %out[0] : !tile.tile<f32>, memref<8xf32>
  }
  func.return
}

// -----

// So do items of blocks that know their number.
// CHECK-LABEL: func.func @numbered
// CHECK: tile.grid (%i: b0=8) in (100)
// CHECK: jagged.for
func.func @numbered(%x: memref<100x64xf32>, %lens: memref<100xi32>, %out: memref<13x8x64xf32>) {
  tile.grid (%i: b0=8) in (100) {
    %block = tile.id %i : !tile.range<b0=8>
    %n = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    jagged.for %k: b1=16 in %n {
      %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      %w = tile.load %out[%block, 0, %k] : memref<13x8x64xf32> -> !tile.tile<b1=16 x f32>
      %u = tile.broadcast %w dims [1] : !tile.tile<b1=16 x f32> to !tile.tile<b0=8 x b1=16 x f32>
      %t = tile.add %u, %v : !tile.tile<b0=8 x b1=16 x f32>
      tile.store %t, %x[%i, %k] : !tile.tile<b0=8 x b1=16 x f32>, memref<100x64xf32>
    }
  }
  func.return
}

// -----

// Items in blocks of one already: rows keep their blocks where sizes are to be kept.
// KEEP-LABEL: func.func @single
// KEEP: tile.for %k: b1=20 in (0, [[N:%.+]]) iter(
// KEEP: %rows = tile.shift %k by [[S:%.+]] : !tile.range<b1=20>
// KEEP: tile.load %x[%rows, :] : memref<999x64xf32> -> !tile.tile<b1=20 x 64 x f32>
func.func @single(%x: memref<999x64xf32>, %lens: memref<100xi64>, %starts: memref<100xi64>, %sums: memref<100x64xf32>) {
  tile.grid (%i: b0=1) in (100) {
    %n = tile.load %lens[%i] : memref<100xi64> -> !tile.tile<b0=1 x i64>
    %s = tile.load %starts[%i] : memref<100xi64> -> !tile.tile<b0=1 x i64>
    %z = tile.full 0.0 : !tile.tile<b0=1 x 64 x f32>
    %r = jagged.for %k: b1=20 in %n iter(%a = %z) -> (!tile.tile<b0=1 x 64 x f32>) {
      %rows = jagged.rows %k from %s : !tile.range<b1=20>, !tile.tile<b0=1 x i64>
      %v = tile.load %x[%rows, :] : memref<999x64xf32> -> !tile.tile<b0=1 x b1=20 x 64 x f32>
      %t = tile.reduce add %v [1] : !tile.tile<b0=1 x b1=20 x 64 x f32>
      %b = tile.add %a, %t : !tile.tile<b0=1 x 64 x f32>
      tile.yield %b : !tile.tile<b0=1 x 64 x f32>
    }
    tile.store %r, %sums[%i, :] : !tile.tile<b0=1 x 64 x f32>, memref<100x64xf32>
  }
  func.return
}

// -----

// The schedule that a plan has of a jagged loop goes to the loop that it becomes.
// CHECK-LABEL: func.func @planned
// CHECK: tile.grid (%i: b0=1) in (64) plan {order [i]{{.*}}
// CHECK: tile.for %j: b1=16 in (0, %{{.*}}) schedule prefetch
func.func @planned(%n: memref<64xi32>, %x: memref<64xi32>) {
  tile.grid (%i: b0=16) in (64) plan {order [i] loop j prefetch @n = %n smem whole} {
    %lengths = tile.load %n[%i] via @n : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %z = tile.full 0 : !tile.tile<b0=16 x i32>
    %r = jagged.for %j: b1=16 in %lengths iter(%a = %z) -> (!tile.tile<b0=16 x i32>) {
      tile.yield %a : !tile.tile<b0=16 x i32>
    }
    tile.store %r, %x[%i] : !tile.tile<b0=16 x i32>, memref<64xi32>
  }
  func.return
}

// -----

// Blocks whose size the kernel's Python has read stay.
// REMARK: remark: items stay in blocks: the kernel's Python read the size of 'b0': what it computed from it is part of the IR
// CHECK-LABEL: func.func @read
// CHECK-NEXT: tile.grid (%i: b0=8) in (100) {
// CHECK-NEXT: %n = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
// CHECK-NEXT: jagged.for %k: b1=16 in %n {
// CHECK-NEXT: %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: tile.store %v, %out[%i, %k] : !tile.tile<b0=8 x b1=16 x f32>, memref<100x64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @read(%x: memref<100x64xf32>, %lens: memref<100xi32>, %out: memref<100x64xf32>) attributes {tile.read_sizes = ["b0"]} {
  tile.grid (%i: b0=8) in (100) {
    %n = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    jagged.for %k: b1=16 in %n {
      %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      tile.store %v, %out[%i, %k] : !tile.tile<b0=8 x b1=16 x f32>, memref<100x64xf32>
    }
  }
  func.return
}
