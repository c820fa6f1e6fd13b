// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(fuse-host-reductions)' | filecheck %s

// The kernel has the mean of what it has whole, at the last cell; the array itself is scratch memory.
// CHECK-LABEL: @mean
// CHECK: %[[ONE:.*]] = pallas.call @f(%x) windows {{\[}}<[8], (d0) -> (d0), vmem>, <[1], (d0) -> (0), smem>] semantics (arbitrary) aliases [-1] : (memref<64xf32>) -> memref<1xf32>
// CHECK-NEXT: ^{{.*}}(%in: !tile.ref<8 x f32, vmem>, %m: !tile.ref<1 x f32, smem>, %out: !tile.ref<64 x f32, vmem>):
// CHECK: tile.put %v, %out[%i]
// CHECK-NEXT: tile.when last(%i) {
// CHECK-NEXT: %[[ALL:.*]] = tile.get %out[:] : !tile.ref<64 x f32, vmem> -> !tile.tile<64 x f32>
// CHECK-NEXT: %[[SUM:.*]] = tile.reduce add %[[ALL]] [0]
// CHECK-NEXT: %[[COUNT:.*]] = tile.full 64.0 : !tile.tile<f32>
// CHECK-NEXT: %[[MEAN:.*]] = tile.div %[[SUM]], %[[COUNT]]
// CHECK-NEXT: tile.put %[[MEAN]], %m[0] : !tile.tile<f32>, !tile.ref<1 x f32, smem>
// CHECK: %m = host.reshape %[[ONE]] : memref<1xf32> to memref<f32>
// CHECK-NEXT: func.return %m
func.func @mean(%x: memref<64xf32>) -> memref<f32> {
  %y = pallas.call @f(%x) windows [<[8], (d0) -> (d0), vmem>, <[64], (d0) -> (0), vmem>] semantics (arbitrary) aliases [-1] : (memref<64xf32>) -> memref<64xf32> {
  ^bb0(%in: !tile.ref<8 x f32, vmem>, %out: !tile.ref<64 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.get %in[:] : !tile.ref<8 x f32, vmem> -> !tile.tile<b0=8 x f32>
      tile.put %v, %out[%i] : !tile.tile<b0=8 x f32>, !tile.ref<64 x f32, vmem>
    }
  }
  %m = host.call "aten.mean.default"(%y) args [unit] : (memref<64xf32>) -> (memref<f32>)
  func.return %m : memref<f32>
}

// -----

// Of two results one is reduced; all dimensions are.
// CHECK-LABEL: @second
// CHECK: pallas.call @f(%x) windows {{\[}}<[8, 128], (d0) -> (d0, 0), vmem>, <[8, 128], (d0) -> (d0, 0), vmem>, <[1], (d0) -> (0), smem>] semantics (arbitrary) aliases [-1, -1] : {{.*}} -> (memref<64x128xf32>, memref<1xf32>)
// CHECK: tile.when last(%i) {
// CHECK: %[[MOST:.*]] = tile.reduce max %{{.*}} [0, 1] : !tile.tile<64 x 128 x f32>
// CHECK-NEXT: tile.put %[[MOST]], %m[0]
func.func @second(%x: memref<64x128xf32>) -> (memref<64x128xf32>, memref<f32>) {
  %a, %y = pallas.call @f(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>, <[8, 128], (d0) -> (d0, 0), vmem>, <[64, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1, -1] : (memref<64x128xf32>) -> (memref<64x128xf32>, memref<64x128xf32>) {
  ^bb0(%in: !tile.ref<8 x 128 x f32, vmem>, %first: !tile.ref<8 x 128 x f32, vmem>, %out: !tile.ref<64 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.get %in[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x 128 x f32>
      tile.put %v, %first[:, :] : !tile.tile<b0=8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      tile.put %v, %out[%i, :] : !tile.tile<b0=8 x 128 x f32>, !tile.ref<64 x 128 x f32, vmem>
    }
  }
  %m = host.call "aten.max.default"(%y) args [unit] : (memref<64x128xf32>) -> (memref<f32>)
  func.return %a, %m : memref<64x128xf32>, memref<f32>
}

// -----

// These stay: a result that the caller gets too, one of blocks, one of two cores, a sum in another type, an empty grid,
// and products.
// CHECK-LABEL: @given
// CHECK-COUNT-5: host.call "aten.sum.default"
// CHECK: host.call "aten.prod.default"
func.func @given(%x: memref<64xf32>) -> (memref<f32>, memref<64xf32>, memref<f32>, memref<f32>, memref<f32>, memref<f64>, memref<f32>) {
  %y, %z = pallas.call @f(%x) windows [<[8], (d0) -> (d0), vmem>, <[64], (d0) -> (0), vmem>, <[8], (d0) -> (d0), vmem>] semantics (arbitrary) aliases [-1, -1] : (memref<64xf32>) -> (memref<64xf32>, memref<64xf32>) {
  ^bb0(%in: !tile.ref<8 x f32, vmem>, %out: !tile.ref<64 x f32, vmem>, %block: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.get %in[:] : !tile.ref<8 x f32, vmem> -> !tile.tile<b0=8 x f32>
      tile.put %v, %out[%i] : !tile.tile<b0=8 x f32>, !tile.ref<64 x f32, vmem>
      tile.put %v, %block[:] : !tile.tile<b0=8 x f32>, !tile.ref<8 x f32, vmem>
    }
  }
  %a = host.call "aten.sum.default"(%y) args [unit] : (memref<64xf32>) -> (memref<f32>)
  %c = host.call "aten.sum.default"(%z) args [unit] : (memref<64xf32>) -> (memref<f32>)
  %w = pallas.call @g(%x) windows [<[64], (d0) -> (0), vmem>, <[64], (d0) -> (0), vmem>] semantics (parallel) aliases [-1] : (memref<64xf32>) -> memref<64xf32> {
  ^bb0(%in: !tile.ref<64 x f32, vmem>, %out: !tile.ref<64 x f32, vmem>):
    tile.grid (%i1: b1=8) in (64) {
      %v = tile.get %in[%i1] : !tile.ref<64 x f32, vmem> -> !tile.tile<b1=8 x f32>
      tile.put %v, %out[%i1] : !tile.tile<b1=8 x f32>, !tile.ref<64 x f32, vmem>
    }
  }
  %d = host.call "aten.sum.default"(%w) args [unit] : (memref<64xf32>) -> (memref<f32>)
  %u = pallas.call @h(%x) windows [<[64], (d0) -> (0), vmem>, <[64], (d0) -> (0), vmem>] semantics (arbitrary) aliases [-1] : (memref<64xf32>) -> memref<64xf32> {
  ^bb0(%in: !tile.ref<64 x f32, vmem>, %out: !tile.ref<64 x f32, vmem>):
    tile.grid (%i2: b2=8) in (64) {
      %v = tile.get %in[%i2] : !tile.ref<64 x f32, vmem> -> !tile.tile<b2=8 x f32>
      tile.put %v, %out[%i2] : !tile.tile<b2=8 x f32>, !tile.ref<64 x f32, vmem>
    }
  }
  %e = host.call "aten.sum.default"(%u) args [unit] : (memref<64xf32>) -> (memref<f64>)
  %t = pallas.call @k(%x) windows [<[64], (d0) -> (0), vmem>, <[64], (d0) -> (0), vmem>] semantics (arbitrary) aliases [-1] : (memref<64xf32>) -> memref<64xf32> {
  ^bb0(%in: !tile.ref<64 x f32, vmem>, %out: !tile.ref<64 x f32, vmem>):
    tile.grid (%i3: b3=8) in (0) {
      %v = tile.get %in[%i3] : !tile.ref<64 x f32, vmem> -> !tile.tile<b3=8 x f32>
      tile.put %v, %out[%i3] : !tile.tile<b3=8 x f32>, !tile.ref<64 x f32, vmem>
    }
  }
  %g = host.call "aten.sum.default"(%t) args [unit] : (memref<64xf32>) -> (memref<f32>)
  %s = pallas.call @l(%x) windows [<[64], (d0) -> (0), vmem>, <[64], (d0) -> (0), vmem>] semantics (arbitrary) aliases [-1] : (memref<64xf32>) -> memref<64xf32> {
  ^bb0(%in: !tile.ref<64 x f32, vmem>, %out: !tile.ref<64 x f32, vmem>):
    tile.grid (%i4: b4=8) in (64) {
      %v = tile.get %in[%i4] : !tile.ref<64 x f32, vmem> -> !tile.tile<b4=8 x f32>
      tile.put %v, %out[%i4] : !tile.tile<b4=8 x f32>, !tile.ref<64 x f32, vmem>
    }
  }
  %h = host.call "aten.prod.default"(%s) args [unit] : (memref<64xf32>) -> (memref<f32>)
  func.return %h, %y, %a, %c, %d, %e, %g : memref<f32>, memref<64xf32>, memref<f32>, memref<f32>, memref<f32>, memref<f64>, memref<f32>
}
