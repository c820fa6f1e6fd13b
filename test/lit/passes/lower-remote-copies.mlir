// RUN: kopt %s --split-input-file --verify-diagnostics -p lower-remote-copies | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics -p 'lower-remote-copies,bind-buffers' | filecheck %s --check-prefix=CALL

// Each copy has its semaphores, and a barrier with some ranks a second phase.
// CHECK: host.launch @shift
// CHECK: %sent = pallas.scratch : !tile.ref<1 x i32, semaphore>
// CHECK: %received = pallas.scratch : !tile.ref<1 x i32, semaphore>
// CHECK: symm.barrier group "ranks" with(%n)
// CHECK-NEXT: symm.signal %through to %n channel 0 : i32 group "ranks" : !tile.ref<1 x i32, counter>, index
// CHECK-NEXT: symm.wait %through from %n channel 0 : i32 group "ranks" : !tile.ref<1 x i32, counter>, index
// CHECK: symm.remote_copy %a[0, :] to %b[1, :] on %n signal %sent[0], %received[0] group "ranks" : memref<2x128xf32>, memref<2x128xf32>, !tile.ref<1 x i32, semaphore>, !tile.ref<1 x i32, semaphore>
// The arrays stay in HBM, and the call has a number for its barrier.
// CALL: pallas.call @shift({{.*}}) windows [<[2, 128], (d0) -> (0, 0), hbm>, <[2, 128], (d0) -> (0, 0), hbm>, <[2, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [1] collective 0
// CALL: symm.remote_copy %a[0, :] to %new_b[1, :] on %n signal %sent[0], %received[0] group "ranks" : !tile.ref<2 x 128 x f32, hbm>
func.func @shift(%x: memref<2x128xf32>, %y: memref<2x128xf32>) -> memref<2x128xf32> {
  %new = host.launch @shift (%a = %x, %b = %y) writes [1] : (memref<2x128xf32>, memref<2x128xf32>) -> (memref<2x128xf32>) {
    tile.grid (%g: b0=1) in (1) {
      %n = arith.constant 1 : index
      symm.barrier group "ranks" with(%n)
      %t = symm.remote_copy %a[0, :] to %b[1, :] on %n group "ranks" : memref<2x128xf32>, memref<2x128xf32>
      symm.remote_copy_start %t
      symm.remote_copy_wait send %t
      symm.remote_copy_wait receive %t
    }
  }
  func.return %new : memref<2x128xf32>
}

// -----

func.func @used(%x: memref<2x128xf32>, %y: memref<2x128xf32>) -> memref<2x128xf32> {
  %new = host.launch @used (%a = %x, %b = %y) writes [1] : (memref<2x128xf32>, memref<2x128xf32>) -> (memref<2x128xf32>) {
    tile.grid (%g: b0=1) in (1) {
      %n = arith.constant 1 : index
      // expected-note @+2 {{use them in a loop nest before or after it}}
      // expected-error @+1 {{'a' is copied between ranks here, so this loop nest cannot use its elements}}
      %v = tile.load %a[0, :] : memref<2x128xf32> -> !tile.tile<128 x f32>
      %t = symm.remote_copy %a[0, :] to %b[1, :] on %n group "ranks" : memref<2x128xf32>, memref<2x128xf32>
      symm.remote_copy_start %t
    }
  }
  func.return %new : memref<2x128xf32>
}
