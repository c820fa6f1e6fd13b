// RUN: kopt %s --split-input-file --verify-each -p approximate-functions | filecheck %s

// What is rounded to 16 bits, also what a loop carries there, may be fast; a quotient by a constant is a product.
// CHECK-LABEL: @rounded
// CHECK: %q = tile.div %a, %s {triton.approximate}
// CHECK: %[[RECIPROCAL:.*]] = tile.full 0.33333334
// CHECK-NEXT: %t = tile.mul %a, %[[RECIPROCAL]]
// CHECK: %g = tile.sigmoid %t {triton.approximate}
func.func @rounded(%x: memref<64x512xf32>, %o: memref<64xbf16>) {
  tile.grid (%i: b0=8) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.for %k: b1=128 in (0, 512) iter(%s = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<64x512xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %a = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
      %q = tile.div %a, %s : !tile.tile<b0=8 x f32>
      %three = tile.full 3.0 : !tile.tile<b0=8 x f32>
      %t = tile.div %a, %three : !tile.tile<b0=8 x f32>
      %g = tile.sigmoid %t : !tile.tile<b0=8 x f32>
      %n = tile.add %q, %g : !tile.tile<b0=8 x f32>
      tile.yield %n : !tile.tile<b0=8 x f32>
    }
    %h = tile.cast %r : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x bf16>
    tile.store %h, %o[%i] : !tile.tile<b0=8 x bf16>, memref<64xbf16>
  }
  func.return
}

// -----

// What is stored in f32, compared or made a whole number stays exact, and what that is made of; as do high powers.
// CHECK-LABEL: @seen
// CHECK-NOT: triton.approximate
// CHECK: %q = tile.div %v, %w : !tile.tile<b0=8 x f32>
// CHECK: %[[HALF:.*]] = tile.full 0.5
// CHECK: %e = tile.mul %v, %[[HALF]]
// CHECK: %t = tile.tanh %w :
// CHECK: %g = tile.reciprocal %w :
// CHECK: %l = tile.pow %p, %high :
// CHECK: %u = tile.pow %v, %low {triton.approximate}
func.func @seen(%x: memref<64xf32>, %y: memref<64xf32>, %o: memref<64xf32>, %h: memref<64xbf16>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    %w = tile.load %y[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    %q = tile.div %v, %w : !tile.tile<b0=8 x f32>
    %two = tile.full 2.0 : !tile.tile<b0=8 x f32>
    %e = tile.div %v, %two : !tile.tile<b0=8 x f32>
    %s = tile.add %q, %e : !tile.tile<b0=8 x f32>
    tile.store %s, %o[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    %t = tile.tanh %w : !tile.tile<b0=8 x f32>
    %f = tile.floor %t : !tile.tile<b0=8 x f32>
    %g = tile.reciprocal %w : !tile.tile<b0=8 x f32>
    %c = tile.lt %g, %v : !tile.tile<b0=8 x f32>
    %p = tile.select %c, %f, %v : !tile.tile<b0=8 x f32>
    %high = tile.full 17.0 : !tile.tile<b0=8 x f32>
    %low = tile.full 2.5 : !tile.tile<b0=8 x f32>
    %l = tile.pow %p, %high : !tile.tile<b0=8 x f32>
    %u = tile.pow %v, %low : !tile.tile<b0=8 x f32>
    %b = tile.add %l, %u : !tile.tile<b0=8 x f32>
    %n = tile.cast %b : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x bf16>
    tile.store %n, %h[%i] : !tile.tile<b0=8 x bf16>, memref<64xbf16>
  }
  func.return
}

// -----

// A reciprocal square root hides what a product with the reciprocal is off by, also where it is stored; 1 + tanh is a
// sigmoid where only 16 bits of it leave, unless something else has the tangent.
// CHECK-LABEL: @roots
// CHECK: %[[PART:.*]] = tile.full 0.33333334
// CHECK-NEXT: %m = tile.mul %v, %[[PART]]
// CHECK: %q = tile.div %v, %three
// CHECK: %[[SHARE:.*]] = tile.sigmoid %{{.*}} {triton.approximate}
// CHECK: %p = tile.mul %[[SHARE]],
// CHECK: %g = tile.tanh %q {triton.approximate}
// CHECK: %k = tile.add %g, %one
func.func @roots(%x: memref<64xf32>, %o: memref<64xf32>, %h: memref<64xbf16>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    %three = tile.full 3.0 : !tile.tile<b0=8 x f32>
    %eps = tile.full 0.001 : !tile.tile<b0=8 x f32>
    %one = tile.full 1.0 : !tile.tile<b0=8 x f32>
    %m = tile.div %v, %three : !tile.tile<b0=8 x f32>
    %e = tile.add %m, %eps : !tile.tile<b0=8 x f32>
    %r = tile.rsqrt %e : !tile.tile<b0=8 x f32>
    tile.store %r, %o[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    %q = tile.div %v, %three : !tile.tile<b0=8 x f32>
    tile.store %q, %o[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
    %t = tile.tanh %q : !tile.tile<b0=8 x f32>
    %p = tile.add %t, %one : !tile.tile<b0=8 x f32>
    %g = tile.tanh %q : !tile.tile<b0=8 x f32>
    %k = tile.add %g, %one : !tile.tile<b0=8 x f32>
    %d = tile.mul %k, %g : !tile.tile<b0=8 x f32>
    %w = tile.mul %d, %p : !tile.tile<b0=8 x f32>
    %n = tile.cast %w : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x bf16>
    tile.store %n, %h[%i] : !tile.tile<b0=8 x bf16>, memref<64xbf16>
  }
  func.return
}

// -----

// Constant factors of a product are multiplied at once, but for a second one that is no power of two, and where the
// product of the others could be too large.
// CHECK-LABEL: @factors
// CHECK-DAG: %a = tile.mul %v, %w
// CHECK-DAG: %[[THREE:.*]] = tile.full 3.0
// CHECK: %b = tile.mul %a, %[[THREE]]
// CHECK: %c = tile.mul %b, %odd
// CHECK: %d = tile.mul %w, %half
// CHECK: %e = tile.mul %c, %d
// CHECK: %seen = tile.mul %v, %half
// CHECK: %f = tile.mul %seen, %two
func.func @factors(%x: memref<64xf32>, %y: memref<64xf32>, %o: memref<64xf32>, %h: memref<64xbf16>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    %w = tile.load %y[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    %half = tile.full 0.5 : !tile.tile<b0=8 x f32>
    %two = tile.full 2.0 : !tile.tile<b0=8 x f32>
    %odd = tile.full 1.5 : !tile.tile<b0=8 x f32>
    %first = tile.mul %v, %half : !tile.tile<b0=8 x f32>
    %second = tile.mul %two, %w : !tile.tile<b0=8 x f32>
    %a = tile.mul %first, %second : !tile.tile<b0=8 x f32>
    %third = tile.mul %a, %odd : !tile.tile<b0=8 x f32>
    %b = tile.mul %third, %two : !tile.tile<b0=8 x f32>
    %c = tile.mul %b, %odd : !tile.tile<b0=8 x f32>
    %d = tile.mul %w, %half : !tile.tile<b0=8 x f32>
    %e = tile.mul %c, %d : !tile.tile<b0=8 x f32>
    %n = tile.cast %e : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x bf16>
    tile.store %n, %h[%i] : !tile.tile<b0=8 x bf16>, memref<64xbf16>
    %seen = tile.mul %v, %half : !tile.tile<b0=8 x f32>
    %f = tile.mul %seen, %two : !tile.tile<b0=8 x f32>
    tile.store %f, %o[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}
