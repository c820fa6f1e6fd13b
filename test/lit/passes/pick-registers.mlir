// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(pick-registers)' | filecheck %s

// The register of each row's lane is loaded by a number from scalar memory, where a window of the same blocks stands.
// CHECK-LABEL: @labels
// CHECK: pallas.call @labels(%x, %n, %n) windows {{\[}}<[8, 16384], (d0) -> (d0, 0), vmem>, <[8], (d0) -> (d0), vmem>, <[8], (d0) -> (d0), smem>, <[8], (d0) -> (d0), vmem>]
// CHECK-NEXT: ^{{.*}}(%rows: {{.*}}, %names: !tile.ref<8 x i32, vmem>, %[[COPY:.*]]: !tile.ref<8 x i32, smem>, %out: {{.*}}, %rows_picked: !tile.ref<8 x 128 x f32, vmem>):
// CHECK: tile.for %r: b1=1 in (0, 8) schedule resident unroll 8 {
// CHECK: %[[LANE:.*]] = tile.begin %r
// CHECK: %[[NUMBER:.*]] = tile.get %[[COPY]][%[[LANE]]] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
// CHECK: %lane = tile.extract %[[NUMBER]] : !tile.tile<i32> to index
// CHECK: %[[SEVEN:.*]] = arith.constant 7
// CHECK-NEXT: %[[SHIFTED:.*]] = arith.shrsi %lane, %[[SEVEN]]
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[SHIFTED]]
// CHECK: %[[LAST:.*]] = arith.constant 127
// CHECK-NEXT: arith.minsi %[[LEAST]], %[[LAST]]
// CHECK: arith.muli
// CHECK: tile.get %rows[%{{.*}}, %{{.*}}] : !tile.ref<8 x 16384 x f32, vmem> -> !tile.tile<b2=1 x b3=128 x f32>
// CHECK-NEXT: tile.put %{{.*}}, %rows_picked[%{{.*}}, :]
// CHECK: %[[PICKED:.*]] = tile.get %rows_picked[:, :]
// CHECK: %[[IN:.*]] = tile.and
// CHECK: tile.take_along %[[PICKED]], %[[IN]] dim 1 : !tile.tile<b0=8 x 128 x f32>, !tile.tile<b0=8 x 1 x i32>
func.func @labels(%x: memref<64x16384xf32>, %n: memref<64xi32>) -> memref<64xf32> {
  %q = pallas.call @labels(%x, %n) windows [<[8, 16384], (d0) -> (d0, 0), vmem>, <[8], (d0) -> (d0), vmem>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x16384xf32>, memref<64xi32>) -> memref<64xf32> {
  ^bb0(%rows: !tile.ref<8 x 16384 x f32, vmem>, %names: !tile.ref<8 x i32, vmem>, %out: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.get %rows[:, :] : !tile.ref<8 x 16384 x f32, vmem> -> !tile.tile<b0=8 x 16384 x f32>
      %k = tile.get %names[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %w = tile.reshape %k : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
      %t = tile.take_along %v, %w dim 1 : !tile.tile<b0=8 x 16384 x f32>, !tile.tile<b0=8 x 1 x i32>
      %p = tile.reshape %t : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x f32>
      tile.put %p, %out[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  func.return %q : memref<64xf32>
}

// -----

// Numbers that are computed across lanes, and a block that the kernel writes, stay as they are.
// CHECK-LABEL: @across
// CHECK: tile.take_along %v, %{{.*}} dim 1 : !tile.tile<b0=8 x 16384 x f32>
// CHECK: tile.take_along %y, %{{.*}} dim 1 : !tile.tile<b0=8 x 16384 x f32>
func.func @across(%x: memref<64x16384xf32>, %n: memref<64xi32>) -> memref<64x16384xf32> {
  %q = pallas.call @across(%x, %n) windows [<[8, 16384], (d0) -> (d0, 0), vmem>, <[8], (d0) -> (d0), vmem>, <[8, 16384], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<64x16384xf32>, memref<64xi32>) -> memref<64x16384xf32> {
  ^bb0(%rows: !tile.ref<8 x 16384 x f32, vmem>, %names: !tile.ref<8 x i32, vmem>, %out: !tile.ref<8 x 16384 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.get %rows[:, :] : !tile.ref<8 x 16384 x f32, vmem> -> !tile.tile<b0=8 x 16384 x f32>
      %k = tile.get %names[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %most = tile.argreduce max %v dim 1 : !tile.tile<b0=8 x 16384 x f32>
      %a = tile.reshape %most : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
      %t = tile.take_along %v, %a dim 1 : !tile.tile<b0=8 x 16384 x f32>, !tile.tile<b0=8 x 1 x i32>
      %u = tile.broadcast %t dims [0, 1] : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x 16384 x f32>
      tile.put %u, %out[:, :] : !tile.tile<b0=8 x 16384 x f32>, !tile.ref<8 x 16384 x f32, vmem>
      %y = tile.get %out[:, :] : !tile.ref<8 x 16384 x f32, vmem> -> !tile.tile<b0=8 x 16384 x f32>
      %w = tile.reshape %k : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
      %z = tile.take_along %y, %w dim 1 : !tile.tile<b0=8 x 16384 x f32>, !tile.tile<b0=8 x 1 x i32>
      %c = tile.broadcast %z dims [0, 1] : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x 16384 x f32>
      tile.put %c, %out[:, :] : !tile.tile<b0=8 x 16384 x f32>, !tile.ref<8 x 16384 x f32, vmem>
    }
  }
  func.return %q : memref<64x16384xf32>
}

// -----

// Numbers that are known to name lanes of the row are not clamped; those that may be one lane beyond it are.
// CHECK-LABEL: @known
// CHECK: tile.for %r:
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: tile.for %r_1:
// CHECK-NOT: arith.maxsi
// CHECK: arith.minsi
// CHECK: tile.for %r_2:
// CHECK: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: func.return
func.func @known(%x: memref<64x16384xf32>, %n: memref<64xi32>) -> memref<64x3xf32> {
  %q = pallas.call @known(%x, %n) windows [<[8, 16384], (d0) -> (d0, 0), vmem>, <[8], (d0) -> (d0), vmem>, <[8, 3], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<64x16384xf32>, memref<64xi32>) -> memref<64x3xf32> {
  ^bb0(%rows: !tile.ref<8 x 16384 x f32, vmem>, %names: !tile.ref<8 x i32, vmem>, %out: !tile.ref<8 x 3 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.get %rows[:, :] : !tile.ref<8 x 16384 x f32, vmem> -> !tile.tile<b0=8 x 16384 x f32>
      %k = tile.get %names[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %zero = tile.full 0 : !tile.tile<b0=8 x i32>
      %below = tile.full -1 : !tile.tile<b0=8 x i32>
      %last = tile.full 16383 : !tile.tile<b0=8 x i32>
      %beyond = tile.full 16384 : !tile.tile<b0=8 x i32>
      %a = tile.minimum %k, %last : !tile.tile<b0=8 x i32>
      %b = tile.maximum %a, %zero : !tile.tile<b0=8 x i32>
      %c = tile.minimum %k, %beyond : !tile.tile<b0=8 x i32>
      %d = tile.maximum %c, %zero : !tile.tile<b0=8 x i32>
      %e = tile.maximum %a, %below : !tile.tile<b0=8 x i32>
      %l = tile.reshape %b : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
      %m = tile.reshape %d : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
      %o = tile.reshape %e : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
      %s = tile.take_along %v, %l dim 1 : !tile.tile<b0=8 x 16384 x f32>, !tile.tile<b0=8 x 1 x i32>
      %t = tile.take_along %v, %m dim 1 : !tile.tile<b0=8 x 16384 x f32>, !tile.tile<b0=8 x 1 x i32>
      %u = tile.take_along %v, %o dim 1 : !tile.tile<b0=8 x 16384 x f32>, !tile.tile<b0=8 x 1 x i32>
      %w = tile.concat %s, %t, %u dim 1 : !tile.tile<b0=8 x 1 x f32>, !tile.tile<b0=8 x 1 x f32>, !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x 3 x f32>
      tile.put %w, %out[:, :] : !tile.tile<b0=8 x 3 x f32>, !tile.ref<8 x 3 x f32, vmem>
    }
  }
  func.return %q : memref<64x3xf32>
}

// -----

// Numbers of lanes and of cells are computed on the scalar unit; lanes from outside a slice are the nearest inside.
// CHECK-LABEL: @computed
// CHECK: %[[FIRST:.*]] = tile.begin %i : !tile.range<b0=8>
// CHECK: tile.for %r: {{.*}} in (0, 8)
// CHECK: %[[LANE:.*]] = tile.begin %r
// CHECK: %[[PLACE:.*]] = arith.addi %[[LANE]], %from
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[PLACE]], %{{.*}}
// CHECK: %[[THIRTY:.*]] = arith.constant 31 : index
// CHECK-NEXT: %[[INSIDE:.*]] = arith.minsi %[[LEAST]], %[[THIRTY]]
// CHECK: %[[NAME:.*]] = tile.get %names_1[%[[INSIDE]]] : !tile.ref<32 x i32, smem> -> !tile.tile<i32>
// CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[LANE]]
// CHECK: %[[SPLAT:.*]] = tile.splat %[[NUMBER]] : index to !tile.tile<i32>
// CHECK: %[[SUM:.*]] = tile.add %[[NAME]], %[[SPLAT]]
// CHECK: %[[CELL:.*]] = tile.splat %from : index to !tile.tile<i32>
// CHECK: tile.add %[[SUM]], %[[CELL]]
func.func @computed(%x: memref<64x16384xf32>, %n: memref<32xi32>, %m: memref<8xi32>) -> memref<64xf32> {
  %q = pallas.call @computed(%x, %n, %m) windows [<[8, 16384], (d0) -> (d0, 0), vmem>, <[32], (d0) -> (0), vmem>, <[8], (d0) -> (0), smem>, <[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<64x16384xf32>, memref<32xi32>, memref<8xi32>) -> memref<64xf32> {
  ^bb0(%rows: !tile.ref<8 x 16384 x f32, vmem>, %names: !tile.ref<32 x i32, vmem>, %starts: !tile.ref<8 x i32, smem>, %out: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.get %rows[:, :] : !tile.ref<8 x 16384 x f32, vmem> -> !tile.tile<b0=8 x 16384 x f32>
      %cell = tile.id %i : !tile.range<b0=8>
      %start = tile.get %starts[%cell] : !tile.ref<8 x i32, smem> -> !tile.tile<i32>
      %from = tile.extract %start : !tile.tile<i32> to index
      %all = tile.get %names[:] : !tile.ref<32 x i32, vmem> -> !tile.tile<32 x i32>
      %k = tile.dynamic_slice %all from %from dim 0 : !tile.tile<32 x i32> to !tile.tile<b0=8 x i32>
      %p = tile.index %i : !tile.range<b0=8>
      %a = tile.add %k, %p : !tile.tile<b0=8 x i32>
      %s = tile.splat %from : index to !tile.tile<b0=8 x i32>
      %b = tile.add %a, %s : !tile.tile<b0=8 x i32>
      %w = tile.reshape %b : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 1 x i32>
      %t = tile.take_along %v, %w dim 1 : !tile.tile<b0=8 x 16384 x f32>, !tile.tile<b0=8 x 1 x i32>
      %r = tile.reshape %t : !tile.tile<b0=8 x 1 x f32> to !tile.tile<b0=8 x f32>
      tile.put %r, %out[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  func.return %q : memref<64xf32>
}
