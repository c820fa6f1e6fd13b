// RUN: kopt %s --split-input-file --verify-diagnostics --verify-each -p pad-to-power-of-two | filecheck %s

// A plain dimension becomes a wider range over it; a slice is the range of its length, shifted; 64 stays.
// CHECK-LABEL: func.func @plain
// CHECK: tile.grid (%i: b0=8) in (16) {
// CHECK-NEXT: %lanes = tile.whole 20 : !tile.range<w20=32>
// CHECK-NEXT: %lanes_1 = tile.whole 100 : !tile.range<w100=128>
// CHECK-NEXT: %v = tile.load %x[%i, %lanes_1] : memref<16x100xf32> -> !tile.tile<b0=8 x w100=128 x f32>
// CHECK-NEXT: %s = tile.reduce add %v [1] : !tile.tile<b0=8 x w100=128 x f32>
// CHECK-NEXT: %c = tile.load %x[%i, 0:64] : memref<16x100xf32> -> !tile.tile<b0=8 x 64 x f32>
// CHECK-NEXT: [[AT:%.+]] = arith.constant 80 : index
// CHECK-NEXT: [[SHIFTED:%.+]] = tile.shift %lanes by [[AT]] : !tile.range<w20=32>
// CHECK-NEXT: %d = tile.load %x[%i, [[SHIFTED]]] : memref<16x100xf32> -> !tile.tile<b0=8 x w20=32 x f32>
// CHECK: tile.store %d, %y[%i, %lanes] : !tile.tile<b0=8 x w20=32 x f32>, memref<16x20xf32>
func.func @plain(%x: memref<16x100xf32>, %y: memref<16x20xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %v = tile.load %x[%i, :] : memref<16x100xf32> -> !tile.tile<b0=8 x 100 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 100 x f32>
    %c = tile.load %x[%i, 0:64] : memref<16x100xf32> -> !tile.tile<b0=8 x 64 x f32>
    %d = tile.load %x[%i, 80:100] : memref<16x100xf32> -> !tile.tile<b0=8 x 20 x f32>
    tile.store %d, %y[%i, :] : !tile.tile<b0=8 x 20 x f32>, memref<16x20xf32>
  }
  func.return
}

// -----

// A reshape of widened dimensions picks its lanes from where they stand.
// CHECK-LABEL: func.func @reshape
// CHECK: [[F:%.+]] = tile.reshape %e : !tile.tile<b0=8 x w6=8 x f32> to !tile.tile<b0=8 x 8 x f32>
// CHECK: tile.take_along [[F]], {{%.+}} dim 1 {triton.inside}
// CHECK: %r = triton.retag {{%.+}} : !tile.tile<b0=8 x 2 x 4 x f32> to !tile.tile<b0=8 x 2 x w3=4 x f32>
func.func @reshape(%x: memref<16x6xf32>, %z: memref<16x2x3xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %v = tile.load %x[%i, :] : memref<16x6xf32> -> !tile.tile<b0=8 x 6 x f32>
    %e = tile.exp %v : !tile.tile<b0=8 x 6 x f32>
    %r = tile.reshape %e : !tile.tile<b0=8 x 6 x f32> to !tile.tile<b0=8 x 2 x 3 x f32>
    tile.store %r, %z[%i, :, :] : !tile.tile<b0=8 x 2 x 3 x f32>, memref<16x2x3xf32>
  }
  func.return
}

// -----

func.func @ragged(%x: memref<50x6xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=16) in (50) {
    %v = tile.load %x[%i, :] : memref<50x6xf32> -> !tile.tile<b0=16 x 6 x f32>
    // expected-error @+1 {{'tile.reshape' moves lanes of b0, whose last block may be ragged: Triton has no form for it}}
    %c = tile.reshape %v : !tile.tile<b0=16 x 6 x f32> to !tile.tile<96 x f32>
    %s = tile.reduce add %c [0] : !tile.tile<96 x f32>
    tile.store %s, %out[0] : !tile.tile<f32>, memref<8xf32>
  }
  func.return
}

// -----

func.func @steps(%x: memref<50x16xf32>, %n: memref<8xi32>) {
  tile.grid (%i: b0=8) in (8) {
    %r = tile.load %n[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
    // expected-error @+1 {{a strided slice beside gathered rows has no Triton form}}
    %v = tile.load %x[%r, 0:15:3] : memref<50x16xf32> -> !tile.tile<b0=8 x 5 x f32>
    tile.store %v, %x[%r, 0:5] : !tile.tile<b0=8 x 5 x f32>, memref<50x16xf32>
  }
  func.return
}

// -----

// Updates of a dimension that is no power of two update its lanes alone.
// CHECK-LABEL: func.func @updates
// CHECK: [[W:%.+]] = tile.whole 20
// CHECK: atomic.rmw add {{%.+}}, %x[%i, [[W]]] ordering release
// CHECK: atomic.cas {{%.+}}, {{%.+}}, %x[%i, [[W]]]
func.func @updates(%x: memref<4x20xf32>) {
  tile.grid (%i: b0=4) in (4) {
    %v = tile.full 1.0 : !tile.tile<b0=4 x 20 x f32>
    %old = atomic.rmw add %v, %x[%i, :] ordering release : !tile.tile<b0=4 x 20 x f32>, memref<4x20xf32> -> !tile.tile<b0=4 x 20 x f32>
    %was = atomic.cas %v, %old, %x[%i, :] : !tile.tile<b0=4 x 20 x f32>, memref<4x20xf32>
  }
  func.return
}

// -----

// A block that is alone in its loop is widened where it stands, ranges and all; whole dimensions may take its tag.
// CHECK-LABEL: func.func @block
// CHECK: [[W:%.+]] = tile.whole 12 : !tile.range<w12=16>
// CHECK: tile.for %i: b0=16 in (
// CHECK: tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=16 x f32>
// CHECK: [[T:%.+]] = triton.retag %{{.+}} : !tile.tile<w12=16 x f32> to !tile.tile<b0=16 x f32>
// CHECK-NEXT: tile.broadcast [[T]] dims [0] : !tile.tile<b0=16 x f32> to !tile.tile<b0=16 x f32>
func.func @block(%x: memref<50xf32>, %y: memref<12xf32>) {
  tile.grid (%n: b0_block=1) in (5) {
    %b = tile.begin %n : !tile.range<b0_block=1>
    %twelve = arith.constant 12 : index
    %lo = arith.muli %b, %twelve : index
    %hi = arith.addi %lo, %twelve : index
    tile.for %i: b0=12 in (%lo, %hi) {
      %v = tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=12 x f32>
      %w = tile.load %y[:] : memref<12xf32> -> !tile.tile<12 x f32>
      %t = tile.broadcast %w dims [0] : !tile.tile<12 x f32> to !tile.tile<b0=12 x f32>
      %s = tile.add %v, %t : !tile.tile<b0=12 x f32>
      tile.store %s, %x[%i] : !tile.tile<b0=12 x f32>, memref<50xf32>
    }
  }
  func.return
}

// -----

func.func @parts(%x: memref<4x20xf32>, %y: memref<4x16xf32>) {
  tile.grid (%i: b0=4) in (4) {
    %v = tile.load %x[%i, :] : memref<4x20xf32> -> !tile.tile<b0=4 x 20 x f32>
    // expected-error @+1 {{'tile.slice' is of a dimension that is no power of two}}
    %w = tile.slice %v [0, 4] [4, 16] [1, 1] : !tile.tile<b0=4 x 20 x f32> to !tile.tile<b0=4 x 16 x f32>
    tile.store %w, %y[%i, :] : !tile.tile<b0=4 x 16 x f32>, memref<4x16xf32>
  }
  func.return
}

// -----

func.func @whole(%x: memref<4x4xf32>, %y: memref<4x8xf32>, %z: memref<4x12xf32>) {
  tile.grid (%i: b0=4) in (4) {
    %v = tile.load %x[%i, :] : memref<4x4xf32> -> !tile.tile<b0=4 x 4 x f32>
    %w = tile.load %y[%i, :] : memref<4x8xf32> -> !tile.tile<b0=4 x 8 x f32>
    // expected-error @+1 {{'tile.concat' is of a dimension that is no power of two}}
    %c = tile.concat %v, %w dim 1 : !tile.tile<b0=4 x 4 x f32>, !tile.tile<b0=4 x 8 x f32> to !tile.tile<b0=4 x 12 x f32>
    tile.store %c, %z[%i, :] : !tile.tile<b0=4 x 12 x f32>, memref<4x12xf32>
  }
  func.return
}

// -----

// Parts of other dimensions stay.
// CHECK-LABEL: func.func @other_parts
// CHECK-NEXT: tile.grid (%i: b0=4) in (4) {
// CHECK-NEXT: %lanes = tile.whole 20 : !tile.range<w20=32>
// CHECK-NEXT: %v = tile.load %x[%i, %lanes, :] : memref<4x20x8xf32> -> !tile.tile<b0=4 x w20=32 x 8 x f32>
// CHECK-NEXT: %r = tile.reduce add %v [1] : !tile.tile<b0=4 x w20=32 x 8 x f32>
// CHECK-NEXT: %w = tile.slice %r [0, 4] [4, 4] [1, 1] : !tile.tile<b0=4 x 8 x f32> to !tile.tile<b0=4 x 4 x f32>
// CHECK-NEXT: tile.store %w, %z[%i, :] : !tile.tile<b0=4 x 4 x f32>, memref<4x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @other_parts(%x: memref<4x20x8xf32>, %y: memref<4x8xf32>, %z: memref<4x4xf32>) {
  tile.grid (%i: b0=4) in (4) {
    %v = tile.load %x[%i, :, :] : memref<4x20x8xf32> -> !tile.tile<b0=4 x 20 x 8 x f32>
    %r = tile.reduce add %v [1] : !tile.tile<b0=4 x 20 x 8 x f32>
    %w = tile.slice %r [0, 4] [4, 4] [1, 1] : !tile.tile<b0=4 x 8 x f32> to !tile.tile<b0=4 x 4 x f32>
    tile.store %w, %z[%i, :] : !tile.tile<b0=4 x 4 x f32>, memref<4x4xf32>
  }
  func.return
}
