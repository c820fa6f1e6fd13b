// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(convert-exp-to-exp2)' | filecheck %s

// The scale of an online softmax has the factor in it: through the running maximum, and masks of -inf.
// CHECK-LABEL: @online
// CHECK: %[[SCALE:.*]] = tile.full 0.18033688 : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %s = tile.mul %v, %[[SCALE]]
// CHECK-NEXT: %t = tile.mask %s in (_, %k) else -inf
// CHECK: %shrink = tile.exp2
// CHECK: %p = tile.exp2
// CHECK-NOT: tile.mul %r
func.func @online(%x: memref<64x500xf32>, %o: memref<64xf32>) {
  %q = host.launch @online (%a0 = %x, %c0 = %o) writes [1] : (memref<64x500xf32>, memref<64xf32>) -> (memref<64xf32>) {
    tile.grid (%i: b0=8) in (64) {
      %top = tile.full -inf : !tile.tile<b0=8 x f32>
      %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %r, %sum = tile.for %k: b1=128 in (0, 500) iter(%a = %top, %b = %z) -> (!tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>) {
        %v = tile.load %a0[%i, %k] : memref<64x500xf32> -> !tile.tile<b0=8 x b1=128 x f32>
        %scale = tile.full 0.125 : !tile.tile<b0=8 x b1=128 x f32>
        %s = tile.mul %v, %scale : !tile.tile<b0=8 x b1=128 x f32>
        %t = tile.mask %s in (_, %k) else -inf : !tile.tile<b0=8 x b1=128 x f32>
        %m = tile.reduce max %t [1] : !tile.tile<b0=8 x b1=128 x f32>
        %n = tile.maximum %a, %m : !tile.tile<b0=8 x f32>
        %d = tile.sub %a, %n : !tile.tile<b0=8 x f32>
        %shrink = tile.exp %d : !tile.tile<b0=8 x f32>
        %w = tile.broadcast %n dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x b1=128 x f32>
        %e = tile.sub %t, %w : !tile.tile<b0=8 x b1=128 x f32>
        %p = tile.exp %e : !tile.tile<b0=8 x b1=128 x f32>
        %l = tile.reduce add %p [1] : !tile.tile<b0=8 x b1=128 x f32>
        %f = tile.mul %b, %shrink : !tile.tile<b0=8 x f32>
        %g = tile.add %f, %l : !tile.tile<b0=8 x f32>
        tile.yield %n, %g : !tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>
      }
      tile.store %sum, %c0[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return
}

// -----

// What is used otherwise is multiplied by ln(2), and a constant that others have too is made twice.
// CHECK-LABEL: @maximum
// CHECK: %bias = tile.full 2.0
// CHECK: %[[BIAS:.*]] = tile.full 2.8853{{[0-9]*}} :
// CHECK: %s = tile.mul %v
// CHECK: %u = tile.add %s, %[[BIAS]]
// CHECK: %m = tile.reduce max %u [1]
// CHECK: %[[LN2:.*]] = tile.full 0.693147{{[0-9]*}} : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %[[TOP:.*]] = tile.mul %m, %[[LN2]]
// CHECK: %p = tile.exp2 %e
// CHECK: tile.mul %p, %bias
// CHECK: tile.store %[[TOP]]
func.func @maximum(%x: memref<64x128xf32>, %y: memref<64x128xf32>, %o: memref<64xf32>) {
  %q, %q2 = host.launch @maximum (%a0 = %x, %b0 = %y, %c0 = %o) writes [1, 2] : (memref<64x128xf32>, memref<64x128xf32>, memref<64xf32>) -> (memref<64x128xf32>, memref<64xf32>) {
    tile.grid (%i: b0=8) in (64) {
      %bias = tile.full 2.0 : !tile.tile<b0=8 x 128 x f32>
      %v = tile.load %a0[%i, :] : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      %scale = tile.full 0.125 : !tile.tile<b0=8 x 128 x f32>
      %s = tile.mul %v, %scale : !tile.tile<b0=8 x 128 x f32>
      %u = tile.add %s, %bias : !tile.tile<b0=8 x 128 x f32>
      %m = tile.reduce max %u [1] : !tile.tile<b0=8 x 128 x f32>
      %w = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 128 x f32>
      %e = tile.sub %u, %w : !tile.tile<b0=8 x 128 x f32>
      %p = tile.exp %e : !tile.tile<b0=8 x 128 x f32>
      %g = tile.mul %p, %bias : !tile.tile<b0=8 x 128 x f32>
      tile.store %g, %b0[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x128xf32>
      tile.store %m, %c0[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    }
  }
  func.return
}

// -----

// Without a number to multiply with nothing is spared.
// CHECK-LABEL: @stays
// CHECK-NOT: exp2
// CHECK: tile.exp %e
func.func @stays(%x: memref<64x128xf32>, %y: memref<64x128xf32>) {
  %q = host.launch @stays (%a0 = %x, %b0 = %y) writes [1] : (memref<64x128xf32>, memref<64x128xf32>) -> (memref<64x128xf32>) {
    tile.grid (%i: b0=8) in (64) {
      %v = tile.load %a0[%i, :] : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      %m = tile.reduce max %v [1] : !tile.tile<b0=8 x 128 x f32>
      %w = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 128 x f32>
      %e = tile.sub %v, %w : !tile.tile<b0=8 x 128 x f32>
      %p = tile.exp %e : !tile.tile<b0=8 x 128 x f32>
      tile.store %p, %b0[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x128xf32>
    }
  }
  func.return
}

// -----

// A small value in a sum with scaled ones is multiplied; an exponent of several exponentials is scaled once.
// CHECK-LABEL: @own_sum
// CHECK: %s = tile.mul %v
// CHECK: %p = tile.exp2 %s
// CHECK: %t = tile.sigmoid %v
// CHECK: %[[T:.*]] = tile.mul %t
// CHECK: %d = tile.sub %[[T]], %s
// CHECK: %l = tile.exp2 %d
func.func @own_sum(%x: memref<64x128xf32>, %y: memref<64x128xf32>, %z: memref<64x128xf32>) {
  %q, %r = host.launch @own_sum (%a0 = %x, %b0 = %y, %c0 = %z) writes [1, 2] : (memref<64x128xf32>, memref<64x128xf32>, memref<64x128xf32>) -> (memref<64x128xf32>, memref<64x128xf32>) {
    tile.grid (%i: b0=8) in (64) {
      %v = tile.load %a0[%i, :] : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      %scale = tile.full 0.125 : !tile.tile<b0=8 x 128 x f32>
      %s = tile.mul %v, %scale : !tile.tile<b0=8 x 128 x f32>
      %p = tile.exp %s : !tile.tile<b0=8 x 128 x f32>
      %t = tile.sigmoid %v : !tile.tile<b0=8 x 128 x f32>
      %d = tile.sub %t, %s : !tile.tile<b0=8 x 128 x f32>
      %l = tile.exp %d : !tile.tile<b0=8 x 128 x f32>
      tile.store %p, %b0[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x128xf32>
      tile.store %l, %c0[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x128xf32>
    }
  }
  func.return
}

// -----

// What is loaded may be a mask of the least number there is, which has no finite product with the factor.
// CHECK-LABEL: @loaded_mask
// CHECK-NOT: exp2
func.func @loaded_mask(%x: memref<64x128xf32>, %m: memref<128xf32>, %y: memref<64x128xf32>) {
  %q = host.launch @loaded_mask (%a0 = %x, %m0 = %m, %b0 = %y) writes [2] : (memref<64x128xf32>, memref<128xf32>, memref<64x128xf32>) -> (memref<64x128xf32>) {
    tile.grid (%i: b0=8) in (64) {
      %v = tile.load %a0[%i, :] : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
      %scale = tile.full 0.125 : !tile.tile<b0=8 x 128 x f32>
      %s = tile.mul %v, %scale : !tile.tile<b0=8 x 128 x f32>
      %b = tile.load %m0[:] : memref<128xf32> -> !tile.tile<128 x f32>
      %w = tile.broadcast %b dims [1] : !tile.tile<128 x f32> to !tile.tile<b0=8 x 128 x f32>
      %d = tile.add %s, %w : !tile.tile<b0=8 x 128 x f32>
      %p = tile.exp %d : !tile.tile<b0=8 x 128 x f32>
      tile.store %p, %b0[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x128xf32>
    }
  }
  func.return
}
