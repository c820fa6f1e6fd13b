// RUN: kopt %s --verify-each -p 'return-mutated-arguments,functionalise-host,normalise-accesses,plan-values' | filecheck %s
// RUN: kopt %s --verify-each -p 'return-mutated-arguments,functionalise-host,normalise-accesses,plan-values{accesses="table = one_hot","sums = row_dma","x = window"}' | filecheck %s --check-prefix=PINNED
// RUN: kopt %s --verify-each -p 'return-mutated-arguments,functionalise-host,normalise-accesses,plan-values{prefer=one_hot,rows}' | filecheck %s --check-prefix=PREFER

// Rows of a table that is more than a product should take come by DMAs, unless something else is said.
// CHECK-LABEL: func.func @embedding
// CHECK: plan {order [i] parallel [i]
// CHECK-NEXT: @table = %table_1 rows} {
// CHECK: tile.load %table_1[%n, :] via @table
// PINNED-LABEL: func.func @embedding
// PINNED: @table = %table_1 one_hot} {
// PREFER-LABEL: func.func @embedding
// PREFER: @table = %table_1 one_hot} {
func.func @embedding(%ids: memref<64xi32>, %table: memref<300x256xf32>, %out: memref<64x256xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %table[%n, :] : memref<300x256xf32> -> !tile.tile<b0=16 x 256 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
  }
  func.return
}

// A label's logit is picked from the row that is there; how that row comes is open.
// CHECK-LABEL: func.func @label
// CHECK: @logits = %logits_1 window
// CHECK-NEXT: @logits_1 = %logits_1 pick from @logits} {
// CHECK: tile.load %logits_1[%i, :] via @logits
// CHECK: tile.load %logits_1[%k, %n] via @logits_1
// PREFER-LABEL: func.func @label
// PREFER: @logits = %logits_1 one_hot} {
func.func @label(%logits: memref<64x1000xf32>, %labels: memref<64xi32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %row = tile.load %logits[%i, :] : memref<64x1000xf32> -> !tile.tile<b0=16 x 1000 x f32>
    %m = tile.reduce max %row [1] : !tile.tile<b0=16 x 1000 x f32>
    %k = tile.index %i : !tile.range<b0=16>
    %n = tile.load %labels[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %logits[%k, %n] : memref<64x1000xf32> -> !tile.tile<b0=16 x f32>
    %d = tile.sub %m, %v : !tile.tile<b0=16 x f32>
    tile.store %d, %out[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}

// Of updates the cheapest; blocks have no buffer yet.
// CHECK-LABEL: func.func @added
// CHECK: @sums = %sums_2 row_loop} {
// CHECK: tile.load %v_1[%i, :] : memref
// CHECK: atomic.rmw add %x, %sums_2[%rows, :] via @sums
// PINNED-LABEL: func.func @added
// PINNED: @sums = %sums_2 row_dma} {
// PREFER-LABEL: func.func @added
// PREFER: @sums = %sums_2 one_hot} {
func.func @added(%n: memref<64xi32>, %v: memref<64x256xf32>, %sums: memref<384x256xf32>) {
  tile.grid (%i: b0=64) in (64) {
    %rows = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=64 x i32>
    %x = tile.load %v[%i, :] : memref<64x256xf32> -> !tile.tile<b0=64 x 256 x f32>
    atomic.rmw add %x, %sums[%rows, :] : !tile.tile<b0=64 x 256 x f32>, memref<384x256xf32>
  }
  func.return
}

// A row by a loaded number of an array that does not fit is a gather of one place; where it is pinned to be a block, it is
// left to plan-accesses.
// CHECK-LABEL: func.func @far
// CHECK: @x = %x_1 rows} {
// PINNED-LABEL: func.func @far
// PINNED-NOT: plan
// PINNED: func.return
func.func @far(%x: memref<100000x128xf32>, %at: memref<1xi32>, %out: memref<5x128xf32>) -> memref<5x128xf32> {
  tile.grid (%i: b0=1) in (5) {
    %s = tile.load %at[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    %v = tile.load %x[%n, :] : memref<100000x128xf32> -> !tile.tile<128 x f32>
    %p = tile.begin %i : !tile.range<b0=1>
    tile.store %v, %out[%p, :] : !tile.tile<128 x f32>, memref<5x128xf32>
  }
  func.return %out : memref<5x128xf32>
}
