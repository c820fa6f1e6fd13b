// RUN: kopt %s --split-input-file --verify-diagnostics -p pad-to-power-of-two | filecheck %s

// A plain dimension becomes a wider range over it; a slice is the range of its length, shifted; 64 stays.
// CHECK-LABEL: func.func @plain
// CHECK: tile.grid (%i: b0=8) in (16) {
// CHECK-NEXT: %w20 = tile.whole 20 : !tile.range<w20=32>
// CHECK-NEXT: %w100 = tile.whole 100 : !tile.range<w100=128>
// CHECK-NEXT: %v = tile.load %x[%i, %w100] : memref<16x100xf32> -> !tile.tile<b0=8 x w100=128 x f32>
// CHECK-NEXT: %s = tile.reduce add %v [1] : !tile.tile<b0=8 x w100=128 x f32>
// CHECK-NEXT: %c = tile.load %x[%i, 0:64] : memref<16x100xf32> -> !tile.tile<b0=8 x 64 x f32>
// CHECK-NEXT: [[AT:%.+]] = arith.constant 80 : index
// CHECK-NEXT: [[SHIFTED:%.+]] = tile.shift %w20 by [[AT]] : !tile.range<w20=32>
// CHECK-NEXT: %d = tile.load %x[%i, [[SHIFTED]]] : memref<16x100xf32> -> !tile.tile<b0=8 x w20=32 x f32>
// CHECK: tile.store %d, %y[%i, %w20] : !tile.tile<b0=8 x w20=32 x f32>, memref<16x20xf32>
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

// A concatenation that is stored becomes two stores, a slice of a load a load of the slice.
// CHECK-LABEL: func.func @memory
// CHECK: tile.store %a, %out[%i, %w6]
// CHECK: [[AT:%.+]] = arith.constant 6 : index
// CHECK-NEXT: [[REST:%.+]] = tile.shift %w5 by [[AT]]
// CHECK-NEXT: tile.store %b, %out[%i, [[REST]]]
// CHECK-NOT: tile.concat
func.func @memory(%x: memref<16x6xf32>, %y: memref<16x10xf32>, %out: memref<16x11xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %a = tile.load %x[%i, :] : memref<16x6xf32> -> !tile.tile<b0=8 x 6 x f32>
    %w = tile.load %y[%i, :] : memref<16x10xf32> -> !tile.tile<b0=8 x 10 x f32>
    %b = tile.slice %w [0, 1] [8, 5] [1, 2] : !tile.tile<b0=8 x 10 x f32> to !tile.tile<b0=8 x 5 x f32>
    %c = tile.concat %a, %b dim 1 : !tile.tile<b0=8 x 6 x f32>, !tile.tile<b0=8 x 5 x f32> to !tile.tile<b0=8 x 11 x f32>
    tile.store %c, %out[%i, :] : !tile.tile<b0=8 x 11 x f32>, memref<16x11xf32>
  }
  func.return
}

// -----

// What must be kept in tiles is picked by lane number.
// CHECK-LABEL: func.func @picks
// CHECK: [[A:%.+]] = tile.arange 1, 2 : !tile.tile<w3=4 x i32>
// CHECK: [[N:%.+]] = tile.broadcast [[A]] dims [1]
// CHECK: %s = tile.take_along %e, [[N]] dim 1 {triton.inside} : !tile.tile<b0=8 x w6=8 x f32>, !tile.tile<b0=8 x w3=4 x i32>
// CHECK: [[F:%.+]] = tile.reshape %e : !tile.tile<b0=8 x w6=8 x f32> to !tile.tile<b0=8 x 8 x f32>
// CHECK: tile.take_along [[F]], {{%.+}} dim 1
// CHECK: %r = triton.retag {{%.+}} : !tile.tile<b0=8 x 2 x 4 x f32> to !tile.tile<b0=8 x 2 x w3=4 x f32>
func.func @picks(%x: memref<16x6xf32>, %y: memref<16x3xf32>, %z: memref<16x2x3xf32>) {
  tile.grid (%i: b0=8) in (16) {
    %v = tile.load %x[%i, :] : memref<16x6xf32> -> !tile.tile<b0=8 x 6 x f32>
    %e = tile.exp %v : !tile.tile<b0=8 x 6 x f32>
    %s = tile.slice %e [0, 1] [8, 3] [1, 2] : !tile.tile<b0=8 x 6 x f32> to !tile.tile<b0=8 x 3 x f32>
    tile.store %s, %y[%i, :] : !tile.tile<b0=8 x 3 x f32>, memref<16x3xf32>
    %r = tile.reshape %e : !tile.tile<b0=8 x 6 x f32> to !tile.tile<b0=8 x 2 x 3 x f32>
    tile.store %r, %z[%i, :, :] : !tile.tile<b0=8 x 2 x 3 x f32>, memref<16x2x3xf32>
  }
  func.return
}

// -----

// Blocks of 12 become a loop over their numbers around one block of 16 that ends where the 12 did.
// CHECK-LABEL: func.func @odd
// CHECK: tile.grid ([[B:%.+]]: b0_block=1) in (5) {
// CHECK-NEXT: [[N:%.+]] = tile.begin [[B]]
// CHECK-NEXT: [[T:%.+]] = arith.constant 12 : index
// CHECK-NEXT: [[LO:%.+]] = arith.muli [[N]], [[T]]
// CHECK: [[HI:%.+]] = arith.minsi
// CHECK-NEXT: tile.for %i: b0=16 in ([[LO]], [[HI]]) {
// CHECK-NEXT: tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=16 x f32>
func.func @odd(%x: memref<50xf32>) {
  tile.grid (%i: b0=12) in (50) {
    %v = tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=12 x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=12 x f32>, memref<50xf32>
  }
  func.return
}

// -----

func.func @ragged(%x: memref<50xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=16) in (50) {
    %v = tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=16 x f32>
    // expected-error @+1 {{'tile.concat' moves lanes of b0, whose last block may be ragged: Triton has no form for it}}
    %c = tile.concat %v, %v dim 0 : !tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32> to !tile.tile<32 x f32>
    %s = tile.reduce add %c [0] : !tile.tile<32 x f32>
    tile.store %s, %out[0] : !tile.tile<f32>, memref<8xf32>
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

// A block of 5 rows that becomes one of 8 is taken whole still.
// CHECK-LABEL: func.func @slice_of_odd_blocks
// CHECK: tile.for %i: b0=8
// CHECK: %s = tile.take_along %n, %{{.+}} dim 1 {triton.inside} : !tile.tile<b0=8 x 16 x f32>
// CHECK-NOT: tile.take_along
// CHECK: tile.store %s, %y[%i, :] : !tile.tile<b0=8 x 4 x f32>, memref<20x4xf32>
func.func @slice_of_odd_blocks(%x: memref<20x16xf32>, %y: memref<20x4xf32>) {
  tile.grid (%i: b0=5) in (20) {
    %v = tile.load %x[%i, :] : memref<20x16xf32> -> !tile.tile<b0=5 x 16 x f32>
    %n, %p = tile.sort %v dim 1 : !tile.tile<b0=5 x 16 x f32>
    %s = tile.slice %n [0, 3] [5, 4] [1, 1] : !tile.tile<b0=5 x 16 x f32> to !tile.tile<b0=5 x 4 x f32>
    tile.store %s, %y[%i, :] : !tile.tile<b0=5 x 4 x f32>, memref<20x4xf32>
  }
  func.return
}
