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

// A pipeline's windows depend on the number of its loop's block and on numbers from outside.
// CHECK: pallas.pipeline reads (%x_ref) writes (%new_ref) at (%n) windows [<[8, 128], (d0)[s0] -> (s0, d0), vmem>, <[8, 128], (d0)[s0] -> (s0, d0), vmem>] : !tile.ref<16 x 512 x f32, hbm>, !tile.ref<16 x 512 x f32, hbm> attributes {note = "kept"} {
// CHECK-NEXT: ^bb0(%x_block: !tile.ref<8 x 128 x f32, vmem>, %new_block: !tile.ref<8 x 128 x f32, vmem>):
// CHECK-NEXT: tile.for %k: b1=128 in (0, 512) schedule emit_pipeline {
// CHECK-NEXT: tile.get %x_block[:, :]
func.func @g(%x: memref<16x512xf32>) -> memref<16x512xf32> {
  %new = pallas.call @g(%x) windows [<[16, 512], (d0) -> (0, 0), hbm>, <[16, 512], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [-1] : (memref<16x512xf32>) -> (memref<16x512xf32>) {
  ^bb0(%x_ref: !tile.ref<16 x 512 x f32, hbm>, %new_ref: !tile.ref<16 x 512 x f32, hbm>):
    tile.grid (%i: b0=8) in (16) {
      %n = tile.id %i : !tile.range<b0=8>
      pallas.pipeline reads (%x_ref) writes (%new_ref) at (%n) windows [<[8, 128], (d0)[s0] -> (s0, d0), vmem>, <[8, 128], (d0)[s0] -> (s0, d0), vmem>] : !tile.ref<16 x 512 x f32, hbm>, !tile.ref<16 x 512 x f32, hbm> attributes {note = "kept"} {
      ^bb1(%x_block: !tile.ref<8 x 128 x f32, vmem>, %new_block: !tile.ref<8 x 128 x f32, vmem>):
        tile.for %k: b1=128 in (0, 512) schedule emit_pipeline {
          %v = tile.get %x_block[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
          tile.put %v, %new_block[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        }
      }
    }
  }
  func.return %new : memref<16x512xf32>
}

// Windows at numbers that their maps load, of operands that are in scalar memory first.
// CHECK: pallas.call @pages(%n, %m, %x) prefetched 2 windows [<[8], (d0) -> (0), smem>, <[4], (d0) -> (0), smem>, <[_, 8, 128], (d0)[s0, s1, s2] -> (s2, 0, 0), vmem, [<load 0, (d0) -> (d0)>, <load 1, (d0)[s0] -> (s0)>, <min, (d0)[s0, s1] -> (s1, 9)>]>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1]
func.func @pages(%n: memref<8xi32>, %m: memref<4xi32>, %x: memref<10x8x128xf32>) -> memref<64x128xf32> {
  %new = pallas.call @pages(%n, %m, %x) prefetched 2 windows [<[8], (d0) -> (0), smem>, <[4], (d0) -> (0), smem>, <[_, 8, 128], (d0)[s0, s1, s2] -> (s2, 0, 0), vmem, [<load 0, (d0) -> (d0)>, <load 1, (d0)[s0] -> (s0)>, <min, (d0)[s0, s1] -> (s1, 9)>]>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [-1] : (memref<8xi32>, memref<4xi32>, memref<10x8x128xf32>) -> (memref<64x128xf32>) {
  ^bb0(%n_ref: !tile.ref<8 x i32, smem>, %m_ref: !tile.ref<4 x i32, smem>, %x_ref: !tile.ref<8 x 128 x f32, vmem>, %out_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (64) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
      tile.put %v, %out_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %new : memref<64x128xf32>
}

// Copies of blocks in HBM: as values, and with their buffers. Steps of an axis may overlap them.
// CHECK: %v = pallas.fetch %x_ref[%i, %k] ahead %k depth 2 access "x#1" : !tile.ref<64 x 512 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %w = pallas.fetch %x_ref[%i, 0:128] : !tile.ref<64 x 512 x f32, hbm> -> !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %m = tile.full 1
// CHECK-NEXT: pallas.send %v, %out_ref[%i, %k] mask %m behind %k depth 2 : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<64 x 512 x f32, hbm>
// CHECK-NEXT: pallas.send %v, %out_ref[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<64 x 512 x f32, hbm>
// CHECK-NEXT: pallas.dma_start %x_ref[%i, %k] to %buffer[:, :] signal %sem[0] along %k depth 2 : !tile.ref<64 x 512 x f32, hbm>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x f32, semaphore>
// CHECK-NEXT: pallas.dma_wait %x_ref[%i, %k] to %buffer[:, :] signal %sem[0] along %k depth 2 :
func.func @copies(%x: memref<64x512xf32>) -> memref<64x512xf32> {
  %out = pallas.call @copies(%x) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[64, 512], (d0) -> (0, 0), hbm>] semantics (parallel) aliases [0] : (memref<64x512xf32>) -> (memref<64x512xf32>) {
  ^bb0(%x_ref: !tile.ref<64 x 512 x f32, hbm>, %out_ref: !tile.ref<64 x 512 x f32, hbm>, %buffer: !tile.ref<8 x 128 x f32, vmem>, %sem: !tile.ref<1 x f32, semaphore>):
    tile.grid (%i: b0=8) in (64) {
      tile.for %k: b1=128 in (0, 512) {
        %v = pallas.fetch %x_ref[%i, %k] ahead %k depth 2 access "x#1" : !tile.ref<64 x 512 x f32, hbm> -> !tile.tile<b0=8 x b1=128 x f32>
        %w = pallas.fetch %x_ref[%i, 0:128] : !tile.ref<64 x 512 x f32, hbm> -> !tile.tile<b0=8 x 128 x f32>
        %m = tile.full true : !tile.tile<b0=8 x b1=128 x i1>
        pallas.send %v, %out_ref[%i, %k] mask %m behind %k depth 2 : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<64 x 512 x f32, hbm>
        pallas.send %v, %out_ref[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<64 x 512 x f32, hbm>
        pallas.dma_start %x_ref[%i, %k] to %buffer[:, :] signal %sem[0] along %k depth 2 : !tile.ref<64 x 512 x f32, hbm>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x f32, semaphore>
        pallas.dma_wait %x_ref[%i, %k] to %buffer[:, :] signal %sem[0] along %k depth 2 : !tile.ref<64 x 512 x f32, hbm>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x f32, semaphore>
      }
    }
  }
  func.return %out : memref<64x512xf32>
}

// CHECK-LABEL: func.func @words
// CHECK-NEXT: pallas.bitcast %w : !tile.tile<8 x 128 x i32> to !tile.tile<16 x 128 x bf16>
// CHECK-NEXT: pallas.bitcast %w : !tile.tile<8 x 128 x i32> to !tile.tile<32 x 128 x i8>
func.func @words(%w: !tile.tile<8 x 128 x i32>) {
  %a = pallas.bitcast %w : !tile.tile<8 x 128 x i32> to !tile.tile<16 x 128 x bf16>
  %b = pallas.bitcast %w : !tile.tile<8 x 128 x i32> to !tile.tile<32 x 128 x i8>
  func.return
}
