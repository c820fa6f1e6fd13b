// RUN: kopt %s --verify-each -p realise-dmas | filecheck %s

// Rows that are stored: they are put into the buffer, and leave together. No copy is started for a negative number, and
// none is waited for.
// CHECK: %new_ref_rows: !tile.ref<8 x 1 x 256 x f32, vmem>):
// CHECK: tile.put %n, %new_ref_numbers_block[:]
// CHECK: tile.put %v, %new_ref_rows[:, 0, :] : !tile.tile<b0=8 x 256 x f32>, !tile.ref<8 x 1 x 256 x f32, vmem>
// CHECK-NEXT: tile.for %r:
// CHECK: %row = tile.extract
// CHECK-NEXT: [[ZERO:%.+]] = arith.constant 0
// CHECK-NEXT: [[NAMED:%.+]] = arith.cmpi sge, %row, [[ZERO]]
// CHECK-NEXT: scf.if [[NAMED]] {
// CHECK: pallas.dma_start %new_ref_rows[{{%.+}}, :, :] to %new_ref[{{%.+}}, :] signal %new_ref_moved[0]
// CHECK: tile.for
// CHECK: scf.if
// CHECK: pallas.dma_wait %new_ref_rows[{{%.+}}, :, :] to %new_ref[{{%.+}}, :] signal %new_ref_moved[0]
// CHECK-NOT: tile.put
func.func @sent(%ids: memref<64xi32>, %x: memref<64x256xf32>, %old: memref<500x256xf32>) -> memref<500x256xf32> {
  %out = pallas.call @sent(%ids, %x, %old) windows [<[8], (d0) -> (d0), vmem>, <[8, 256], (d0) -> (d0, 0), vmem>, <[500, 256], (d0) -> (0, 0), hbm>, <[500, 256], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [2] : (memref<64xi32>, memref<64x256xf32>, memref<500x256xf32>) -> (memref<500x256xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, vmem>, %x_ref: !tile.ref<8 x 256 x f32, vmem>, %old_ref: !tile.ref<500 x 256 x f32, hbm>, %new_ref: !tile.ref<500 x 256 x f32, hbm>):
    tile.grid (%i: b0=8) in (64) {
      %n = tile.get %n_ref[:] : !tile.ref<8 x i32, vmem> -> !tile.tile<b0=8 x i32>
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 256 x f32, vmem> -> !tile.tile<b0=8 x 256 x f32>
      tile.put %v, %new_ref[%n, :] : !tile.tile<b0=8 x 256 x f32>, !tile.ref<500 x 256 x f32, hbm>
    }
  }
  func.return %out : memref<500x256xf32>
}
