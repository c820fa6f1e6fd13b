// RUN: kopt %s --verify-each --pass-pipeline='builtin.module()' | filecheck %s

// Windows, aliases, a limit, scratch memory and semaphores are kept.
// CHECK: %new = pallas.call @f(%x, %old) windows [<[_, 8, 128], (d0, d1) -> (d0, d1, 0), vmem>, <[16, 128], (d0, d1) -> (0, 0), hbm>, <[16, 128], (d0, d1) -> (0, 0), hbm>] semantics (parallel, arbitrary) aliases [1] vmem_limit 1048576 : (memref<4x16x128xf32>, memref<16x128xf32>) -> memref<16x128xf32> {
// CHECK-NEXT: ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, {{.*}} !tile.ref<2 x f32, semaphore>):
// CHECK: pallas.dma_start %old_ref[%j, :] to %buffer[0, :, :] signal %sem[0] : !tile.ref<16 x 128 x f32, hbm>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<2 x f32, semaphore>
// CHECK: pallas.dma_wait %old_ref[%j, :] to %buffer[0, :, :] signal %sem[0]
func.func @f(%x: memref<4x16x128xf32>, %old: memref<16x128xf32>) -> memref<16x128xf32> {
  %new = pallas.call @f(%x, %old) windows [<[_, 8, 128], (d0, d1) -> (d0, d1, 0), vmem>, <[16, 128], (d0, d1) -> (0, 0), hbm>, <[16, 128], (d0, d1) -> (0, 0), hbm>] semantics (parallel, arbitrary) aliases [1] vmem_limit 1048576 : (memref<4x16x128xf32>, memref<16x128xf32>) -> (memref<16x128xf32>) {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %old_ref: !tile.ref<16 x 128 x f32, hbm>, %new_ref: !tile.ref<16 x 128 x f32, hbm>, %buffer: !tile.ref<2 x 8 x 128 x f32, vmem>, %sem: !tile.ref<2 x f32, semaphore>):
    tile.grid (%i: b0=1, %j: b1=8) in (4, 16) {
      pallas.dma_start %old_ref[%j, :] to %buffer[0, :, :] signal %sem[0] : !tile.ref<16 x 128 x f32, hbm>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<2 x f32, semaphore>
      pallas.dma_wait %old_ref[%j, :] to %buffer[0, :, :] signal %sem[0] : !tile.ref<16 x 128 x f32, hbm>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<2 x f32, semaphore>
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b1=8 x 128 x f32>
    }
  }
  func.return %new : memref<16x128xf32>
}
