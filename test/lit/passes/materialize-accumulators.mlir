// RUN: kopt %s --split-input-file --verify-each --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,order-grid,materialize-accumulators)' | filecheck %s

// A fresh array: its fill is known, so it is only written. The product is added before it is rounded.
// CHECK-LABEL: func.func @fresh
// CHECK: [[ACC:%.+]] = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
// CHECK-NEXT: tile.grid (%i: b1=8, %s: b0=2) in (16, 64) reduce [1] {
// CHECK-NEXT: tile.when first(%s) {
// CHECK-NEXT: [[Z:%.+]] = tile.full 1.0 : !tile.tile<b1=8 x 128 x f32>
// CHECK-NEXT: tile.put [[Z]], [[ACC]][:, :]
// CHECK-NEXT: }
// CHECK: [[A:%.+]] = tile.reduce add
// CHECK-NEXT: [[OLD:%.+]] = tile.get [[ACC]][:, :]
// CHECK-NEXT: [[NEW:%.+]] = tile.add [[OLD]], [[A]]
// CHECK-NEXT: tile.put [[NEW]], [[ACC]][:, :]
// CHECK-NEXT: tile.when last(%s) {
// CHECK-NEXT: [[R:%.+]] = tile.get [[ACC]][:, :]
// CHECK-NEXT: [[N:%.+]] = tile.cast [[R]]
// CHECK-NEXT: tile.store [[N]], {{%.+}}[%i, :]
// CHECK-NOT: atomic.rmw
func.func @fresh(%x: memref<64x16x128xf32>) -> memref<16x128xbf16> {
  %out = host.alloc fill 1.0 : memref<16x128xbf16>
  tile.grid (%s: b0=2, %i: b1=8) in (64, 16) {
    %v = tile.load %x[%s, %i, :] : memref<64x16x128xf32> -> !tile.tile<b0=2 x b1=8 x 128 x f32>
    %a = tile.reduce add %v [0] : !tile.tile<b0=2 x b1=8 x 128 x f32>
    %c = tile.cast %a : !tile.tile<b1=8 x 128 x f32> to !tile.tile<b1=8 x 128 x bf16>
    atomic.rmw add %c, %out[%i, :] : !tile.tile<b1=8 x 128 x bf16>, memref<16x128xbf16>
  }
  func.return %out : memref<16x128xbf16>
}

// -----

// What memory holds is loaded first; a masked maximum selects, and the two targets share their phases.
// CHECK-LABEL: func.func @given
// CHECK: tile.when first(%s) {
// CHECK: tile.load {{%.+}}[:]
// CHECK: tile.load {{%.+}}[:]
// CHECK-NEXT: tile.put
// CHECK-NEXT: }
// CHECK: [[OLD:%.+]] = tile.get [[ACC:%.+]][:]
// CHECK-NEXT: [[MAX:%.+]] = tile.maximum [[OLD]], %v
// CHECK-NEXT: [[NEW:%.+]] = tile.select {{%.+}}, [[MAX]], [[OLD]]
// CHECK-NEXT: tile.put [[NEW]], [[ACC]][:]
// CHECK: tile.when last(%s) {
func.func @given(%x: memref<64x128xf32>, %top: memref<128xf32>, %sum: memref<128xf32>) {
  tile.grid (%s: b0=1) in (64) {
    %n = tile.begin %s : !tile.range<b0=1>
    %v = tile.load %x[%n, :] : memref<64x128xf32> -> !tile.tile<128 x f32>
    %z = tile.full 0.0 : !tile.tile<128 x f32>
    %m = tile.gt %v, %z : !tile.tile<128 x f32>
    atomic.rmw max %v, %top[:] mask %m : !tile.tile<128 x f32>, memref<128xf32>
    atomic.rmw add %v, %sum[:] : !tile.tile<128 x f32>, memref<128xf32>
  }
  func.return
}

// -----

// One lane by number: all lanes are read, and one selected. Its previous value is picked out.
// CHECK-LABEL: func.func @lane
// CHECK: [[OLD:%.+]] = tile.get [[ACC:%.+]][:]
// CHECK: [[NEW:%.+]] = tile.add [[OLD]]
// CHECK: [[LANES:%.+]] = tile.arange 0, 1 : !tile.tile<300 x i32>
// CHECK: [[KEPT:%.+]] = tile.eq [[LANES]]
// CHECK-NEXT: [[S:%.+]] = tile.select [[KEPT]], [[NEW]], [[OLD]]
// CHECK-NEXT: tile.put [[S]], [[ACC]][:]
// CHECK: tile.reduce add
func.func @lane(%at: memref<12xi32>, %count: memref<300xi32>, %out: memref<12xi32>) {
  tile.grid (%i: b0=1) in (12) {
    %n = tile.begin %i : !tile.range<b0=1>
    %t = tile.load %at[%n] : memref<12xi32> -> !tile.tile<i32>
    %r = tile.extract %t : !tile.tile<i32> to index
    %one = tile.full 1 : !tile.tile<i32>
    %p = atomic.rmw add %one, %count[%r] : !tile.tile<i32>, memref<300xi32> -> !tile.tile<i32>
    tile.store %p, %out[%n] : !tile.tile<i32>, memref<12xi32>
  }
  func.return
}

// -----

func.func @wide(%count: memref<128xi64>) {
  tile.grid (%i: b0=1) in (12) {
    %one = tile.full 1 : !tile.tile<128 x i64>
    // expected-error @+1 {{a TPU cannot update 'count' atomically: it has no arithmetic on i64}}
    atomic.rmw add %one, %count[:] : !tile.tile<128 x i64>, memref<128xi64>
  }
  func.return
}

// -----

func.func @gathered(%at: memref<12xi32>, %count: memref<300xi32>) {
  tile.grid (%i: b0=4) in (12) {
    %one = tile.full 1 : !tile.tile<b0=4 x i32>
    %n = tile.load %at[%i] : memref<12xi32> -> !tile.tile<b0=4 x i32>
    // expected-error @+1 {{an update of 'count' at gathered places}}
    atomic.rmw add %one, %count[%n] : !tile.tile<b0=4 x i32>, memref<300xi32>
  }
  func.return
}

// -----

// What a cell may update is everything: its previous value says where the next update goes.
func.func @large(%x: memref<64x16384xf32>, %out: memref<16384x16384xf32>, %seen: memref<64x16384xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :] : memref<64x16384xf32> -> !tile.tile<b0=8 x 16384 x f32>
    %b = tile.begin %i : !tile.range<b0=8>
    %c = arith.constant 7 : index
    %n = arith.remsi %b, %c : index
    %w = tile.reduce add %v [0] : !tile.tile<b0=8 x 16384 x f32>
    // expected-error @+1 {{an update of 'out' needs 3,072 MiB of VMEM for a block of 16384 x 16384: tpu7x has 64 MiB}}
    %p = atomic.rmw add %w, %out[%n, :] : !tile.tile<16384 x f32>, memref<16384x16384xf32> -> !tile.tile<16384 x f32>
    tile.store %p, %seen[%n, :] : !tile.tile<16384 x f32>, memref<64x16384xf32>
  }
  func.return
}

// -----

// Arrays whose elements have no meaning yet start at 0: one that the launch yields, one of which it takes the memory
// alone, whatever that was filled with, and one that was allocated. One that was filled with a number starts there.
// CHECK-LABEL: func.func @starts
// CHECK: tile.when first(%s) {
// CHECK-NEXT: [[A:%.+]] = tile.full 5.0
// CHECK-NEXT: tile.put [[A]], %filled_acc
// CHECK-NEXT: [[B:%.+]] = tile.full 0.0
// CHECK-NEXT: tile.put [[B]], %taken_acc
// CHECK-NEXT: [[C:%.+]] = tile.full 0.0
// CHECK-NEXT: tile.put [[C]], %fresh_acc
// CHECK-NEXT: [[D:%.+]] = tile.full 0.0
// CHECK-NEXT: tile.put [[D]], %new_acc
// CHECK-NEXT: }
func.func @starts(%x: memref<64x128xf32>) -> (memref<128xf32>, memref<128xf32>, memref<128xf32>, memref<128xf32>) {
  %five = host.alloc fill 5.0 : memref<128xf32>
  %six = host.alloc fill 6.0 : memref<128xf32>
  %none = host.alloc : memref<128xf32>
  %r:4 = host.launch @starts (%x_1 = %x, %filled = %five, %taken = %six, %fresh = %none) writes [1, 2, 3] donates [2] yields (%new : memref<128xf32>) : (memref<64x128xf32>, memref<128xf32>, memref<128xf32>, memref<128xf32>) -> (memref<128xf32>, memref<128xf32>, memref<128xf32>, memref<128xf32>) {
    tile.grid (%s: b0=1) in (64) {
      %n = tile.begin %s : !tile.range<b0=1>
      %v = tile.load %x_1[%n, :] : memref<64x128xf32> -> !tile.tile<128 x f32>
      atomic.rmw add %v, %filled[:] : !tile.tile<128 x f32>, memref<128xf32>
      atomic.rmw add %v, %taken[:] : !tile.tile<128 x f32>, memref<128xf32>
      atomic.rmw add %v, %fresh[:] : !tile.tile<128 x f32>, memref<128xf32>
      atomic.rmw add %v, %new[:] : !tile.tile<128 x f32>, memref<128xf32>
    }
  }
  func.return %r#0, %r#1, %r#2, %r#3 : memref<128xf32>, memref<128xf32>, memref<128xf32>, memref<128xf32>
}

// -----

// The mask of an update at one lane by number is spread as its value is: the lanes that both name are written.
// CHECK-LABEL: func.func @masks
// CHECK-NEXT: %out_1 = host.launch @masks (%x_1 = %x, %at_1 = %at, %out_2 = %out) writes [2] : (memref<64x8xf32>, memref<64xi32>, memref<8x300xf32>) -> memref<8x300xf32> {
// CHECK-NEXT: %out_acc = pallas.scratch : !tile.ref<8 x 300 x f32, vmem>
// CHECK-NEXT: tile.grid (%s: b0=1) in (64) reduce [0] {
// CHECK-NEXT: tile.when first(%s) {
// CHECK-NEXT: %old = tile.load %out_2[:, :] : memref<8x300xf32> -> !tile.tile<8 x 300 x f32>
// CHECK-NEXT: tile.put %old, %out_acc[:, :] : !tile.tile<8 x 300 x f32>, !tile.ref<8 x 300 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: %n = tile.begin %s : !tile.range<b0=1>
// CHECK-NEXT: %v = tile.load %x_1[%n, :] : memref<64x8xf32> -> !tile.tile<8 x f32>
// CHECK-NEXT: %t = tile.load %at_1[%n] : memref<64xi32> -> !tile.tile<i32>
// CHECK-NEXT: %r = tile.extract %t : !tile.tile<i32> to index
// CHECK-NEXT: %z = tile.full 0.0 : !tile.tile<8 x f32>
// CHECK-NEXT: %m = tile.gt %v, %z : !tile.tile<8 x f32>
// CHECK-NEXT: %old_1 = tile.get %out_acc[:, :] : !tile.ref<8 x 300 x f32, vmem> -> !tile.tile<8 x 300 x f32>
// CHECK-NEXT: %0 = tile.broadcast %v dims [0] : !tile.tile<8 x f32> to !tile.tile<8 x 300 x f32>
// CHECK-NEXT: %1 = tile.add %old_1, %0 : !tile.tile<8 x 300 x f32>
// CHECK-NEXT: %2 = tile.cast %m : !tile.tile<8 x i1> to !tile.tile<8 x i32>
// CHECK-NEXT: %3 = tile.broadcast %2 dims [0] : !tile.tile<8 x i32> to !tile.tile<8 x 300 x i32>
// CHECK-NEXT: %4 = tile.full 0 : !tile.tile<8 x 300 x i32>
// CHECK-NEXT: %5 = tile.ne %3, %4 : !tile.tile<8 x 300 x i32>
// CHECK-NEXT: %6 = tile.arange 0, 1 : !tile.tile<300 x i32>
// CHECK-NEXT: %7 = tile.broadcast %6 dims [1] : !tile.tile<300 x i32> to !tile.tile<8 x 300 x i32>
// CHECK-NEXT: %8 = tile.splat %r : index to !tile.tile<8 x 300 x i32>
// CHECK-NEXT: %9 = tile.eq %7, %8 : !tile.tile<8 x 300 x i32>
// CHECK-NEXT: %kept = tile.and %5, %9 : !tile.tile<8 x 300 x i1>
// CHECK-NEXT: %new = tile.select %kept, %1, %old_1 : !tile.tile<8 x 300 x f32>
// CHECK-NEXT: tile.put %new, %out_acc[:, :] : !tile.tile<8 x 300 x f32>, !tile.ref<8 x 300 x f32, vmem>
// CHECK-NEXT: tile.when last(%s) {
// CHECK-NEXT: %out_3 = tile.get %out_acc[:, :] : !tile.ref<8 x 300 x f32, vmem> -> !tile.tile<8 x 300 x f32>
// CHECK-NEXT: tile.store %out_3, %out_2[:, :] : !tile.tile<8 x 300 x f32>, memref<8x300xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @masks(%x: memref<64x8xf32>, %at: memref<64xi32>, %out: memref<8x300xf32>) {
  tile.grid (%s: b0=1) in (64) {
    %n = tile.begin %s : !tile.range<b0=1>
    %v = tile.load %x[%n, :] : memref<64x8xf32> -> !tile.tile<8 x f32>
    %t = tile.load %at[%n] : memref<64xi32> -> !tile.tile<i32>
    %r = tile.extract %t : !tile.tile<i32> to index
    %z = tile.full 0.0 : !tile.tile<8 x f32>
    %m = tile.gt %v, %z : !tile.tile<8 x f32>
    atomic.rmw add %v, %out[:, %r] mask %m : !tile.tile<8 x f32>, memref<8x300xf32>
  }
  func.return
}

// -----

// A slice with a step: its lanes come out of the whole dimension by number, and go back so.
// CHECK-LABEL: func.func @step
// CHECK-NEXT: %out_1, %seen_1 = host.launch @step (%x_1 = %x, %out_2 = %out, %seen_2 = %seen) writes [1, 2] : (memref<64x40xf32>, memref<300xf32>, memref<64x40xf32>) -> (memref<300xf32>, memref<64x40xf32>) {
// CHECK-NEXT: %out_acc = pallas.scratch : !tile.ref<300 x f32, vmem>
// CHECK-NEXT: tile.grid (%s: b0=1) in (64) ordered [0] {
// CHECK-NEXT: tile.when first(%s) {
// CHECK-NEXT: %old = tile.load %out_2[:] : memref<300xf32> -> !tile.tile<300 x f32>
// CHECK-NEXT: tile.put %old, %out_acc[:] : !tile.tile<300 x f32>, !tile.ref<300 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: %n = tile.begin %s : !tile.range<b0=1>
// CHECK-NEXT: %v = tile.load %x_1[%n, :] : memref<64x40xf32> -> !tile.tile<40 x f32>
// CHECK-NEXT: %old_1 = tile.get %out_acc[:] : !tile.ref<300 x f32, vmem> -> !tile.tile<300 x f32>
// CHECK-NEXT: %0 = tile.arange 0, 1 : !tile.tile<300 x i32>
// CHECK-NEXT: %1 = tile.full 3 : !tile.tile<300 x i32>
// CHECK-NEXT: %2 = tile.floordiv %0, %1 : !tile.tile<300 x i32>
// CHECK-NEXT: %3 = tile.full 3 : !tile.tile<300 x i32>
// CHECK-NEXT: %4 = tile.sub %2, %3 : !tile.tile<300 x i32>
// CHECK-NEXT: %5 = tile.reshape %v : !tile.tile<40 x f32> to !tile.tile<40 x 1 x f32>
// CHECK-NEXT: %6 = tile.broadcast %4 dims [0] : !tile.tile<300 x i32> to !tile.tile<300 x 1 x i32>
// CHECK-NEXT: %7 = tile.take_along %5, %6 dim 0 {tile.spare} : !tile.tile<40 x 1 x f32>, !tile.tile<300 x 1 x i32>
// CHECK-NEXT: %8 = tile.reshape %7 : !tile.tile<300 x 1 x f32> to !tile.tile<300 x f32>
// CHECK-NEXT: %9 = tile.add %old_1, %8 : !tile.tile<300 x f32>
// CHECK-NEXT: %10 = tile.arange 0, 1 : !tile.tile<300 x i32>
// CHECK-NEXT: %11 = tile.full 3 : !tile.tile<300 x i32>
// CHECK-NEXT: %12 = tile.mod %10, %11 : !tile.tile<300 x i32>
// CHECK-NEXT: %13 = tile.full 0 : !tile.tile<300 x i32>
// CHECK-NEXT: %14 = tile.eq %12, %13 : !tile.tile<300 x i32>
// CHECK-NEXT: %15 = tile.full 9 : !tile.tile<300 x i32>
// CHECK-NEXT: %16 = tile.ge %10, %15 : !tile.tile<300 x i32>
// CHECK-NEXT: %17 = tile.and %14, %16 : !tile.tile<300 x i1>
// CHECK-NEXT: %18 = tile.full 128 : !tile.tile<300 x i32>
// CHECK-NEXT: %19 = tile.lt %10, %18 : !tile.tile<300 x i32>
// CHECK-NEXT: %20 = tile.and %17, %19 : !tile.tile<300 x i1>
// CHECK-NEXT: %new = tile.select %20, %9, %old_1 : !tile.tile<300 x f32>
// CHECK-NEXT: tile.put %new, %out_acc[:] : !tile.tile<300 x f32>, !tile.ref<300 x f32, vmem>
// CHECK-NEXT: %21 = tile.arange 9, 3 : !tile.tile<40 x i32>
// CHECK-NEXT: %22 = tile.reshape %old_1 : !tile.tile<300 x f32> to !tile.tile<300 x 1 x f32>
// CHECK-NEXT: %23 = tile.broadcast %21 dims [0] : !tile.tile<40 x i32> to !tile.tile<40 x 1 x i32>
// CHECK-NEXT: %24 = tile.take_along %22, %23 dim 0 : !tile.tile<300 x 1 x f32>, !tile.tile<40 x 1 x i32>
// CHECK-NEXT: %p = tile.reshape %24 : !tile.tile<40 x 1 x f32> to !tile.tile<40 x f32>
// CHECK-NEXT: tile.store %p, %seen_2[%n, :] : !tile.tile<40 x f32>, memref<64x40xf32>
// CHECK-NEXT: tile.when last(%s) {
// CHECK-NEXT: %out_3 = tile.get %out_acc[:] : !tile.ref<300 x f32, vmem> -> !tile.tile<300 x f32>
// CHECK-NEXT: tile.store %out_3, %out_2[:] : !tile.tile<300 x f32>, memref<300xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @step(%x: memref<64x40xf32>, %out: memref<300xf32>, %seen: memref<64x40xf32>) {
  tile.grid (%s: b0=1) in (64) {
    %n = tile.begin %s : !tile.range<b0=1>
    %v = tile.load %x[%n, :] : memref<64x40xf32> -> !tile.tile<40 x f32>
    %p = atomic.rmw add %v, %out[9:128:3] : !tile.tile<40 x f32>, memref<300xf32> -> !tile.tile<40 x f32>
    tile.store %p, %seen[%n, :] : !tile.tile<40 x f32>, memref<64x40xf32>
  }
  func.return
}

// -----

// A loop's block that begins anywhere: its lanes come out of the whole dimension by their index, and go back so.
// CHECK-LABEL: func.func @ragged
// CHECK-NEXT: %out_1, %seen_1 = host.launch @ragged (%x_1 = %x, %out_2 = %out, %seen_2 = %seen) writes [1, 2] : (memref<64x300xf32>, memref<300xf32>, memref<64x300xf32>) -> (memref<300xf32>, memref<64x300xf32>) {
// CHECK-NEXT: %out_acc = pallas.scratch : !tile.ref<307 x f32, vmem>
// CHECK-NEXT: tile.grid (%s: b0=1) in (64) ordered [0] {
// CHECK-NEXT: tile.when first(%s) {
// CHECK-NEXT: %old = tile.load %out_2[:] : memref<300xf32> -> !tile.tile<300 x f32>
// CHECK-NEXT: tile.put %old, %out_acc[0:300] : !tile.tile<300 x f32>, !tile.ref<307 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: %n = tile.begin %s : !tile.range<b0=1>
// CHECK-NEXT: tile.for %k: b1=8 in (%n, 300) {
// CHECK-NEXT: %v = tile.load %x_1[%n, %k] : memref<64x300xf32> -> !tile.tile<b1=8 x f32>
// CHECK-NEXT: %old_1 = tile.get %out_acc[0:300] : !tile.ref<307 x f32, vmem> -> !tile.tile<300 x f32>
// CHECK-NEXT: %0 = tile.arange 0, 1 : !tile.tile<300 x i32>
// CHECK-NEXT: %1 = tile.begin %k : !tile.range<b1=8>
// CHECK-NEXT: %2 = tile.splat %1 : index to !tile.tile<300 x i32>
// CHECK-NEXT: %3 = tile.sub %0, %2 : !tile.tile<300 x i32>
// CHECK-NEXT: %4 = tile.reshape %v : !tile.tile<b1=8 x f32> to !tile.tile<b1=8 x 1 x f32>
// CHECK-NEXT: %5 = tile.broadcast %3 dims [0] : !tile.tile<300 x i32> to !tile.tile<300 x 1 x i32>
// CHECK-NEXT: %6 = tile.take_along %4, %5 dim 0 {tile.spare} : !tile.tile<b1=8 x 1 x f32>, !tile.tile<300 x 1 x i32>
// CHECK-NEXT: %7 = tile.reshape %6 : !tile.tile<300 x 1 x f32> to !tile.tile<300 x f32>
// CHECK-NEXT: %8 = tile.add %old_1, %7 : !tile.tile<300 x f32>
// CHECK-NEXT: %9 = tile.arange 0, 1 : !tile.tile<300 x i32>
// CHECK-NEXT: %10 = tile.begin %k : !tile.range<b1=8>
// CHECK-NEXT: %11 = tile.splat %10 : index to !tile.tile<300 x i32>
// CHECK-NEXT: %12 = tile.ge %9, %11 : !tile.tile<300 x i32>
// CHECK-NEXT: %13 = tile.end %k : !tile.range<b1=8>
// CHECK-NEXT: %14 = tile.splat %13 : index to !tile.tile<300 x i32>
// CHECK-NEXT: %15 = tile.lt %9, %14 : !tile.tile<300 x i32>
// CHECK-NEXT: %16 = tile.and %12, %15 : !tile.tile<300 x i1>
// CHECK-NEXT: %new = tile.select %16, %8, %old_1 : !tile.tile<300 x f32>
// CHECK-NEXT: tile.put %new, %out_acc[0:300] : !tile.tile<300 x f32>, !tile.ref<307 x f32, vmem>
// CHECK-NEXT: %17 = tile.index %k : !tile.range<b1=8>
// CHECK-NEXT: %18 = tile.reshape %old_1 : !tile.tile<300 x f32> to !tile.tile<300 x 1 x f32>
// CHECK-NEXT: %19 = tile.broadcast %17 dims [0] : !tile.tile<b1=8 x i32> to !tile.tile<b1=8 x 1 x i32>
// CHECK-NEXT: %20 = tile.take_along %18, %19 dim 0 : !tile.tile<300 x 1 x f32>, !tile.tile<b1=8 x 1 x i32>
// CHECK-NEXT: %p = tile.reshape %20 : !tile.tile<b1=8 x 1 x f32> to !tile.tile<b1=8 x f32>
// CHECK-NEXT: tile.store %p, %seen_2[%n, %k] : !tile.tile<b1=8 x f32>, memref<64x300xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.when last(%s) {
// CHECK-NEXT: %out_3 = tile.get %out_acc[0:300] : !tile.ref<307 x f32, vmem> -> !tile.tile<300 x f32>
// CHECK-NEXT: tile.store %out_3, %out_2[:] : !tile.tile<300 x f32>, memref<300xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @ragged(%x: memref<64x300xf32>, %out: memref<300xf32>, %seen: memref<64x300xf32>) {
  tile.grid (%s: b0=1) in (64) {
    %n = tile.begin %s : !tile.range<b0=1>
    tile.for %k: b1=8 in (%n, 300) {
      %v = tile.load %x[%n, %k] : memref<64x300xf32> -> !tile.tile<b1=8 x f32>
      %p = atomic.rmw add %v, %out[%k] : !tile.tile<b1=8 x f32>, memref<300xf32> -> !tile.tile<b1=8 x f32>
      tile.store %p, %seen[%n, %k] : !tile.tile<b1=8 x f32>, memref<64x300xf32>
    }
  }
  func.return
}

// -----

// Loads of the target read the scratch block; lanes that the mask leaves out, or behind the end, have their value.
// CHECK-LABEL: func.func @loads
// CHECK-NEXT: %out_1, %seen_1 = host.launch @loads (%x_1 = %x, %out_2 = %out, %seen_2 = %seen) writes [1, 2] : (memref<64x100xf32>, memref<100xf32>, memref<64x100xf32>) -> (memref<100xf32>, memref<64x100xf32>) {
// CHECK-NEXT: %out_acc = pallas.scratch : !tile.ref<128 x f32, vmem>
// CHECK-NEXT: tile.grid (%s: b0=1) in (64) ordered [0] {
// CHECK-NEXT: tile.when first(%s) {
// CHECK-NEXT: %old = tile.load %out_2[:] : memref<100xf32> -> !tile.tile<100 x f32>
// CHECK-NEXT: tile.put %old, %out_acc[0:100] : !tile.tile<100 x f32>, !tile.ref<128 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: %n = tile.begin %s : !tile.range<b0=1>
// CHECK-NEXT: tile.for %k: b1=64 in (0, 100) {
// CHECK-NEXT: %v = tile.load %x_1[%n, %k] : memref<64x100xf32> -> !tile.tile<b1=64 x f32>
// CHECK-NEXT: %old_1 = tile.get %out_acc[0:100] : !tile.ref<128 x f32, vmem> -> !tile.tile<100 x f32>
// CHECK-NEXT: %0 = tile.arange 0, 1 : !tile.tile<100 x i32>
// CHECK-NEXT: %1 = tile.begin %k : !tile.range<b1=64>
// CHECK-NEXT: %2 = tile.splat %1 : index to !tile.tile<100 x i32>
// CHECK-NEXT: %3 = tile.sub %0, %2 : !tile.tile<100 x i32>
// CHECK-NEXT: %4 = tile.reshape %v : !tile.tile<b1=64 x f32> to !tile.tile<b1=64 x 1 x f32>
// CHECK-NEXT: %5 = tile.broadcast %3 dims [0] : !tile.tile<100 x i32> to !tile.tile<100 x 1 x i32>
// CHECK-NEXT: %6 = tile.take_along %4, %5 dim 0 {tile.spare} : !tile.tile<b1=64 x 1 x f32>, !tile.tile<100 x 1 x i32>
// CHECK-NEXT: %7 = tile.reshape %6 : !tile.tile<100 x 1 x f32> to !tile.tile<100 x f32>
// CHECK-NEXT: %8 = tile.add %old_1, %7 : !tile.tile<100 x f32>
// CHECK-NEXT: %9 = tile.arange 0, 1 : !tile.tile<100 x i32>
// CHECK-NEXT: %10 = tile.begin %k : !tile.range<b1=64>
// CHECK-NEXT: %11 = tile.splat %10 : index to !tile.tile<100 x i32>
// CHECK-NEXT: %12 = tile.ge %9, %11 : !tile.tile<100 x i32>
// CHECK-NEXT: %13 = tile.end %k : !tile.range<b1=64>
// CHECK-NEXT: %14 = tile.splat %13 : index to !tile.tile<100 x i32>
// CHECK-NEXT: %15 = tile.lt %9, %14 : !tile.tile<100 x i32>
// CHECK-NEXT: %16 = tile.and %12, %15 : !tile.tile<100 x i1>
// CHECK-NEXT: %new = tile.select %16, %8, %old_1 : !tile.tile<100 x f32>
// CHECK-NEXT: tile.put %new, %out_acc[0:100] : !tile.tile<100 x f32>, !tile.ref<128 x f32, vmem>
// CHECK-NEXT: %z = tile.full 0.0 : !tile.tile<b1=64 x f32>
// CHECK-NEXT: %m = tile.gt %v, %z : !tile.tile<b1=64 x f32>
// CHECK-NEXT: %17 = tile.get %out_acc[0:100] : !tile.ref<128 x f32, vmem> -> !tile.tile<100 x f32>
// CHECK-NEXT: %18 = tile.index %k : !tile.range<b1=64>
// CHECK-NEXT: %19 = tile.reshape %17 : !tile.tile<100 x f32> to !tile.tile<100 x 1 x f32>
// CHECK-NEXT: %20 = tile.broadcast %18 dims [0] : !tile.tile<b1=64 x i32> to !tile.tile<b1=64 x 1 x i32>
// CHECK-NEXT: %21 = tile.take_along %19, %20 dim 0 : !tile.tile<100 x 1 x f32>, !tile.tile<b1=64 x 1 x i32>
// CHECK-NEXT: %22 = tile.reshape %21 : !tile.tile<b1=64 x 1 x f32> to !tile.tile<b1=64 x f32>
// CHECK-NEXT: %23 = tile.full 5.0 : !tile.tile<b1=64 x f32>
// CHECK-NEXT: %a = tile.select %m, %22, %23 : !tile.tile<b1=64 x f32>
// CHECK-NEXT: tile.store %a, %seen_2[%n, %k] : !tile.tile<b1=64 x f32>, memref<64x100xf32>
// CHECK-NEXT: %24 = tile.get %out_acc[0:100] : !tile.ref<128 x f32, vmem> -> !tile.tile<100 x f32>
// CHECK-NEXT: %25 = tile.index %k : !tile.range<b1=64>
// CHECK-NEXT: %26 = tile.reshape %24 : !tile.tile<100 x f32> to !tile.tile<100 x 1 x f32>
// CHECK-NEXT: %27 = tile.broadcast %25 dims [0] : !tile.tile<b1=64 x i32> to !tile.tile<b1=64 x 1 x i32>
// CHECK-NEXT: %28 = tile.take_along %26, %27 dim 0 : !tile.tile<100 x 1 x f32>, !tile.tile<b1=64 x 1 x i32>
// CHECK-NEXT: %29 = tile.reshape %28 : !tile.tile<b1=64 x 1 x f32> to !tile.tile<b1=64 x f32>
// CHECK-NEXT: %b = tile.mask %29 in (%k) else 3.0 : !tile.tile<b1=64 x f32>
// CHECK-NEXT: tile.store %b, %seen_2[%n, %k] : !tile.tile<b1=64 x f32>, memref<64x100xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.when last(%s) {
// CHECK-NEXT: %out_3 = tile.get %out_acc[0:100] : !tile.ref<128 x f32, vmem> -> !tile.tile<100 x f32>
// CHECK-NEXT: tile.store %out_3, %out_2[:] : !tile.tile<100 x f32>, memref<100xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @loads(%x: memref<64x100xf32>, %out: memref<100xf32>, %seen: memref<64x100xf32>) {
  tile.grid (%s: b0=1) in (64) {
    %n = tile.begin %s : !tile.range<b0=1>
    tile.for %k: b1=64 in (0, 100) {
      %v = tile.load %x[%n, %k] : memref<64x100xf32> -> !tile.tile<b1=64 x f32>
      atomic.rmw add %v, %out[%k] : !tile.tile<b1=64 x f32>, memref<100xf32>
      %z = tile.full 0.0 : !tile.tile<b1=64 x f32>
      %m = tile.gt %v, %z : !tile.tile<b1=64 x f32>
      %a = tile.load %out[%k] mask %m other 5.0 : memref<100xf32> -> !tile.tile<b1=64 x f32>
      tile.store %a, %seen[%n, %k] : !tile.tile<b1=64 x f32>, memref<64x100xf32>
      %b = tile.load %out[%k] pad 3.0 : memref<100xf32> -> !tile.tile<b1=64 x f32>
      tile.store %b, %seen[%n, %k] : !tile.tile<b1=64 x f32>, memref<64x100xf32>
    }
  }
  func.return
}

// -----

// A part of a grid's block, by a loop over it: the range relative to the block's begin.
// CHECK-LABEL: func.func @part
// CHECK-NEXT: %out_1 = host.launch @part (%x_1 = %x, %out_2 = %out) writes [1] : (memref<64x512xf32>, memref<512xf32>) -> memref<512xf32> {
// CHECK-NEXT: %out_acc = pallas.scratch : !tile.ref<256 x f32, vmem>
// CHECK-NEXT: tile.grid (%j: b1=256, %s: b0=1) in (512, 64) reduce [1] {
// CHECK-NEXT: tile.when first(%s) {
// CHECK-NEXT: %old = tile.load %out_2[%j] : memref<512xf32> -> !tile.tile<b1=256 x f32>
// CHECK-NEXT: tile.put %old, %out_acc[:] : !tile.tile<b1=256 x f32>, !tile.ref<256 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: %n = tile.begin %s : !tile.range<b0=1>
// CHECK-NEXT: %b = tile.begin %j : !tile.range<b1=256>
// CHECK-NEXT: %e = tile.end %j : !tile.range<b1=256>
// CHECK-NEXT: tile.for %k: b2=128 in (%b, %e) {
// CHECK-NEXT: %v = tile.load %x_1[%n, %k] : memref<64x512xf32> -> !tile.tile<b2=128 x f32>
// CHECK-NEXT: %0 = arith.constant 0 : index
// CHECK-NEXT: %1 = tile.begin %j : !tile.range<b1=256>
// CHECK-NEXT: %2 = arith.subi %0, %1 : index
// CHECK-NEXT: %3 = tile.shift %k by %2 : !tile.range<b2=128>
// CHECK-NEXT: %old_1 = tile.get %out_acc[%3] : !tile.ref<256 x f32, vmem> -> !tile.tile<b2=128 x f32>
// CHECK-NEXT: %new = tile.add %old_1, %v : !tile.tile<b2=128 x f32>
// CHECK-NEXT: tile.put %new, %out_acc[%3] : !tile.tile<b2=128 x f32>, !tile.ref<256 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: tile.when last(%s) {
// CHECK-NEXT: %out_3 = tile.get %out_acc[:] : !tile.ref<256 x f32, vmem> -> !tile.tile<b1=256 x f32>
// CHECK-NEXT: tile.store %out_3, %out_2[%j] : !tile.tile<b1=256 x f32>, memref<512xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @part(%x: memref<64x512xf32>, %out: memref<512xf32>) {
  tile.grid (%s: b0=1, %j: b1=256) in (64, 512) {
    %n = tile.begin %s : !tile.range<b0=1>
    %b = tile.begin %j : !tile.range<b1=256>
    %e = tile.end %j : !tile.range<b1=256>
    tile.for %k: b2=128 in (%b, %e) {
      %v = tile.load %x[%n, %k] : memref<64x512xf32> -> !tile.tile<b2=128 x f32>
      atomic.rmw add %v, %out[%k] : !tile.tile<b2=128 x f32>, memref<512xf32>
    }
  }
  func.return
}

// -----

// A loop that ends inside the array: lanes behind its end are not written.
// CHECK-LABEL: func.func @behind
// CHECK-NEXT: %out_1 = host.launch @behind (%to_1 = %to, %x_1 = %x, %out_2 = %out) writes [2] : (memref<64xi32>, memref<64x16x384xf32>, memref<16x384xf32>) -> memref<16x384xf32> {
// CHECK-NEXT: %out_acc = pallas.scratch : !tile.ref<16 x 384 x f32, vmem>
// CHECK-NEXT: tile.grid (%s: b0=1) in (64) reduce [0] {
// CHECK-NEXT: tile.when first(%s) {
// CHECK-NEXT: %old = tile.load %out_2[:, :] : memref<16x384xf32> -> !tile.tile<16 x 384 x f32>
// CHECK-NEXT: tile.put %old, %out_acc[:, :] : !tile.tile<16 x 384 x f32>, !tile.ref<16 x 384 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: %n = tile.begin %s : !tile.range<b0=1>
// CHECK-NEXT: %t = tile.load %to_1[%n] : memref<64xi32> -> !tile.tile<i32>
// CHECK-NEXT: %e = tile.extract %t : !tile.tile<i32> to index
// CHECK-NEXT: tile.for %k: b1=128 in (0, %e) {
// CHECK-NEXT: %v = tile.load %x_1[%n, :, %k] : memref<64x16x384xf32> -> !tile.tile<16 x b1=128 x f32>
// CHECK-NEXT: %z = tile.full 0.0 : !tile.tile<16 x b1=128 x f32>
// CHECK-NEXT: %m = tile.gt %v, %z : !tile.tile<16 x b1=128 x f32>
// CHECK-NEXT: %old_1 = tile.get %out_acc[:, %k] : !tile.ref<16 x 384 x f32, vmem> -> !tile.tile<16 x b1=128 x f32>
// CHECK-NEXT: %0 = tile.add %old_1, %v : !tile.tile<16 x b1=128 x f32>
// CHECK-NEXT: %1 = tile.full 1 : !tile.tile<16 x b1=128 x i32>
// CHECK-NEXT: %2 = tile.mask %1 in (_, %k) else 0 : !tile.tile<16 x b1=128 x i32>
// CHECK-NEXT: %3 = tile.full 0 : !tile.tile<16 x b1=128 x i32>
// CHECK-NEXT: %4 = tile.ne %2, %3 : !tile.tile<16 x b1=128 x i32>
// CHECK-NEXT: %kept = tile.and %m, %4 : !tile.tile<16 x b1=128 x i1>
// CHECK-NEXT: %new = tile.select %kept, %0, %old_1 : !tile.tile<16 x b1=128 x f32>
// CHECK-NEXT: tile.put %new, %out_acc[:, %k] : !tile.tile<16 x b1=128 x f32>, !tile.ref<16 x 384 x f32, vmem>
// CHECK-NEXT: }
// CHECK-NEXT: tile.when last(%s) {
// CHECK-NEXT: %out_3 = tile.get %out_acc[:, :] : !tile.ref<16 x 384 x f32, vmem> -> !tile.tile<16 x 384 x f32>
// CHECK-NEXT: tile.store %out_3, %out_2[:, :] : !tile.tile<16 x 384 x f32>, memref<16x384xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @behind(%x: memref<64x16x384xf32>, %to: memref<64xi32>, %out: memref<16x384xf32>) {
  tile.grid (%s: b0=1) in (64) {
    %n = tile.begin %s : !tile.range<b0=1>
    %t = tile.load %to[%n] : memref<64xi32> -> !tile.tile<i32>
    %e = tile.extract %t : !tile.tile<i32> to index
    tile.for %k: b1=128 in (0, %e) {
      %v = tile.load %x[%n, :, %k] : memref<64x16x384xf32> -> !tile.tile<16 x b1=128 x f32>
      %z = tile.full 0.0 : !tile.tile<16 x b1=128 x f32>
      %m = tile.gt %v, %z : !tile.tile<16 x b1=128 x f32>
      atomic.rmw add %v, %out[:, %k] mask %m : !tile.tile<16 x b1=128 x f32>, memref<16x384xf32>
    }
  }
  func.return
}
