// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(rematerialise-loads)' | filecheck %s

// A block of a window is read again behind a branch, once for all that stands there, and again behind a loop.
// CHECK-LABEL: @large
// CHECK: %x = tile.get %in
// CHECK-NEXT: tile.reduce max %x
// CHECK: scf.if
// CHECK: %[[SECOND:.*]] = tile.get %in
// CHECK-NEXT: %sum = tile.reduce add %[[SECOND]]
// CHECK-NEXT: %least = tile.reduce min %[[SECOND]]
// CHECK-NEXT: tile.for
// CHECK: tile.reduce min %[[SECOND]]
// CHECK: %[[THIRD:.*]] = tile.get %in
// CHECK-NEXT: tile.put %[[THIRD]], %out
// CHECK-NOT: tile.get
func.func @large(%a: memref<64x1024xf32>, %n: index) -> memref<64x1024xf32> {
  %q = pallas.call @large(%a) windows [<[32, 1024], (d0) -> (d0, 0), vmem>, <[32, 1024], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<64x1024xf32>) -> memref<64x1024xf32> {
  ^bb0(%in: !tile.ref<32 x 1024 x f32, vmem>, %out: !tile.ref<32 x 1024 x f32, vmem>, %row: !tile.ref<32 x f32, vmem>):
    tile.grid (%i: b0=32) in (64) {
      %x = tile.get %in[:, :] : !tile.ref<32 x 1024 x f32, vmem> -> !tile.tile<b0=32 x 1024 x f32>
      %m = tile.reduce max %x [1] : !tile.tile<b0=32 x 1024 x f32>
      %first = tile.begin %i : !tile.range<b0=32>
      %zero = arith.constant 0 : index
      %is = arith.cmpi eq, %first, %zero : index
      scf.if %is {
        tile.put %m, %row[:] : !tile.tile<b0=32 x f32>, !tile.ref<32 x f32, vmem>
      }
      %sum = tile.reduce add %x [1] : !tile.tile<b0=32 x 1024 x f32>
      %least = tile.reduce min %x [1] : !tile.tile<b0=32 x 1024 x f32>
      tile.for %k: b1=1 in (0, 3) {
        %again = tile.reduce min %x [1] : !tile.tile<b0=32 x 1024 x f32>
        tile.put %again, %row[:] : !tile.tile<b0=32 x f32>, !tile.ref<32 x f32, vmem>
      }
      tile.put %x, %out[:, :] : !tile.tile<b0=32 x 1024 x f32>, !tile.ref<32 x 1024 x f32, vmem>
    }
  }
  func.return %q : memref<64x1024xf32>
}

// -----

// Blocks that registers hold stay, and those of memory that the kernel writes.
// CHECK-LABEL: @stays
// CHECK-COUNT-2: tile.get
// CHECK-NOT: tile.get
func.func @stays(%a: memref<64x128xf32>, %b: memref<64x1024xf32>) -> (memref<64x128xf32>, memref<64x1024xf32>) {
  %q:2 = pallas.call @stays(%a, %b) windows [<[32, 128], (d0) -> (d0, 0), vmem>, <[32, 1024], (d0) -> (d0, 0), vmem>, <[32, 128], (d0) -> (d0, 0), vmem>, <[32, 1024], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1, 1] : (memref<64x128xf32>, memref<64x1024xf32>) -> (memref<64x128xf32>, memref<64x1024xf32>) {
  ^bb0(%small: !tile.ref<32 x 128 x f32, vmem>, %in: !tile.ref<32 x 1024 x f32, vmem>, %out: !tile.ref<32 x 128 x f32, vmem>, %large: !tile.ref<32 x 1024 x f32, vmem>):
    tile.grid (%i: b0=32) in (64) {
      %x = tile.get %small[:, :] : !tile.ref<32 x 128 x f32, vmem> -> !tile.tile<b0=32 x 128 x f32>
      %y = tile.get %large[:, :] : !tile.ref<32 x 1024 x f32, vmem> -> !tile.tile<b0=32 x 1024 x f32>
      tile.for %k: b1=1 in (0, 3) {
        tile.put %y, %large[:, :] : !tile.tile<b0=32 x 1024 x f32>, !tile.ref<32 x 1024 x f32, vmem>
      }
      tile.put %y, %large[:, :] : !tile.tile<b0=32 x 1024 x f32>, !tile.ref<32 x 1024 x f32, vmem>
      tile.put %x, %out[:, :] : !tile.tile<b0=32 x 128 x f32>, !tile.ref<32 x 128 x f32, vmem>
    }
  }
  func.return %q#0, %q#1 : memref<64x128xf32>, memref<64x1024xf32>
}
