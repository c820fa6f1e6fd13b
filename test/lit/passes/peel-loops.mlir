// RUN: kopt %s --split-input-file --verify-each -p peel-loops | filecheck %s

// Blocks that end before the block of rows begins need no mask. In the last one both begin together: lanes are compared.
// CHECK-LABEL: @causal
// CHECK: %[[BEGIN:.+]] = tile.begin %i
// CHECK-DAG: %[[SIZE:.+]] = arith.constant 64
// CHECK-DAG: %[[LAST:.+]] = arith.addi %[[BEGIN]], %[[SIZE]]
// CHECK: %[[FULL:.+]] = tile.for %j: b2=64 in (0, %[[BEGIN]]) iter(%s = %z) -> {{.*}} schedule resident {
// CHECK-NEXT: %v = tile.load %x[%i, %j] : memref<256x256xf32> -> !tile.tile<b0=64 x b2=64 x f32>
// CHECK-NEXT: %plain = tile.reshape %v
// CHECK-NEXT: %n = tile.add %s, %plain
// CHECK-NEXT: tile.yield
// CHECK: tile.for %{{.+}}: b1=64 in (%[[BEGIN]], %[[LAST]]) iter(%{{.+}} = %[[FULL]]) -> {{.*}} schedule resident {
// CHECK: %[[ROW:.+]] = tile.broadcast %{{.+}} dims [0] : !tile.tile<64 x i32>
// CHECK: %[[COLUMN:.+]] = tile.broadcast %{{.+}} dims [1] : !tile.tile<64 x i32>
// CHECK: tile.ge %[[ROW]], %[[COLUMN]]
// CHECK: tile.select
func.func @causal(%x: memref<256x256xf32>, %out: memref<256x64xf32>) {
  tile.grid (%i: b0=64) in (256) {
    %z = tile.full 0.0 : !tile.tile<b0=64 x 64 x f32>
    %end = tile.end %i : !tile.range<b0=64>
    %r = tile.for %j: b1=64 in (0, %end) iter(%s = %z) -> (!tile.tile<b0=64 x 64 x f32>) schedule resident peel(full | diagonal) {
      %v = tile.load %x[%i, %j] : memref<256x256xf32> -> !tile.tile<b0=64 x b1=64 x f32>
      %i1 = tile.index %i : !tile.range<b0=64>
      %j1 = tile.index %j : !tile.range<b1=64>
      %rows = tile.broadcast %i1 dims [0] : !tile.tile<b0=64 x i32> to !tile.tile<b0=64 x b1=64 x i32>
      %columns = tile.broadcast %j1 dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=64 x b1=64 x i32>
      %seen = tile.ge %rows, %columns : !tile.tile<b0=64 x b1=64 x i32>
      %none = tile.full 0.0 : !tile.tile<b0=64 x b1=64 x f32>
      %kept = tile.select %seen, %v, %none : !tile.tile<b0=64 x b1=64 x f32>
      %plain = tile.reshape %kept : !tile.tile<b0=64 x b1=64 x f32> to !tile.tile<b0=64 x 64 x f32>
      %n = tile.add %s, %plain : !tile.tile<b0=64 x 64 x f32>
      tile.yield %n : !tile.tile<b0=64 x 64 x f32>
    }
    tile.store %r, %out[%i, :] : !tile.tile<b0=64 x 64 x f32>, memref<256x64xf32>
  }
  func.return
}

// -----

// A limit that is an argument of the launch: as many full blocks as end before it.
// CHECK-LABEL: @limited
// CHECK: %[[FULL:.+]] = arith.floordivsi
// CHECK: arith.minsi
// CHECK: tile.for %j: b2=32 in (0, %[[SPLIT:.+]]) schedule resident {
// CHECK-NOT: tile.lt
// CHECK: tile.for %{{.+}}: b1=32 in (%[[SPLIT]], 100) schedule resident {
// CHECK: tile.lt
func.func @limited(%x: memref<100xf32>, %length: memref<1xi32>, %out: memref<100xf32>) {
  tile.grid (%g: b0=1) in (1) {
    %l = tile.load %length[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %l : !tile.tile<i32> to i32
    tile.for %j: b1=32 in (0, 100) schedule resident peel(full | diagonal) {
      %v = tile.load %x[%j] : memref<100xf32> -> !tile.tile<b1=32 x f32>
      %j1 = tile.index %j : !tile.range<b1=32>
      %limit = tile.splat %n : i32 to !tile.tile<b1=32 x i32>
      %inside = tile.lt %j1, %limit : !tile.tile<b1=32 x i32>
      %none = tile.full 0.0 : !tile.tile<b1=32 x f32>
      %kept = tile.select %inside, %v, %none : !tile.tile<b1=32 x f32>
      tile.store %kept, %out[%j] : !tile.tile<b1=32 x f32>, memref<100xf32>
    }
  }
  func.return
}

// -----

// Loops that are not to be peeled stay.
// CHECK-LABEL: @stays
// CHECK: tile.for %j: b1=32 in (0, 100) schedule resident {
// CHECK: tile.lt
func.func @stays(%x: memref<100xf32>, %out: memref<100xf32>) {
  tile.grid (%g: b0=1) in (1) {
    tile.for %j: b1=32 in (0, 100) schedule resident {
      %v = tile.load %x[%j] : memref<100xf32> -> !tile.tile<b1=32 x f32>
      %j1 = tile.index %j : !tile.range<b1=32>
      %limit = tile.full 50 : !tile.tile<b1=32 x i32>
      %inside = tile.lt %j1, %limit : !tile.tile<b1=32 x i32>
      %none = tile.full 0.0 : !tile.tile<b1=32 x f32>
      %kept = tile.select %inside, %v, %none : !tile.tile<b1=32 x f32>
      tile.store %kept, %out[%j] : !tile.tile<b1=32 x f32>, memref<100xf32>
    }
  }
  func.return
}
