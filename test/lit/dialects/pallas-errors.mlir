// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @block_and_ref(%x: memref<16x128xf32>) {
  // expected-error @+1 {{#pallas.window<[8, 128], (d0) -> (d0, 0), vmem> of memref<16x128xf32> is not !tile.ref<16 x 128 x f32, vmem>}}
  pallas.call @f(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>] semantics (parallel) aliases [] : (memref<16x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<16 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
    }
  }
  func.return
}

// -----

func.func @rank(%x: memref<16x128xf32>) {
  // expected-error @+1 {{has 1 dimensions for memref<16x128xf32>}}
  pallas.call @f(%x) windows [<[8], (d0) -> (d0), vmem>] semantics (parallel) aliases [] : (memref<16x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<8 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
    }
  }
  func.return
}

// -----

func.func @semantics(%x: memref<16x128xf32>) {
  // expected-error @+1 {{a grid dimension is parallel or arbitrary}}
  pallas.call @f(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>] semantics (sideways) aliases [] : (memref<16x128xf32>) -> () {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
    }
  }
  func.return
}

// -----

func.func @alias(%x: memref<16x128xf32>) -> memref<8x128xf32> {
  // expected-error @+1 {{a result of memref<8x128xf32> cannot take over operand 0}}
  %o = pallas.call @f(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (parallel) aliases [0] : (memref<16x128xf32>) -> (memref<8x128xf32>) {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
    }
  }
  func.return %o : memref<8x128xf32>
}
