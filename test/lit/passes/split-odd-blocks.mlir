// RUN: kopt %s --split-input-file --verify-diagnostics --verify-each -p split-odd-blocks | filecheck %s

// Blocks of 12 become a loop over their numbers around one block that ends where the next begins.
// CHECK-LABEL: func.func @odd
// CHECK: tile.grid ([[B:%.+]]: b0_block=1) in (5) {
// CHECK-NEXT: [[N:%.+]] = tile.begin [[B]]
// CHECK-NEXT: [[T:%.+]] = arith.constant 12 : index
// CHECK-NEXT: [[LO:%.+]] = arith.muli [[N]], [[T]]
// CHECK: [[HI:%.+]] = arith.minsi
// CHECK-NEXT: tile.for %i: b0=12 in ([[LO]], [[HI]]) {
// CHECK-NEXT: tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=12 x f32>
func.func @odd(%x: memref<50xf32>) {
  tile.grid (%i: b0=12) in (50) {
    %v = tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=12 x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=12 x f32>, memref<50xf32>
  }
  func.return
}

// -----

// A loop gives what it carries; its number counts the loop around it.
// CHECK-LABEL: func.func @loop
// CHECK: %s = tile.for %k_block: b1_block=1 in (0, 9) iter(%s_1 = %zero)
// CHECK-NEXT: tile.begin %k_block
// CHECK: %s_2 = tile.for %k: b1=12 in ({{.+}}, {{.+}}) iter(%t = %s_1)
// CHECK: tile.yield %s_2
func.func @loop(%x: memref<16x100xf32>, %out: memref<16xf32>) {
  tile.grid (%i: b0=16) in (16) {
    %zero = tile.full 0.0 : !tile.tile<b0=16 x f32>
    %s = tile.for %k: b1=12 in (0, 100) iter (%t = %zero) -> (!tile.tile<b0=16 x f32>) {
      %v = tile.load %x[%i, %k] : memref<16x100xf32> -> !tile.tile<b0=16 x b1=12 x f32>
      %r = tile.reduce add %v [1] : !tile.tile<b0=16 x b1=12 x f32>
      %u = tile.add %t, %r : !tile.tile<b0=16 x f32>
      tile.yield %u : !tile.tile<b0=16 x f32>
    }
    tile.store %s, %out[%i] : !tile.tile<b0=16 x f32>, memref<16xf32>
  }
  func.return
}

// -----

// A block that nobody takes the lanes of has no loop: its begin, end and number are values. All blocks are full here.
// CHECK-LABEL: func.func @numbers
// CHECK: tile.grid ([[B:%.+]]: b0_block=1) in (5) {
// CHECK: [[LO:%.+]] = arith.muli
// CHECK-NOT: arith.minsi
// CHECK: [[HI:%.+]] = arith.addi [[LO]]
// CHECK-NOT: b0=12
// CHECK: tile.for %k: b1=4 in ([[LO]], [[HI]]) {
func.func @numbers(%x: memref<60xf32>) {
  tile.grid (%i: b0=12) in (60) {
    %lo = tile.begin %i : !tile.range<b0=12>
    %hi = tile.end %i : !tile.range<b0=12>
    tile.for %k: b1=4 in (%lo, %hi) {
      %v = tile.load %x[%k] : memref<60xf32> -> !tile.tile<b1=4 x f32>
      tile.store %v, %x[%k] : !tile.tile<b1=4 x f32>, memref<60xf32>
    }
  }
  func.return
}

// -----

// In a loop, too, which gives what it carries.
// CHECK-LABEL: func.func @counted
// CHECK: %s = tile.for %k_block: b1_block=1 in (0, 9) iter(%s_1 = %zero)
// CHECK-NOT: tile.for
// CHECK: tile.yield
func.func @counted(%out: memref<1xi32>) {
  tile.grid (%i: b0=1) in (1) {
    %zero = arith.constant 0 : index
    %s = tile.for %k: b1=12 in (0, 100) iter (%t = %zero) -> (index) {
      %hi = tile.end %k : !tile.range<b1=12>
      %u = arith.addi %t, %hi : index
      tile.yield %u : index
    }
    %v = tile.splat %s : index to !tile.tile<b0=1 x i32>
    tile.store %v, %out[%i] : !tile.tile<b0=1 x i32>, memref<1xi32>
  }
  func.return
}

// -----

// A value may have the lanes of a block that nobody reads or writes.
// CHECK-LABEL: func.func @valued
// CHECK: tile.grid ({{.+}}: b0_block=1) in (5) {
// CHECK: tile.for %i: b0=12 in
// CHECK-NEXT: tile.full 0 : !tile.tile<b0=12 x i32>
// CHECK: tile.for %k_block: b1_block=1
// CHECK: tile.for %k: b1=12 in
// CHECK-NEXT: tile.full 0 : !tile.tile<b1=12 x i32>
func.func @valued() {
  tile.grid (%i: b0=12) in (50) {
    %z = tile.full 0 : !tile.tile<b0=12 x i32>
    tile.for %k: b1=12 in (0, 100) {
      %y = tile.full 0 : !tile.tile<b1=12 x i32>
    }
  }
  func.return
}

// -----

func.func @joined(%x: memref<20xf32>, %out: memref<8xf32>) {
  tile.grid (%i: b0=5) in (20) {
    %v = tile.load %x[%i] : memref<20xf32> -> !tile.tile<b0=5 x f32>
    // expected-error @+1 {{the lanes of a block of 5, no power of two, cannot be joined or reshaped}}
    %r = tile.reshape %v : !tile.tile<b0=5 x f32> to !tile.tile<1 x 5 x f32>
    %s = tile.reduce add %r [0, 1] : !tile.tile<1 x 5 x f32>
    tile.store %s, %out[0] : !tile.tile<f32>, memref<8xf32>
  }
  func.return
}
