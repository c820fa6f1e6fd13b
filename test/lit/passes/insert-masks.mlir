// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(insert-masks)' | filecheck %s
// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(insert-masks{fold-loads=true})' | filecheck %s --check-prefix=FOLD

// The block does not divide the columns: the sum gets zeros, the maximum minus infinity, each at its use.
// CHECK-LABEL: func.func @ragged
// CHECK: [[V:%.+]] = tile.load %x[%i, %j] :
// CHECK-NEXT: [[M:%.+]] = tile.mask [[V]] in (_, %j) else -inf : !tile.tile<b0=8 x b1=64 x f32>
// CHECK-NEXT: tile.reduce max [[M]] [1]
// CHECK-NEXT: [[E:%.+]] = tile.exp [[V]]
// CHECK-NEXT: [[Z:%.+]] = tile.mask [[E]] in (_, %j) else 0.0 : !tile.tile<b0=8 x b1=64 x f32>
// CHECK-NEXT: tile.reduce add [[Z]] [1]
// The load's pad serves the maximum; exp turns it into the zeros that the sum needs.
// FOLD-LABEL: func.func @ragged
// FOLD: [[V:%.+]] = tile.load %x[%i, %j] pad -inf :
// FOLD-NEXT: tile.reduce max [[V]] [1]
// FOLD-NEXT: [[E:%.+]] = tile.exp [[V]]
// FOLD-NEXT: tile.reduce add [[E]] [1]
func.func @ragged(%x: memref<16x100xf32>) {
  tile.grid (%i: b0=8, %j: b1=64) in (16, 100) {
    %v = tile.load %x[%i, %j] : memref<16x100xf32> -> !tile.tile<b0=8 x b1=64 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=64 x f32>
    %e = tile.exp %v : !tile.tile<b0=8 x b1=64 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=8 x b1=64 x f32>
  }
  func.return
}

// -----

// Both dimensions at once, where only one is ragged.
// CHECK-LABEL: func.func @divides
// CHECK: tile.mask {{%.+}} in (%i, _) else 0.0
// CHECK-NOT: tile.mask
func.func @divides(%x: memref<20x128xf32>) {
  tile.grid (%i: b0=8, %j: b1=64) in (20, 128) {
    %v = tile.load %x[%i, %j] : memref<20x128xf32> -> !tile.tile<b0=8 x b1=64 x f32>
    %s = tile.reduce add %v [0, 1] : !tile.tile<b0=8 x b1=64 x f32>
    %t = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=64 x f32>
  }
  func.return
}

// -----

// An inner loop over one block of the outer range: full where the outer range is and the block divides it.
// CHECK-LABEL: func.func @nested
// CHECK: tile.for %k: b1=16
// CHECK-NOT: tile.mask
// CHECK: tile.for %l: b2=24
// CHECK: tile.mask {{%.+}} in (%l) else 0.0
func.func @nested(%x: memref<128xf32>) {
  tile.grid (%i: b0=64) in (128) {
    %lo = tile.begin %i : !tile.range<b0=64>
    %hi = tile.end %i : !tile.range<b0=64>
    tile.for %k: b1=16 in (%lo, %hi) {
      %v = tile.load %x[%k] : memref<128xf32> -> !tile.tile<b1=16 x f32>
      %s = tile.reduce add %v [0] : !tile.tile<b1=16 x f32>
    }
    tile.for %l: b2=24 in (%lo, %hi) {
      %v = tile.load %x[%l] : memref<128xf32> -> !tile.tile<b2=24 x f32>
      %s = tile.reduce add %v [0] : !tile.tile<b2=24 x f32>
    }
  }
  func.return
}

// -----

// Both sides of a dot: zero times an undefined lane may be NaN.
// CHECK-LABEL: func.func @dot
// CHECK: [[L:%.+]] = tile.mask %l in (_, %k) else 0.0 : !tile.tile<b0=8 x b1=16 x bf16>
// CHECK-NEXT: [[R:%.+]] = tile.mask %r in (%k, _) else 0.0 : !tile.tile<b1=16 x b2=8 x bf16>
// CHECK-NEXT: tile.dot [[L]], [[R]]
func.func @dot(%x: memref<8x20xbf16>, %y: memref<20x8xbf16>) {
  tile.grid (%i: b0=8, %j: b2=8) in (8, 8) {
    tile.for %k: b1=16 in (0, 20) {
      %l = tile.load %x[%i, %k] : memref<8x20xbf16> -> !tile.tile<b0=8 x b1=16 x bf16>
      %r = tile.load %y[%k, %j] : memref<20x8xbf16> -> !tile.tile<b1=16 x b2=8 x bf16>
      %d = tile.dot %l, %r : !tile.tile<b0=8 x b1=16 x bf16>, !tile.tile<b1=16 x b2=8 x bf16> -> !tile.tile<b0=8 x b2=8 x f32>
    }
  }
  func.return
}

// -----

// A reshape hides the ragged dimension: the lanes' validity is reshaped along.
// CHECK-LABEL: func.func @hidden
// CHECK: [[VALID:%.+]] = tile.valid %i : !tile.range<b0=8>
// CHECK-NEXT: [[PLAIN:%.+]] = tile.reshape [[VALID]] : !tile.tile<b0=8 x i1> to !tile.tile<8 x i1>
// CHECK: [[F:%.+]] = tile.reshape %v
// CHECK-NEXT: [[WIDE:%.+]] = tile.broadcast [[PLAIN]] dims [0] : !tile.tile<8 x i1> to !tile.tile<8 x 4 x i1>
// CHECK-NEXT: [[FLAT:%.+]] = tile.reshape [[WIDE]] : !tile.tile<8 x 4 x i1> to !tile.tile<32 x i1>
// CHECK-NEXT: [[ZERO:%.+]] = tile.full 0.0 : !tile.tile<32 x f32>
// CHECK-NEXT: [[S:%.+]] = tile.select [[FLAT]], [[F]], [[ZERO]]
// CHECK-NEXT: tile.reduce add [[S]] [0]
func.func @hidden(%x: memref<20x4xf32>) {
  tile.grid (%i: b0=8) in (20) {
    %v = tile.load %x[%i, :] : memref<20x4xf32> -> !tile.tile<b0=8 x 4 x f32>
    %f = tile.reshape %v : !tile.tile<b0=8 x 4 x f32> to !tile.tile<32 x f32>
    %s = tile.reduce add %f [0] : !tile.tile<32 x f32>
  }
  func.return
}

// -----

// An update whose rows hide invalid lanes updates by the valid ones only.
// CHECK-LABEL: func.func @updates
// CHECK: %n = tile.reshape
// CHECK: [[M:%.+]] = tile.broadcast {{%.+}} dims [0, 1] : !tile.tile<2 x 4 x i1> to !tile.tile<2 x 4 x 16 x i1>
// CHECK: atomic.rmw add %v, %x[%n, :] mask [[M]]
func.func @updates(%x: memref<30x16xf32>, %rows: memref<20xi32>) {
  tile.grid (%i: b0=8) in (20) {
    %r = tile.load %rows[%i] : memref<20xi32> -> !tile.tile<b0=8 x i32>
    %n = tile.reshape %r : !tile.tile<b0=8 x i32> to !tile.tile<2 x 4 x i32>
    %v = tile.full 1.0 : !tile.tile<2 x 4 x 16 x f32>
    atomic.rmw add %v, %x[%n, :] : !tile.tile<2 x 4 x 16 x f32>, memref<30x16xf32>
  }
  func.return
}

// -----

// A function of the kernel's own has no neutral value: lanes say whether they count. A scan from the first lane needs
// nothing, one from the last does; a sort gets what comes last.
// CHECK-LABEL: func.func @functions
// CHECK: tile.associative_scan %v dim 0 : !tile.tile<b0=8 x f32> {
// CHECK: [[ONE:%.+]] = tile.full 1 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: [[COUNTS:%.+]] = tile.mask [[ONE]] in (%i) else 0 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: tile.associative_scan %v, [[COUNTS]] dim 0 reverse : !tile.tile<b0=8 x f32>, !tile.tile<b0=8 x i32> {
// CHECK-NEXT: ^bb0(%l: !tile.tile<f32>, [[M:%.+]]: !tile.tile<i32>, %r: !tile.tile<f32>, [[N:%.+]]: !tile.tile<i32>):
// CHECK-NEXT: %c = tile.mul %l, %r
// CHECK-NEXT: [[ZERO:%.+]] = tile.full 0 : !tile.tile<i32>
// CHECK-NEXT: [[L:%.+]] = tile.ne [[M]], [[ZERO]]
// CHECK-NEXT: [[R:%.+]] = tile.ne [[N]], [[ZERO]]
// CHECK-NEXT: [[S:%.+]] = tile.select [[L]], %c, %r
// CHECK-NEXT: [[T:%.+]] = tile.select [[R]], [[S]], %l
// CHECK-NEXT: [[U:%.+]] = tile.or [[M]], [[N]]
// CHECK-NEXT: tile.yield [[T]], [[U]] : !tile.tile<f32>, !tile.tile<i32>
// CHECK: tile.mask %v in (%i) else nan
// CHECK: tile.mask %v in (%i) else -inf
func.func @functions(%x: memref<20xf32>) {
  tile.grid (%i: b0=8) in (20) {
    %v = tile.load %x[%i] : memref<20xf32> -> !tile.tile<b0=8 x f32>
    %a = tile.associative_scan %v dim 0 : !tile.tile<b0=8 x f32> {
    ^bb0(%l: !tile.tile<f32>, %r: !tile.tile<f32>):
      %c = tile.mul %l, %r : !tile.tile<f32>
      tile.yield %c : !tile.tile<f32>
    }
    %b = tile.associative_scan %v dim 0 reverse : !tile.tile<b0=8 x f32> {
    ^bb0(%l: !tile.tile<f32>, %r: !tile.tile<f32>):
      %c = tile.mul %l, %r : !tile.tile<f32>
      tile.yield %c : !tile.tile<f32>
    }
    %s, %n = tile.sort %v dim 0 : !tile.tile<b0=8 x f32>
    %t, %m = tile.sort %v dim 0 descending : !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

// A range that only types name: lanes beyond it are not stored where computed places name them, so it stays; where they
// are stored to a whole dimension it has no use any more.
// CHECK-LABEL: func.func @named_by_types
// CHECK: tile.whole 20 : !tile.range<w=32>
// CHECK: tile.store {{%.+}}, %out[%at] : !tile.tile<w=32 x f32>
// CHECK-LABEL: func.func @unused
// CHECK-NOT: tile.whole
// CHECK: tile.full 1.0 : !tile.tile<32 x f32>
func.func @named_by_types(%out: memref<400xf32>) {
  tile.grid (%i: b0=1) in (20) {
    %w = tile.whole 20 : !tile.range<w=32>
    %at = tile.arange 0, 1 : !tile.tile<w=32 x i32>
    %v = tile.full 1.0 : !tile.tile<w=32 x f32>
    tile.store %v, %out[%at] : !tile.tile<w=32 x f32>, memref<400xf32>
  }
  func.return
}
func.func @unused(%out: memref<1xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %w = tile.whole 20 : !tile.range<w=32>
    %v = tile.full 1.0 : !tile.tile<w=32 x f32>
    %b = tile.begin %i : !tile.range<b0=1>
  }
  func.return
}

// -----

// The loop goes to the end of a block, a multiple of 16, by blocks of 16: all are full. Blocks of 32 may not be.
// CHECK-LABEL: @to_the_end
// CHECK: tile.for %k: b1=16 in (0, %end)
// CHECK-NOT: tile.mask
// CHECK: tile.for %l: b2=32 in (0, %end)
// CHECK: tile.mask {{.*}} in (_, %l) else 0.0
func.func @to_the_end(%x: memref<64x64xf32>, %o: memref<64xf32>, %p: memref<64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %end = tile.end %i : !tile.range<b0=16>
    tile.for %k: b1=16 in (0, %end) {
      %v = tile.load %x[%i, %k] : memref<64x64xf32> -> !tile.tile<b0=16 x b1=16 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=16 x b1=16 x f32>
      tile.store %s, %o[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
    }
    tile.for %l: b2=32 in (0, %end) {
      %v = tile.load %x[%i, %l] : memref<64x64xf32> -> !tile.tile<b0=16 x b2=32 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b0=16 x b2=32 x f32>
      tile.store %s, %p[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
    }
  }
  func.return
}

// -----

// Loads pad, and what is computed of them lane by lane holds the neutral value of a sum then.
// CHECK-LABEL: func.func @computed
// CHECK: tile.mask
// CHECK: tile.mask
// FOLD-LABEL: func.func @computed
// FOLD: tile.load %x[%j] pad 0.0 :
// FOLD: tile.load %y[%j] pad 0 :
// FOLD-NOT: tile.mask
func.func @computed(%x: memref<100xbf16>, %y: memref<100xi32>) {
  tile.grid (%j: b1=64) in (100) {
    %v = tile.load %x[%j] : memref<100xbf16> -> !tile.tile<b1=64 x bf16>
    %c = tile.cast %v : !tile.tile<b1=64 x bf16> to !tile.tile<b1=64 x f32>
    %q = tile.mul %c, %c : !tile.tile<b1=64 x f32>
    %s = tile.reduce add %q [0] : !tile.tile<b1=64 x f32>
    %w = tile.load %y[%j] : memref<100xi32> -> !tile.tile<b1=64 x i32>
    %f = tile.cast %w : !tile.tile<b1=64 x i32> to !tile.tile<b1=64 x f32>
    %p = tile.mul %f, %c : !tile.tile<b1=64 x f32>
    %t = tile.reduce add %p [0] : !tile.tile<b1=64 x f32>
  }
  func.return
}

// -----

// Integers have no infinity, one load pads with one number, and a number beside the loads is not known.
// FOLD-LABEL: func.func @not_held
// FOLD: tile.load %x[%j] pad 0.0 :
// FOLD: tile.load %y[%j] :
// FOLD: tile.mask {{%.+}} in (%j) else -inf
// FOLD: tile.mask {{%.+}} in (%j) else -inf
// FOLD: tile.mask {{%.+}} in (%j) else 0.0
func.func @not_held(%x: memref<100xbf16>, %y: memref<100xi32>, %z: memref<f32>) {
  tile.grid (%j: b1=64) in (100) {
    %v = tile.load %x[%j] : memref<100xbf16> -> !tile.tile<b1=64 x bf16>
    %w = tile.load %y[%j] : memref<100xi32> -> !tile.tile<b1=64 x i32>
    %z0 = tile.load %z[] : memref<f32> -> !tile.tile<f32>
    %c = tile.cast %v : !tile.tile<b1=64 x bf16> to !tile.tile<b1=64 x f32>
    %s = tile.reduce add %c [0] : !tile.tile<b1=64 x f32>
    %f = tile.cast %w : !tile.tile<b1=64 x i32> to !tile.tile<b1=64 x f32>
    %t = tile.reduce max %f [0] : !tile.tile<b1=64 x f32>
    %u = tile.reduce max %c [0] : !tile.tile<b1=64 x f32>
    %b = tile.broadcast %z0 dims [] : !tile.tile<f32> to !tile.tile<b1=64 x f32>
    %d = tile.sub %c, %b : !tile.tile<b1=64 x f32>
    %r = tile.reduce add %d [0] : !tile.tile<b1=64 x f32>
  }
  func.return
}

// -----

// Lanes of -inf less the maximum of their row are -inf too, or NaN where the whole row is: the sum needs no mask. Less
// the maximum of another row of as many they may be anything.
// FOLD-LABEL: func.func @softmax
// FOLD: tile.load %x[%i, %j, :] pad -inf :
// FOLD-NOT: tile.mask
// FOLD: tile.reduce add %e [1, 2]
// FOLD: [[F:%.+]] = tile.exp %o
// FOLD-NEXT: [[M:%.+]] = tile.mask [[F]] in (_, %j, _) else 0.0
// FOLD-NEXT: tile.reduce add [[M]] [1, 2]
func.func @softmax(%x: memref<8x100x8xf32>) {
  tile.grid (%i: b0=8, %j: b1=64) in (8, 100) {
    %v = tile.load %x[%i, %j, :] : memref<8x100x8xf32> -> !tile.tile<b0=8 x b1=64 x 8 x f32>
    %m = tile.reduce max %v [1, 2] : !tile.tile<b0=8 x b1=64 x 8 x f32>
    %r = tile.reshape %m : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x 1 x 1 x f32>
    %b = tile.broadcast %r dims [0, 1, 2] : !tile.tile<b0=8 x 1 x 1 x f32> to !tile.tile<b0=8 x b1=64 x 8 x f32>
    %d = tile.sub %v, %b : !tile.tile<b0=8 x b1=64 x 8 x f32>
    %e = tile.exp %d : !tile.tile<b0=8 x b1=64 x 8 x f32>
    %s = tile.reduce add %e [1, 2] : !tile.tile<b0=8 x b1=64 x 8 x f32>
    %w = tile.reshape %m : !tile.tile<b0=8 x f32> to !tile.tile<1 x 1 x 8 x f32>
    %a = tile.broadcast %w dims [0, 1, 2] : !tile.tile<1 x 1 x 8 x f32> to !tile.tile<b0=8 x b1=64 x 8 x f32>
    %o = tile.sub %v, %a : !tile.tile<b0=8 x b1=64 x 8 x f32>
    %f = tile.exp %o : !tile.tile<b0=8 x b1=64 x 8 x f32>
    %t = tile.reduce add %f [1, 2] : !tile.tile<b0=8 x b1=64 x 8 x f32>
  }
  func.return
}

// -----

// A product needs ones: exp makes them of zeros.
// FOLD-LABEL: func.func @product
// FOLD: tile.load %x[%i, %j] pad 0.0 :
// FOLD-NOT: tile.mask
func.func @product(%x: memref<16x100xf32>) {
  tile.grid (%i: b0=8, %j: b1=64) in (16, 100) {
    %v = tile.load %x[%i, %j] : memref<16x100xf32> -> !tile.tile<b0=8 x b1=64 x f32>
    %e = tile.exp %v : !tile.tile<b0=8 x b1=64 x f32>
    %p = tile.reduce mul %e [1] : !tile.tile<b0=8 x b1=64 x f32>
  }
  func.return
}

// -----

// Lanes are as they were after they have changed places.
// FOLD-LABEL: func.func @turned
// FOLD: tile.load %x[%i, %j] pad 0.0 :
// FOLD-NOT: tile.mask
// FOLD: tile.reduce add %t [0]
func.func @turned(%x: memref<16x100xf32>) {
  tile.grid (%i: b0=8, %j: b1=64) in (16, 100) {
    %v = tile.load %x[%i, %j] : memref<16x100xf32> -> !tile.tile<b0=8 x b1=64 x f32>
    %t = tile.transpose %v [1, 0] : !tile.tile<b0=8 x b1=64 x f32>
    %s = tile.reduce add %t [0] : !tile.tile<b1=64 x b0=8 x f32>
  }
  func.return
}
