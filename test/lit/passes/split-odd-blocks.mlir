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

// -----

// Between bounds that a kernel computes: the blocks' number is too, and so are they counted. What the plan said of the
// range it says of the numbers.
// CHECK-LABEL: func.func @bounds
// CHECK-NEXT: tile.grid (%i_block: b0_block=1) in (5) plan {order [i_block] parallel [i_block]} {
// CHECK-NEXT: %0 = tile.begin %i_block : !tile.range<b0_block=1>
// CHECK-NEXT: %1 = arith.constant 12 : index
// CHECK-NEXT: %2 = arith.muli %0, %1 : index
// CHECK-NEXT: %3 = arith.constant 12 : index
// CHECK-NEXT: %4 = arith.addi %2, %3 : index
// CHECK-NEXT: %b = tile.load %n[0] : memref<1xi32> -> !tile.tile<i32>
// CHECK-NEXT: %from = tile.extract %b : !tile.tile<i32> to index
// CHECK-NEXT: %e = tile.load %m[0] : memref<1xi32> -> !tile.tile<i32>
// CHECK-NEXT: %to = tile.extract %e : !tile.tile<i32> to index
// CHECK-NEXT: %at = tile.begin %i_block : !tile.range<b0_block=1>
// CHECK-NEXT: %all = arith.constant 5 : index
// CHECK-NEXT: %zero = arith.constant 0 : index
// CHECK-NEXT: %5 = arith.subi %to, %from : index
// CHECK-NEXT: %6 = arith.constant 5 : index
// CHECK-NEXT: %c = arith.ceildivsi %5, %6 : index
// CHECK-NEXT: %s = tile.for %k_block: b1_block=1 in (0, %c) iter(%s_1 = %zero) -> (index) {
// CHECK-NEXT: %7 = tile.begin %k_block : !tile.range<b1_block=1>
// CHECK-NEXT: %8 = arith.constant 5 : index
// CHECK-NEXT: %9 = arith.muli %7, %8 : index
// CHECK-NEXT: %10 = arith.addi %9, %from : index
// CHECK-NEXT: %11 = arith.constant 5 : index
// CHECK-NEXT: %12 = arith.addi %10, %11 : index
// CHECK-NEXT: %13 = arith.minsi %12, %to : index
// CHECK-NEXT: %s_2 = tile.for %k: b1=5 in (%10, %13) iter(%t = %s_1) -> (index) {
// CHECK-NEXT: %d = tile.begin %k_block : !tile.range<b1_block=1>
// CHECK-NEXT: %u = arith.addi %c, %d : index
// CHECK-NEXT: %w = arith.addi %u, %t : index
// CHECK-NEXT: %v = tile.load %x[%k] : memref<100xf32> -> !tile.tile<b1=5 x f32>
// CHECK-NEXT: tile.store %v, %x[%k] : !tile.tile<b1=5 x f32>, memref<100xf32>
// CHECK-NEXT: tile.yield %w : index
// CHECK-NEXT: }
// CHECK-NEXT: tile.yield %s_2 : index
// CHECK-NEXT: }
// CHECK-NEXT: %p = arith.addi %at, %all : index
// CHECK-NEXT: %q = arith.addi %p, %s : index
// CHECK-NEXT: %r = tile.splat %q : index to !tile.tile<i32>
// CHECK-NEXT: tile.store %r, %out[0] : !tile.tile<i32>, memref<1xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @bounds(%x: memref<100xf32>, %n: memref<1xi32>, %m: memref<1xi32>, %out: memref<1xi32>) {
  tile.grid (%i: b0=12) in (60) plan {order [i] parallel [i]} {
    %b = tile.load %n[0] : memref<1xi32> -> !tile.tile<i32>
    %from = tile.extract %b : !tile.tile<i32> to index
    %e = tile.load %m[0] : memref<1xi32> -> !tile.tile<i32>
    %to = tile.extract %e : !tile.tile<i32> to index
    %at = tile.id %i : !tile.range<b0=12>
    %all = tile.count %i : !tile.range<b0=12>
    %zero = arith.constant 0 : index
    %s = tile.for %k: b1=5 in (%from, %to) iter(%t = %zero) -> (index) {
      %c = tile.count %k : !tile.range<b1=5>
      %d = tile.id %k : !tile.range<b1=5>
      %u = arith.addi %c, %d : index
      %w = arith.addi %u, %t : index
      %v = tile.load %x[%k] : memref<100xf32> -> !tile.tile<b1=5 x f32>
      tile.store %v, %x[%k] : !tile.tile<b1=5 x f32>, memref<100xf32>
      tile.yield %w : index
    }
    %p = arith.addi %at, %all : index
    %q = arith.addi %p, %s : index
    %r = tile.splat %q : index to !tile.tile<i32>
    tile.store %r, %out[0] : !tile.tile<i32>, memref<1xi32>
  }
  func.return
}

// -----

// A loop between numbers has none where it begins behind its end.
// CHECK-LABEL: func.func @no_blocks
// CHECK-NEXT: tile.grid (%i: b0=1) in (1) {
// CHECK-NEXT: tile.for %k_block: b1_block=1 in (0, 0) {
// CHECK-NEXT: %0 = tile.begin %k_block : !tile.range<b1_block=1>
// CHECK-NEXT: %1 = arith.constant 5 : index
// CHECK-NEXT: %2 = arith.muli %0, %1 : index
// CHECK-NEXT: %3 = arith.constant 60 : index
// CHECK-NEXT: %4 = arith.addi %2, %3 : index
// CHECK-NEXT: %5 = arith.constant 5 : index
// CHECK-NEXT: %6 = arith.addi %4, %5 : index
// CHECK-NEXT: %7 = arith.constant 53 : index
// CHECK-NEXT: %8 = arith.minsi %6, %7 : index
// CHECK-NEXT: tile.for %k: b1=5 in (%4, %8) {
// CHECK-NEXT: %c = arith.constant 0 : index
// CHECK-NEXT: %r = tile.splat %c : index to !tile.tile<i32>
// CHECK-NEXT: tile.store %r, %out[0] : !tile.tile<i32>, memref<1xi32>
// CHECK-NEXT: %v = tile.load %x[%k] : memref<100xf32> -> !tile.tile<b1=5 x f32>
// CHECK-NEXT: tile.store %v, %x[%k] : !tile.tile<b1=5 x f32>, memref<100xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: tile.for %l_block: b2_block=1 in (0, 4) {
// CHECK-NEXT: %9 = tile.begin %l_block : !tile.range<b2_block=1>
// CHECK-NEXT: %10 = arith.constant 5 : index
// CHECK-NEXT: %11 = arith.muli %9, %10 : index
// CHECK-NEXT: %12 = arith.constant 3 : index
// CHECK-NEXT: %13 = arith.addi %11, %12 : index
// CHECK-NEXT: %14 = arith.constant 5 : index
// CHECK-NEXT: %15 = arith.addi %13, %14 : index
// CHECK-NEXT: %16 = arith.constant 19 : index
// CHECK-NEXT: %17 = arith.minsi %15, %16 : index
// CHECK-NEXT: %c_1 = arith.constant 4 : index
// CHECK-NEXT: %r_1 = tile.splat %c_1 : index to !tile.tile<i32>
// CHECK-NEXT: tile.store %r_1, %out[0] : !tile.tile<i32>, memref<1xi32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @no_blocks(%x: memref<100xf32>, %out: memref<1xi32>) {
  tile.grid (%i: b0=1) in (1) {
    tile.for %k: b1=5 in (60, 53) {
      %c = tile.count %k : !tile.range<b1=5>
      %r = tile.splat %c : index to !tile.tile<i32>
      tile.store %r, %out[0] : !tile.tile<i32>, memref<1xi32>
      %v = tile.load %x[%k] : memref<100xf32> -> !tile.tile<b1=5 x f32>
      tile.store %v, %x[%k] : !tile.tile<b1=5 x f32>, memref<100xf32>
    }
    tile.for %l: b2=5 in (3, 19) {
      %c = tile.count %l : !tile.range<b2=5>
      %r = tile.splat %c : index to !tile.tile<i32>
      tile.store %r, %out[0] : !tile.tile<i32>, memref<1xi32>
    }
  }
  func.return
}

// -----

func.func @taken(%x: memref<60xf32>) {
  // expected-error @+1 {{the blocks of 'b0', of 12 lanes, are numbered under the tag 'b0_block', which is taken}}
  tile.grid (%i: b0=12, %j: b0_block=1) in (60, 2) {
    %v = tile.load %x[%i] : memref<60xf32> -> !tile.tile<b0=12 x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=12 x f32>, memref<60xf32>
  }
  func.return
}
