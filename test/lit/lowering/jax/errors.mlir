// What JAX has no form of, and kernels that cannot be printed right.
// RUN: kopt %s --split-input-file --verify-diagnostics -t jax-py

func.func @given(%x: memref<8xf32>, %r: memref<8xf32>) {
  // expected-note @+2 {{lower the program as it was before symm-to-dps}}
  // expected-error @+1 {{'symm.all_reduce_out' writes an array that is given, and JAX has none to give}}
  symm.all_reduce_out add %x to %r group "tp" : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @average(%x: memref<8xi32>) -> memref<8xi32> {
  // expected-error @+1 {{JAX's average of memref<8xi32> is no integer}}
  %a = symm.all_reduce avg %x group "tp" : memref<8xi32> to memref<8xi32>
  func.return %a : memref<8xi32>
}

// -----

func.func @signal(%x: memref<8xf32, #symm.space<"tp">>, %one: i32) {
  // expected-error @+1 {{'symm.signal' has no spelling on the host of a Pallas kernel}}
  symm.signal %x to %one channel 0 : i32 : memref<8xf32, #symm.space<"tp">>, i32
  func.return
}

// -----

func.func @ranks(%x: memref<2xf32>) -> memref<4xf32> {
  %a = symm.all_gather %x group "tp" : memref<2xf32> to memref<8xf32>
  // expected-error @+1 {{symm.reduce_scatter is of 2 ranks of group "tp", others of 4}}
  %b = symm.reduce_scatter %a group "tp" : memref<8xf32> to memref<4xf32>
  func.return %b : memref<4xf32>
}

// -----

func.func @barriers(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @barriers(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] collective 0 : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      symm.barrier group "tp" ranks 2 : i32
      // expected-note @+2 {{signal and wait for counters instead, one channel for each rank}}
      // expected-error @+1 {{a kernel has one semaphore for barriers, so one barrier: a rank that is ahead would signal the next}}
      symm.barrier group "tp" ranks 2 : i32
    }
  }
  func.return %o : memref<8x128xf32>
}

// -----

func.func @number(%x: memref<8x128xf32>) -> memref<8x128xf32> {
  %o = pallas.call @number(%x) windows [<[8, 128], (d0) -> (0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<8x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%g: g0=1) in (1) {
      // expected-error @+1 {{a barrier in a kernel needs its ranks, and the call its collective's number}}
      symm.barrier group "tp" ranks 2 : i32
    }
  }
  func.return %o : memref<8x128xf32>
}
