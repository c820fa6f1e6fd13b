// RUN: kopt %s --split-input-file --verify-diagnostics -p verify-pallas | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics -t pallas-py
// RUN: kopt %s --split-input-file --verify-diagnostics -t jax-py

// What Pallas has stays as it is.
// CHECK-LABEL: func.func @fine
// CHECK: %o = pallas.call @fine(%x)
// CHECK: tile.put %v, %o_ref[:, :]
func.func @fine(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @fine(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
      tile.put %v, %o_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @op(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @op(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %c = arith.constant 2 : index
      // expected-error @+1 {{'math.ctpop' has no spelling in a Pallas kernel}}
      %n = math.ctpop %c : index
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @comparison(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @comparison(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %a = arith.constant 1.0 : f32
      // expected-error @+1 {{Pallas has no spelling for arith.cmpf with predicate 7}}
      %n = arith.cmpf ord, %a, %a : f32
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @element(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @element(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
      // expected-error @+1 {{Pallas has no element type for i7}}
      %n = tile.cast %v : !tile.tile<8 x 128 x f32> to !tile.tile<8 x 128 x i7>
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @number(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @number(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %a = arith.constant 1 : i32
      // expected-error @+1 {{Pallas has no element type for i48}}
      %n = arith.extsi %a : i32 to i48
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @vector(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @vector(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      // expected-error @+1 {{Pallas has no element type for vector<2xi32>}}
      %a = arith.constant dense<1> : vector<2xi32>
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @result(%x: memref<8x128xf32>) -> memref<8x128xi7> {
  // expected-error @+1 {{Pallas has no element type for i7}}
  %o = pallas.call @result(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xi7> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x i7, vmem>):
    tile.grid (%g: g0=1) in (1) {
    }
  }
  func.return %o : memref<8x128xi7>
}

// -----

func.func @scratch(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  // expected-error @+1 {{Pallas has no element type for i7}}
  %o = pallas.call @scratch(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>, %s: !tile.ref<8 x 128 x i7, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
      tile.put %v, %o_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @space(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  // expected-error @+1 {{scratch memory of a kernel is in vmem or smem, found !tile.ref<8 x 128 x f32, hbm>}}
  %o = pallas.call @space(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>, %s: !tile.ref<8 x 128 x f32, hbm>):
    tile.grid (%g: g0=1) in (1) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
      tile.put %v, %o_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @nothing(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  // expected-error @+1 {{the kernel has no grid, or one that does nothing}}
  %o = pallas.call @nothing(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @number_of_call(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @number_of_call(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      // expected-error @+1 {{a barrier in a kernel needs its ranks, and the call its collective's number}}
      symm.barrier group "tp" ranks 2 : i32
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @ranks(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @ranks(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      // expected-error @+1 {{a barrier in a kernel needs its ranks, and the call its collective's number}}
      symm.barrier group "tp"
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @barriers(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @barriers(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<8 x 128 x f32>
      symm.barrier group "tp" ranks 2 : i32
      // expected-note @+2 {{signal and wait for counters instead, one channel for each rank}}
      // expected-error @+1 {{a kernel has one semaphore for barriers, so one barrier: a rank that is ahead would signal the next}}
      symm.barrier group "tp" ranks 2 : i32
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @copy(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @copy(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %me = symm.rank group "tp"
      // expected-note @+2 {{run lower-remote-copies}}
      // expected-error @+1 {{a copy to another rank counts on two semaphores, found none}}
      %t = symm.remote_copy %x_ref[:, :] to %o_ref[:, :] on %me group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

// What a call is given and does not use is a hazard of libtpu's; in the place of a result it is used.
func.func @unread(%x: memref<8x128xf32>, %y: memref<8x128xf32>) -> memref<8x128xf32> {
  // expected-note @+2 {{give the call what it reads alone: in 0.0.43 to 0.0.45; not in 0.0.41, a DMA from HBM brings zeros}}
  // expected-error @+1 {{the kernel does not use 'y_ref'}}
  %o = pallas.call @unread(%x, %y) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [0] : (memref<8x128xf32>, memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %y_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      %v = tile.full 1.0 : !tile.tile<8 x 128 x f32>
      tile.put %v, %o_ref[:, :] : !tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %o : memref<8x128xf32>
}
