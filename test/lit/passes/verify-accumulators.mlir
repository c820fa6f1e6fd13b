// What Mosaic compiles silently although it loses updates: c + x @ y, the product in parts along %k.
// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(verify-accumulators)'

// A scratch, filled when %k is first and committed when it is last; %k the innermost and arbitrary.
func.func @right(%x: memref<16x256xf32>, %y: memref<256x256xf32>, %c: memref<16x256xf32>) -> memref<16x256xf32> {
  %new = pallas.call @right(%x, %y, %c) windows [<[8, 128], (d0, d1, d2) -> (d0, d2), vmem>, <[128, 128], (d0, d1, d2) -> (d2, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>] semantics (parallel, parallel, arbitrary) aliases [2] : (memref<16x256xf32>, memref<256x256xf32>, memref<16x256xf32>) -> memref<16x256xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %y_ref: !tile.ref<128 x 128 x f32, vmem>, %c_in: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>, %acc: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128, %k: b2=128) in (16, 256, 256) reduce [2] {
      tile.when first(%k) {
        %z = tile.get %c_in[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %z, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
      %l = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b2=128 x f32>
      %r = tile.get %y_ref[:, :] : !tile.ref<128 x 128 x f32, vmem> -> !tile.tile<b2=128 x b1=128 x f32>
      %d = tile.dot %l, %r : !tile.tile<b0=8 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %d : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      tile.when last(%k) {
        %e = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %e, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
    }
  }
  func.return %new : memref<16x256xf32>
}

// -----

// The output's block itself, filled first, serves as well in f32.
func.func @preloaded(%x: memref<16x256xf32>, %y: memref<256x256xf32>, %c: memref<16x256xf32>) -> memref<16x256xf32> {
  %new = pallas.call @preloaded(%x, %y, %c) windows [<[8, 128], (d0, d1, d2) -> (d0, d2), vmem>, <[128, 128], (d0, d1, d2) -> (d2, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>] semantics (parallel, parallel, arbitrary) aliases [2] : (memref<16x256xf32>, memref<256x256xf32>, memref<16x256xf32>) -> memref<16x256xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %y_ref: !tile.ref<128 x 128 x f32, vmem>, %c_in: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128, %k: b2=128) in (16, 256, 256) reduce [2] {
      tile.when first(%k) {
        %z = tile.get %c_in[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %z, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
      %l = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b2=128 x f32>
      %r = tile.get %y_ref[:, :] : !tile.ref<128 x 128 x f32, vmem> -> !tile.tile<b2=128 x b1=128 x f32>
      %d = tile.dot %l, %r : !tile.tile<b0=8 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.get %o[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %d : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %new : memref<16x256xf32>
}

// -----

// One sum of all: carried along both dimensions.
func.func @total(%x: memref<16x256xf32>) -> memref<8x128xf32> {
  %new = pallas.call @total(%x) windows [<[8, 128], (d0, d1) -> (d0, d1), vmem>, <[8, 128], (d0, d1) -> (0, 0), vmem>] semantics (arbitrary, arbitrary) aliases [-1] : (memref<16x256xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>, %acc: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128) in (16, 256) reduce [0, 1] {
      tile.when first(%i, %j) {
        %z = tile.full 0.0 : !tile.tile<b0=8 x b1=128 x f32>
        tile.put %z, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %v : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      tile.when last(%i, %j) {
        %e = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %e, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
    }
  }
  func.return %new : memref<8x128xf32>
}

// -----

// The block of an aliased output is not what memory held.
func.func @never_filled(%x: memref<16x256xf32>, %y: memref<256x256xf32>, %c: memref<16x256xf32>) -> memref<16x256xf32> {
  %new = pallas.call @never_filled(%x, %y, %c) windows [<[8, 128], (d0, d1, d2) -> (d0, d2), vmem>, <[128, 128], (d0, d1, d2) -> (d2, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>] semantics (parallel, parallel, arbitrary) aliases [2] : (memref<16x256xf32>, memref<256x256xf32>, memref<16x256xf32>) -> memref<16x256xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %y_ref: !tile.ref<128 x 128 x f32, vmem>, %c_in: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128, %k: b2=128) in (16, 256, 256) reduce [2] {
      %l = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b2=128 x f32>
      %r = tile.get %y_ref[:, :] : !tile.ref<128 x 128 x f32, vmem> -> !tile.tile<b2=128 x b1=128 x f32>
      %d = tile.dot %l, %r : !tile.tile<b0=8 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32> -> !tile.tile<b0=8 x b1=128 x f32>
      // expected-error @+1 {{'o' is read before a visit has written it: the block of an output never holds what memory held, aliased or not}}
      %a = tile.get %o[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %d : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %new : memref<16x256xf32>
}

// -----

// Every visit starts again from the input's block.
func.func @restarted(%x: memref<16x256xf32>, %y: memref<256x256xf32>, %c: memref<16x256xf32>) -> memref<16x256xf32> {
  %new = pallas.call @restarted(%x, %y, %c) windows [<[8, 128], (d0, d1, d2) -> (d0, d2), vmem>, <[128, 128], (d0, d1, d2) -> (d2, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>] semantics (parallel, parallel, arbitrary) aliases [2] : (memref<16x256xf32>, memref<256x256xf32>, memref<16x256xf32>) -> memref<16x256xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %y_ref: !tile.ref<128 x 128 x f32, vmem>, %c_in: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128, %k: b2=128) in (16, 256, 256) reduce [2] {
      %l = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b2=128 x f32>
      %r = tile.get %y_ref[:, :] : !tile.ref<128 x 128 x f32, vmem> -> !tile.tile<b2=128 x b1=128 x f32>
      %d = tile.dot %l, %r : !tile.tile<b0=8 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.get %c_in[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %d : !tile.tile<b0=8 x b1=128 x f32>
      // expected-error @+1 {{each visit along d2 (%k) stores into 'o' without what the visits before it stored: visits (0, 0, 0) → (0, 0, 1) → … lose the updates of d2 = 0}}
      tile.put %n, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %new : memref<16x256xf32>
}

// -----

// One scratch for all blocks of %i and %j.
func.func @outermost(%x: memref<16x256xf32>, %y: memref<256x256xf32>, %c: memref<16x256xf32>) -> memref<16x256xf32> {
  %new = pallas.call @outermost(%x, %y, %c) windows [<[8, 128], (d0, d1, d2) -> (d1, d0), vmem>, <[128, 128], (d0, d1, d2) -> (d0, d2), vmem>, <[8, 128], (d0, d1, d2) -> (d1, d2), vmem>, <[8, 128], (d0, d1, d2) -> (d1, d2), vmem>] semantics (arbitrary, arbitrary, arbitrary) aliases [2] : (memref<16x256xf32>, memref<256x256xf32>, memref<16x256xf32>) -> memref<16x256xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %y_ref: !tile.ref<128 x 128 x f32, vmem>, %c_in: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>, %acc: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%k: b2=128, %i: b0=8, %j: b1=128) in (256, 16, 256) reduce [0] {
      tile.when first(%k) {
        %z = tile.get %c_in[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %z, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
      %l = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b2=128 x f32>
      %r = tile.get %y_ref[:, :] : !tile.ref<128 x 128 x f32, vmem> -> !tile.tile<b2=128 x b1=128 x f32>
      %d = tile.dot %l, %r : !tile.tile<b0=8 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %d : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      tile.when last(%k) {
        %e = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        // expected-error @+1 {{the block of 'o' at d1 (%i) and d2 (%j) is left and come back to when d0 (%k) moves outside: visits (0, 0, 0) → (0, 0, 1) → … → (1, 0, 0) lose the updates of d0 = 0}}
        tile.put %e, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
    }
  }
  func.return %new : memref<16x256xf32>
}

// -----

func.func @middle(%x: memref<16x256xf32>, %y: memref<256x256xf32>, %c: memref<16x256xf32>) -> memref<16x256xf32> {
  %new = pallas.call @middle(%x, %y, %c) windows [<[8, 128], (d0, d1, d2) -> (d0, d1), vmem>, <[128, 128], (d0, d1, d2) -> (d1, d2), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d2), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d2), vmem>] semantics (parallel, arbitrary, arbitrary) aliases [2] : (memref<16x256xf32>, memref<256x256xf32>, memref<16x256xf32>) -> memref<16x256xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %y_ref: !tile.ref<128 x 128 x f32, vmem>, %c_in: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>, %acc: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %k: b2=128, %j: b1=128) in (16, 256, 256) reduce [1] {
      tile.when first(%k) {
        %z = tile.get %c_in[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %z, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
      %l = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b2=128 x f32>
      %r = tile.get %y_ref[:, :] : !tile.ref<128 x 128 x f32, vmem> -> !tile.tile<b2=128 x b1=128 x f32>
      %d = tile.dot %l, %r : !tile.tile<b0=8 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %d : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      tile.when last(%k) {
        %e = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        // expected-error @+1 {{the block of 'o' at d0 (%i) and d2 (%j) is left and come back to when d1 (%k) moves outside: visits (0, 0, 0) → (0, 0, 1) → … → (0, 1, 0) lose the updates of d1 = 0}}
        tile.put %e, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
    }
  }
  func.return %new : memref<16x256xf32>
}

// -----

func.func @outermost_in_place(%x: memref<16x256xf32>, %y: memref<256x256xf32>, %c: memref<16x256xf32>) -> memref<16x256xf32> {
  %new = pallas.call @outermost_in_place(%x, %y, %c) windows [<[8, 128], (d0, d1, d2) -> (d1, d0), vmem>, <[128, 128], (d0, d1, d2) -> (d0, d2), vmem>, <[8, 128], (d0, d1, d2) -> (d1, d2), vmem>, <[8, 128], (d0, d1, d2) -> (d1, d2), vmem>] semantics (arbitrary, arbitrary, arbitrary) aliases [2] : (memref<16x256xf32>, memref<256x256xf32>, memref<16x256xf32>) -> memref<16x256xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %y_ref: !tile.ref<128 x 128 x f32, vmem>, %c_in: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%k: b2=128, %i: b0=8, %j: b1=128) in (256, 16, 256) reduce [0] {
      tile.when first(%k) {
        %z = tile.get %c_in[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        // expected-error @+1 {{the block of 'o' at d1 (%i) and d2 (%j) is left and come back to}}
        tile.put %z, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
      %l = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b2=128 x f32>
      %r = tile.get %y_ref[:, :] : !tile.ref<128 x 128 x f32, vmem> -> !tile.tile<b2=128 x b1=128 x f32>
      %d = tile.dot %l, %r : !tile.tile<b0=8 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.get %o[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %d : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %new : memref<16x256xf32>
}

// -----

// Two cores with a scratch each.
func.func @parallel(%x: memref<16x256xf32>, %y: memref<256x256xf32>, %c: memref<16x256xf32>) -> memref<16x256xf32> {
  %new = pallas.call @parallel(%x, %y, %c) windows [<[8, 128], (d0, d1, d2) -> (d0, d2), vmem>, <[128, 128], (d0, d1, d2) -> (d2, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>, <[8, 128], (d0, d1, d2) -> (d0, d1), vmem>] semantics (parallel, parallel, parallel) aliases [2] : (memref<16x256xf32>, memref<256x256xf32>, memref<16x256xf32>) -> memref<16x256xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %y_ref: !tile.ref<128 x 128 x f32, vmem>, %c_in: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>, %acc: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128, %k: b2=128) in (16, 256, 256) reduce [2] {
      tile.when first(%k) {
        %z = tile.get %c_in[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %z, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
      %l = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b2=128 x f32>
      %r = tile.get %y_ref[:, :] : !tile.ref<128 x 128 x f32, vmem> -> !tile.tile<b2=128 x b1=128 x f32>
      %d = tile.dot %l, %r : !tile.tile<b0=8 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %d : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      tile.when last(%k) {
        %e = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        // expected-error @+1 {{d2 (%k) is marked parallel, but the visits along it share one block of 'o': visits (0, 0, 0) and (0, 0, 1) may run on two cores, each of which loses the other's updates}}
        tile.put %e, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
    }
  }
  func.return %new : memref<16x256xf32>
}

// -----

// Filled along one dimension around another: sums of %j are mixed.
func.func @mixed(%x: memref<16x256xf32>) -> memref<8x128xf32> {
  %new = pallas.call @mixed(%x) windows [<[8, 128], (d0, d1) -> (d0, d1), vmem>, <[8, 128], (d0, d1) -> (0, 0), vmem>] semantics (arbitrary, arbitrary) aliases [-1] : (memref<16x256xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>, %acc: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128) in (16, 256) reduce [0, 1] {
      tile.when first(%i) {
        %z = tile.full 0.0 : !tile.tile<b0=8 x b1=128 x f32>
        tile.put %z, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      // expected-error @+1 {{'acc' is carried along d0 (%i), around d1 (%j): visits (0, 0) → (0, 1) → … → (1, 0) mix the blocks of d1, and lose the updates of d0 = 0}}
      %a = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %v : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      tile.when last(%i, %j) {
        %e = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %e, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
    }
  }
  func.return %new : memref<8x128xf32>
}

// -----

// Filled anew for each %i, committed for the last one only.
func.func @late(%x: memref<16x256xf32>) -> memref<8x128xf32> {
  %new = pallas.call @late(%x) windows [<[8, 128], (d0, d1) -> (d0, d1), vmem>, <[8, 128], (d0, d1) -> (0, 0), vmem>] semantics (arbitrary, arbitrary) aliases [-1] : (memref<16x256xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>, %acc: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128) in (16, 256) reduce [0, 1] {
      tile.when first(%j) {
        %z = tile.full 0.0 : !tile.tile<b0=8 x b1=128 x f32>
        tile.put %z, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %v : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      tile.when last(%i, %j) {
        // expected-error @+1 {{'acc' is filled anew at each first visit of d1 (%j), but committed only at the last one of d0 (%i): the updates before it are lost}}
        %e = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %e, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
    }
  }
  func.return %new : memref<8x128xf32>
}

// -----

// Scratch that nothing fills.
func.func @undefined(%x: memref<16x256xf32>) -> memref<8x128xf32> {
  %new = pallas.call @undefined(%x) windows [<[8, 128], (d0, d1) -> (d0, d1), vmem>, <[8, 128], (d0, d1) -> (0, 0), vmem>] semantics (arbitrary, arbitrary) aliases [-1] : (memref<16x256xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>, %acc: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8, %j: b1=128) in (16, 256) reduce [0, 1] {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      // expected-error @+1 {{'acc' is read before a visit has written it: scratch memory holds nothing at first}}
      %a = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
      %n = tile.add %a, %v : !tile.tile<b0=8 x b1=128 x f32>
      tile.put %n, %acc[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      tile.when last(%i, %j) {
        %e = tile.get %acc[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x b1=128 x f32>
        tile.put %e, %o[:, :] : !tile.tile<b0=8 x b1=128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      }
    }
  }
  func.return %new : memref<8x128xf32>
}

// -----

// A store of some lanes keeps the others: where nothing fills scratch, nobody minds what these are.
func.func @kept(%x: memref<16x128xf32>) -> memref<16x128xf32> {
  %new = pallas.call @kept(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>, <[8, 128], (d0) -> (d0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<16x128xf32>) -> memref<16x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>, %own: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x 128 x f32>
      %zero = tile.full 0.0 : !tile.tile<b0=8 x 128 x f32>
      %mask = tile.gt %v, %zero : !tile.tile<b0=8 x 128 x f32>
      %old = tile.get %own[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x 128 x f32>
      %n = tile.select %mask, %v, %old : !tile.tile<b0=8 x 128 x f32>
      tile.put %n, %own[:, :] : !tile.tile<b0=8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
      %a = tile.get %own[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x 128 x f32>
      %r = tile.select %mask, %a, %zero : !tile.tile<b0=8 x 128 x f32>
      tile.put %r, %o[:, :] : !tile.tile<b0=8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %new : memref<16x128xf32>
}

// -----

// Right, but rounded on every visit.
func.func @narrow(%x: memref<16x512xbf16>) -> memref<16x128xbf16> {
  %new = pallas.call @narrow(%x) windows [<[16, 128], (d0) -> (0, d0), vmem>, <[16, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<16x512xbf16>) -> memref<16x128xbf16> {
  ^bb0(%x_ref: !tile.ref<16 x 128 x bf16, vmem>, %o: !tile.ref<16 x 128 x bf16, vmem>):
    tile.grid (%k: b0=128) in (512) reduce [0] {
      tile.when first(%k) {
        %z = tile.full 0.0 : !tile.tile<16 x b0=128 x bf16>
        tile.put %z, %o[:, :] : !tile.tile<16 x b0=128 x bf16>, !tile.ref<16 x 128 x bf16, vmem>
      }
      %v = tile.get %x_ref[:, :] : !tile.ref<16 x 128 x bf16, vmem> -> !tile.tile<16 x b0=128 x bf16>
      %a = tile.get %o[:, :] : !tile.ref<16 x 128 x bf16, vmem> -> !tile.tile<16 x b0=128 x bf16>
      %vw = tile.cast %v : !tile.tile<16 x b0=128 x bf16> to !tile.tile<16 x b0=128 x f32>
      %aw = tile.cast %a : !tile.tile<16 x b0=128 x bf16> to !tile.tile<16 x b0=128 x f32>
      %s = tile.add %aw, %vw : !tile.tile<16 x b0=128 x f32>
      %n = tile.cast %s : !tile.tile<16 x b0=128 x f32> to !tile.tile<16 x b0=128 x bf16>
      // expected-warning @+1 {{'o' accumulates in bf16, which rounds on every visit}}
      tile.put %n, %o[:, :] : !tile.tile<16 x b0=128 x bf16>, !tile.ref<16 x 128 x bf16, vmem>
    }
  }
  func.return %new : memref<16x128xbf16>
}

// -----

// No update: every cell stores the same block.
func.func @same(%x: memref<16x128xf32>) -> memref<8x128xf32> {
  %new = pallas.call @same(%x) windows [<[8, 128], (d0) -> (d0, 0), vmem>, <[8, 128], (d0) -> (0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<16x128xf32>) -> memref<8x128xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o: !tile.ref<8 x 128 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x f32, vmem> -> !tile.tile<b0=8 x 128 x f32>
      // expected-error @+1 {{all cells along d0 (%i) store into one block of 'o': what visit (0,) stored is overwritten by visit (1,), and which cell is the last one is not said}}
      tile.put %v, %o[:, :] : !tile.tile<b0=8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>
    }
  }
  func.return %new : memref<8x128xf32>
}

// -----

// Lanes that a masked store leaves alone are kept, in whichever order its dimensions stand and whatever is wide enough.
func.func @kept(%x: memref<16x128xbf16>, %m: memref<16x128xi1>) -> memref<128x16xbf16> {
  %new = pallas.call @kept(%x, %m) windows [<[8, 128], (d0) -> (d0, 0), vmem>, <[8, 128], (d0) -> (d0, 0), vmem>, <[128, 8], (d0) -> (0, d0), vmem>] semantics (arbitrary) aliases [-1] : (memref<16x128xbf16>, memref<16x128xi1>) -> memref<128x16xbf16> {
  ^bb0(%x_ref: !tile.ref<8 x 128 x bf16, vmem>, %m_ref: !tile.ref<8 x 128 x i1, vmem>, %o: !tile.ref<128 x 8 x bf16, vmem>):
    tile.grid (%i: b0=8) in (16) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 128 x bf16, vmem> -> !tile.tile<b0=8 x 128 x bf16>
      %c = tile.get %m_ref[:, :] : !tile.ref<8 x 128 x i1, vmem> -> !tile.tile<b0=8 x 128 x i1>
      %b = tile.get %o[:, :] : !tile.ref<128 x 8 x bf16, vmem> -> !tile.tile<128 x b0=8 x bf16>
      %bw = tile.cast %b : !tile.tile<128 x b0=8 x bf16> to !tile.tile<128 x b0=8 x f32>
      %bt = tile.transpose %bw [1, 0] : !tile.tile<128 x b0=8 x f32>
      %vw = tile.cast %v : !tile.tile<b0=8 x 128 x bf16> to !tile.tile<b0=8 x 128 x f32>
      %n = tile.select %c, %vw, %bt : !tile.tile<b0=8 x 128 x f32>
      %nn = tile.cast %n : !tile.tile<b0=8 x 128 x f32> to !tile.tile<b0=8 x 128 x bf16>
      %nt = tile.transpose %nn [1, 0] : !tile.tile<b0=8 x 128 x bf16>
      tile.put %nt, %o[:, :] : !tile.tile<128 x b0=8 x bf16>, !tile.ref<128 x 8 x bf16, vmem>
    }
  }
  func.return %new : memref<128x16xbf16>
}

// -----

// Lanes that go to other places than they were read from.
func.func @moved(%x: memref<16x8xf32>, %m: memref<16x8xi1>) -> memref<16x8xf32> {
  %new = pallas.call @moved(%x, %m) windows [<[8, 8], (d0) -> (d0, 0), vmem>, <[8, 8], (d0) -> (d0, 0), vmem>, <[8, 8], (d0) -> (d0, 0), vmem>] semantics (arbitrary) aliases [-1] : (memref<16x8xf32>, memref<16x8xi1>) -> memref<16x8xf32> {
  ^bb0(%x_ref: !tile.ref<8 x 8 x f32, vmem>, %m_ref: !tile.ref<8 x 8 x i1, vmem>, %o: !tile.ref<8 x 8 x f32, vmem>):
    tile.grid (%i: b0=8) in (16) {
      %v = tile.get %x_ref[:, :] : !tile.ref<8 x 8 x f32, vmem> -> !tile.tile<8 x 8 x f32>
      %c = tile.get %m_ref[:, :] : !tile.ref<8 x 8 x i1, vmem> -> !tile.tile<8 x 8 x i1>
      // expected-error @+1 {{'o' is read before a visit has written it}}
      %b = tile.get %o[:, :] : !tile.ref<8 x 8 x f32, vmem> -> !tile.tile<8 x 8 x f32>
      %bt = tile.transpose %b [1, 0] : !tile.tile<8 x 8 x f32>
      %n = tile.select %c, %v, %bt : !tile.tile<8 x 8 x f32>
      tile.put %n, %o[:, :] : !tile.tile<8 x 8 x f32>, !tile.ref<8 x 8 x f32, vmem>
    }
  }
  func.return %new : memref<16x8xf32>
}
