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
