// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(chunk-scalars,cse,dce)' --remarks 2>&1 | filecheck %s

// Begins and ends of 200000 items: an operand each, in rows of 1024, of which a cell reads its own element.
// CHECK: remark: 'o' arrives in chunks of 1024: it is longer than scalar memory
// CHECK-LABEL: func.func @items
// CHECK: [[B:%.+]] = host.slice %offsets [0] [200000] [1]
// CHECK: [[P:%.+]] = host.call "aten.constant_pad_nd.default"([[B]]) args [unit, [0 : i64, 704 : i64], 0 : i64]
// CHECK: [[R:%.+]] = host.reshape [[P]] : memref<200704xi64> to memref<196x1024xi64>
// CHECK: host.slice %offsets [1] [200000] [1]
// CHECK: tile.grid (%i: b0=1) in (200000)
// CHECK: [[I:%.+]] = tile.id %i
// CHECK: [[C:%.+]] = arith.divsi [[I]], {{%.+}} : index
// CHECK: [[IN:%.+]] = arith.andi [[I]], {{%.+}} : index
// CHECK: %a = tile.load [[ONE:%.+]][[[C]], [[IN]]] : memref<196x1024xi64> -> !tile.tile<i64>
// CHECK: %b = tile.load [[TWO:%.+]][[[C]], [[IN]]] : memref<196x1024xi64> -> !tile.tile<i64>
func.func @items(%offsets: memref<200001xi64>) -> memref<200000xi64> {
  %new = host.launch @items (%o = %offsets) writes [] yields (%out : memref<200000xi64>) : (memref<200001xi64>) -> memref<200000xi64> {
    tile.grid (%i: b0=1) in (200000) {
      %at = tile.begin %i : !tile.range<b0=1>
      %one = arith.constant 1 : index
      %next = arith.addi %at, %one : index
      %a = tile.load %o[%at] : memref<200001xi64> -> !tile.tile<i64>
      %b = tile.load %o[%next] : memref<200001xi64> -> !tile.tile<i64>
      %n = tile.sub %b, %a : !tile.tile<i64>
      tile.store %n, %out[%at] : !tile.tile<i64>, memref<200000xi64>
    }
  }
  func.return %new : memref<200000xi64>
}

// -----

// Short arrays fit; what is read anywhere else stays whole.
// CHECK-LABEL: func.func @others
// CHECK-NOT: host.reshape
// CHECK: tile.load %short
// CHECK: tile.load %long
func.func @others(%s: memref<1000xi32>, %l: memref<200001xi32>) -> memref<1000xi32> {
  %new = host.launch @others (%short = %s, %long = %l) writes [] yields (%out : memref<1000xi32>) : (memref<1000xi32>, memref<200001xi32>) -> memref<1000xi32> {
    tile.grid (%i: b0=1) in (1000) {
      %at = tile.begin %i : !tile.range<b0=1>
      %a = tile.load %short[%at] : memref<1000xi32> -> !tile.tile<i32>
      %to = tile.extract %a : !tile.tile<i32> to index
      %b = tile.load %long[%to] : memref<200001xi32> -> !tile.tile<i32>
      tile.store %b, %out[%at] : !tile.tile<i32>, memref<1000xi32>
    }
  }
  func.return %new : memref<1000xi32>
}

// -----

// Nor has an array chunks where some cell reads before its first element, or behind its last.
// CHECK-LABEL: func.func @beyond
// CHECK-NOT: host.reshape
// CHECK: tile.load %before
// CHECK: tile.load %behind
func.func @beyond(%a: memref<200001xi32>, %b: memref<200001xi32>) -> memref<200000xi32> {
  %new = host.launch @beyond (%before = %a, %behind = %b) writes [] yields (%out : memref<200000xi32>) : (memref<200001xi32>, memref<200001xi32>) -> memref<200000xi32> {
    tile.grid (%i: b0=1) in (200000) {
      %at = tile.begin %i : !tile.range<b0=1>
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %last = arith.subi %at, %one : index
      %next = arith.addi %at, %two : index
      %v = tile.load %before[%last] : memref<200001xi32> -> !tile.tile<i32>
      %w = tile.load %behind[%next] : memref<200001xi32> -> !tile.tile<i32>
      %n = tile.sub %v, %w : !tile.tile<i32>
      tile.store %n, %out[%at] : !tile.tile<i32>, memref<200000xi32>
    }
  }
  func.return %new : memref<200000xi32>
}

// -----

// Blocks, and elements of a loop in a cell, stay whole, beside elements that move with the grid.
// CHECK-LABEL: func.func @blocks
// CHECK-NEXT: %new = host.launch @blocks (%x = %a, %y = %b) writes [] yields (%out : memref<200000xi32>) : (memref<200001xi32>, memref<200001xi32>) -> memref<200000xi32> {
// CHECK-NEXT: tile.grid (%i: b0=1) in (200000) {
// CHECK-NEXT: %at = tile.begin %i : !tile.range<b0=1>
// CHECK-NEXT: %n = tile.load %x[%at] : memref<200001xi32> -> !tile.tile<i32>
// CHECK-NEXT: %v = tile.load %x[%i] : memref<200001xi32> -> !tile.tile<b0=1 x i32>
// CHECK-NEXT: tile.store %v, %out[%i] : !tile.tile<b0=1 x i32>, memref<200000xi32>
// CHECK-NEXT: tile.for %k: b1=1 in (0, 7) {
// CHECK-NEXT: %l = tile.begin %k : !tile.range<b1=1>
// CHECK-NEXT: %w = tile.load %y[%l] : memref<200001xi32> -> !tile.tile<i32>
// CHECK-NEXT: %s = tile.add %n, %w : !tile.tile<i32>
// CHECK-NEXT: tile.store %s, %out[%at] : !tile.tile<i32>, memref<200000xi32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %new : memref<200000xi32>
func.func @blocks(%a: memref<200001xi32>, %b: memref<200001xi32>) -> memref<200000xi32> {
  %new = host.launch @blocks (%x = %a, %y = %b) writes [] yields (%out : memref<200000xi32>) : (memref<200001xi32>, memref<200001xi32>) -> memref<200000xi32> {
    tile.grid (%i: b0=1) in (200000) {
      %at = tile.begin %i : !tile.range<b0=1>
      %n = tile.load %x[%at] : memref<200001xi32> -> !tile.tile<i32>
      %v = tile.load %x[%i] : memref<200001xi32> -> !tile.tile<b0=1 x i32>
      tile.store %v, %out[%i] : !tile.tile<b0=1 x i32>, memref<200000xi32>
      tile.for %k: b1=1 in (0, 7) {
        %l = tile.begin %k : !tile.range<b1=1>
        %w = tile.load %y[%l] : memref<200001xi32> -> !tile.tile<i32>
        %s = tile.add %n, %w : !tile.tile<i32>
        tile.store %s, %out[%at] : !tile.tile<i32>, memref<200000xi32>
      }
    }
  }
  func.return %new : memref<200000xi32>
}
