// Kernels that copy between ranks: each use of memory is ordered with every other, on every rank.
// RUN: kopt %s --split-input-file --verify-diagnostics -p verify-barriers

// Four steps along a ring of three: each copy waits until the one before it was read.
func.func @right(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  // expected-remark @+1 {{'right' has one result in every order of its ranks}}
  %o = pallas.call @right(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @no_barrier(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @no_barrier(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        // expected-note @+2 {{symm.barrier, or hl.remote_barrier, before the first copy or signal}}
        // expected-error @+1 {{ranks write each other's memory with no barrier before: a rank that has not begun this kernel still uses that memory}}
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// The barrier comes after the copies.
func.func @late_barrier(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @late_barrier(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        // expected-note @+2 {{an entry barrier is missing}}
        // expected-error @+1 {{may write 'inbox' of rank 1 before that has begun the kernel: it still uses the memory for something else}}
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
      symm.barrier group "tp" ranks 3 : i32
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @no_send_wait(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @no_send_wait(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        // expected-note @+2 {{symm.remote_copy_wait send before the source is written again}}
        // expected-error @+1 {{writes 'mine' while it may still be sent: what is sent is some of both}}
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// What is sent is written in the next step.
func.func @late_send_wait(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @late_send_wait(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        // expected-note @+2 {{symm.remote_copy_wait send before the source is written again}}
        // expected-error @+1 {{writes 'mine' while it may still be sent}}
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        symm.remote_copy_wait send %t
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// Nothing is written where it was sent from; but the kernel ends.
func.func @no_send_wait_at_all(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @no_send_wait_at_all(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        // expected-note @+2 {{symm.remote_copy_wait send of every copy, before the kernel ends}}
        // expected-error @+1 {{may end while its copy of 'mine' still leaves: what comes after is sent instead}}
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @no_receive_wait(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @no_receive_wait(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        // expected-note @+2 {{symm.remote_copy_wait receive of every copy}}
        // expected-error @+1 {{reads 'inbox', and the copy of rank 2 may not have arrived}}
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// Nobody reads what comes.
func.func @no_receive_wait_at_all(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @no_receive_wait_at_all(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        // expected-note @+2 {{the second waits until the first has arrived and is no longer needed}}
        // expected-error @+1 {{two copies may be in 'inbox' of rank 0 at a time}}
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @late_receive_wait(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @late_receive_wait(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        // expected-note @+2 {{symm.remote_copy_wait receive of every copy}}
        // expected-error @+1 {{reads 'inbox', and the copy of rank 2 may not have arrived}}
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.remote_copy_wait receive %t
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @no_signal(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @no_signal(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        // expected-note @+2 {{symm.signal after the last use, and symm.wait for it before the next copy}}
        // expected-error @+1 {{may overwrite 'inbox' of rank 0 before that reads it: nothing tells rank 2 that it has}}
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// The place is free before it is read.
func.func @early_signal(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @early_signal(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        // expected-note @+2 {{symm.signal after the last use}}
        // expected-error @+1 {{may overwrite 'inbox' of rank 0 before that reads it}}
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// The signal goes to the other neighbour, who does not write here.
func.func @wrong_signal(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @wrong_signal(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        // expected-note @+2 {{symm.signal after the last use}}
        // expected-error @+1 {{may overwrite 'inbox' of rank 0 before that reads it}}
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @never_signalled(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @never_signalled(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        // expected-note @+2 {{as many are sent as are waited for}}
        // expected-error @+1 {{rank 0 waits for a signal that never comes}}
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @never_sent(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @never_sent(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        // expected-note @+2 {{as many are sent as are waited for}}
        // expected-error @+1 {{rank 0 waits for a copy that never comes}}
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @left_over(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @left_over(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
      // expected-note @+2 {{as many are waited for as are sent}}
      // expected-error @+1 {{a signal of rank 0 is never waited for: the next kernel's count would begin with it}}
      symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// Two places by turns, and one semaphore: the second copy may be what the first was waited for.
func.func @shared_semaphore(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @shared_semaphore(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %slot = arith.remui %n, %two : index
        %t = symm.remote_copy %mine[:, :] to %inbox[%slot, :, :] on %right signal %sent[0], %got[0] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        // expected-note @+2 {{symm.remote_copy_wait receive of every copy, on a semaphore that no other copy signals meanwhile}}
        // expected-error @+1 {{reads 'inbox', and the copy of rank 2 may not have arrived}}
        %i = tile.get %inbox[%slot, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        %before = arith.cmpi ult, %n, %three : index
        scf.if %before {
          symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        }
        %later = arith.cmpi uge, %n, %one : index
        scf.if %later {
          symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        }
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @sizes(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @sizes(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        %u = symm.remote_copy %mine[0:4, :] to %inbox[0, 0:4, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        // expected-note @+2 {{a semaphore counts bytes: blocks of one size share it}}
        // expected-error @+1 {{waits for a block of another size than what is sent}}
        symm.remote_copy_wait receive %u
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// One step: a rank hears from one neighbour, and may end while the other is still at the barrier.
func.func @one_step(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @one_step(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      // expected-note @+2 {{before it ends, each rank waits for a copy or signal of every rank}}
      // expected-error @+1 {{may end, and signal the next kernel's barrier, while rank}}
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 1) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %right signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// A window of the output moves.
func.func @window(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @window(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, vmem>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        // expected-note @+2 {{copy to scratch memory, or to an array in HBM}}
        // expected-error @+1 {{writes 'out' of rank 0, a window that moves with its grid}}
        %t = symm.remote_copy %mine[:, :] to %out[:, :] on %right signal %sent[0], %got[0] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// The rank is read from memory: nobody can say what the order is.
func.func @unknown(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @unknown(%x) windows [<[8, 128], (d0) -> (0, 0), hbm>, <[8, 128], (d0) -> (0, 0), hbm>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %far = arith.addi %me, %one : index
      %right = arith.remui %far, %three : index
      %back = arith.addi %me, %two : index
      %left = arith.remui %back, %three : index
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 3 : i32
      %r = tile.get %inbox[0, 0, 0] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<f32>
      %ri = tile.cast %r : !tile.tile<f32> to !tile.tile<i32>
      %rank = tile.extract %ri : !tile.tile<i32> to index
      tile.for %s: s0=1 in (0, 4) {
        %n = tile.id %s : !tile.range<s0=1>
        tile.put %v, %mine[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
        // expected-warning @+1 {{the order of 'unknown' between ranks is not checked: a number that 'symm.remote_copy' uses is read from memory}}
        %t = symm.remote_copy %mine[:, :] to %inbox[0, :, :] on %rank signal %sent[0], %got[%n] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>
        symm.remote_copy_start %t
        symm.remote_copy_wait send %t
        symm.remote_copy_wait receive %t
        %i = tile.get %inbox[0, :, :] : !tile.ref<2 x 8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
        symm.signal %free to %left channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
        symm.wait %free from %right channel 0 : i32 group "tp" : !tile.ref<2 x i32, counter>, index
      }
    }
  }
  func.return %o : memref<8x128xf32>
}
