// RUN: kopt %s --split-input-file --pass-pipeline='builtin.module(lower-jagged,canonicalize,cse)' | filecheck %s

// The loop goes to the longest item. Loads leave out what items do not have, and so hold 0 there, which is what a sum
// wants and a maximum does not.
// CHECK-LABEL: func.func @sums
// CHECK: [[L:%.+]] = tile.reduce max %n [0] : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %k_end = tile.extract [[L]] : !tile.tile<i32> to index
// CHECK-NEXT: %s, %s_1 = tile.for %k: b1=16 in (0, %k_end)
// CHECK-DAG: [[K:%.+]] = tile.broadcast {{%.+}} dims [1] : !tile.tile<b1=16 x i32> to !tile.tile<b0=8 x b1=16 x i32>
// CHECK-DAG: [[N:%.+]] = tile.broadcast %n dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x b1=16 x i32>
// CHECK: %has = tile.lt [[K]], [[N]]
// CHECK: %v = tile.load %x[%i, %k] mask %has :
// CHECK: tile.reduce add %v [1]
// CHECK: [[W:%.+]] = tile.select %has, %v, {{%.+}} :
// CHECK: tile.reduce max [[W]] [1]
func.func @sums(%x: memref<100x64xf32>, %lens: memref<100xi32>, %out: memref<2x100xf32>) {
  tile.grid (%i: b0=8) in (100) {
    %n = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %s, %s_1 = jagged.for %k: b1=16 in %n iter(%a = %z, %b = %z) -> (!tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      %p = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=16 x f32>
      %q = tile.reduce max %v [1] : !tile.tile<b0=8 x b1=16 x f32>
      %c = tile.add %a, %p : !tile.tile<b0=8 x f32>
      %d = tile.maximum %b, %q : !tile.tile<b0=8 x f32>
      tile.yield %c, %d : !tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>
    }
    tile.store %s, %out[0, %i] : !tile.tile<b0=8 x f32>, memref<2x100xf32>
    tile.store %s_1, %out[1, %i] : !tile.tile<b0=8 x f32>, memref<2x100xf32>
  }
  func.return
}

// -----

// A store keeps to the items' lanes, under a mask of its own too; dimensions may stand in any order; a reduction over
// neither of the items nor their lanes needs nothing.
// CHECK-LABEL: func.func @copies
// CHECK: [[T:%.+]] = tile.transpose %has [1, 0] : !tile.tile<b0=8 x b1=16 x i1>
// CHECK: %mask = tile.load %own[%k, %i] mask [[T]]
// CHECK: [[M:%.+]] = tile.and [[T]], %mask
// CHECK: tile.store {{%.+}}, %out[%k, %i] mask [[M]]
// CHECK: tile.reduce add %w [2]
func.func @copies(%y: memref<64x100x32xf32>, %lens: memref<100xi64>, %own: memref<64x100xi1>, %out: memref<64x100xf32>) {
  tile.grid (%i: b0=8) in (100) {
    %n = tile.load %lens[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>
    jagged.for %k: b1=16 in %n {
      %v = tile.full 1.0 : !tile.tile<b1=16 x b0=8 x f32>
      %mask = tile.load %own[%k, %i] : memref<64x100xi1> -> !tile.tile<b1=16 x b0=8 x i1>
      tile.store %v, %out[%k, %i] mask %mask : !tile.tile<b1=16 x b0=8 x f32>, memref<64x100xf32>
      %w = tile.load %y[%k, %i, :] : memref<64x100x32xf32> -> !tile.tile<b1=16 x b0=8 x 32 x f32>
      %r = tile.reduce add %w [2] : !tile.tile<b1=16 x b0=8 x 32 x f32>
      tile.store %r, %out[%k, %i] : !tile.tile<b1=16 x b0=8 x f32>, memref<64x100xf32>
    }
  }
  func.return
}

// -----

// Lanes that were merged are known by what they were made from.
// CHECK-LABEL: func.func @merged
// CHECK: [[H:%.+]] = tile.reshape %has : !tile.tile<b0=8 x b1=16 x i1> to !tile.tile<128 x i1>
// CHECK: [[S:%.+]] = tile.select [[H]], %r, {{%.+}} : !tile.tile<128 x f32>
// CHECK: tile.reduce add [[S]] [0]
func.func @merged(%x: memref<100x64xf32>, %lens: memref<100xi32>, %out: memref<100x64xf32>) {
  tile.grid (%i: b0=8) in (96) {
    %n = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    jagged.for %k: b1=16 in %n {
      %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      %e = tile.exp %v : !tile.tile<b0=8 x b1=16 x f32>
      %r = tile.reshape %e : !tile.tile<b0=8 x b1=16 x f32> to !tile.tile<128 x f32>
      %s = tile.reduce add %r [0] : !tile.tile<128 x f32>
      %t = tile.broadcast %s dims [] : !tile.tile<f32> to !tile.tile<b0=8 x b1=16 x f32>
      tile.store %t, %out[%i, %k] : !tile.tile<b0=8 x b1=16 x f32>, memref<100x64xf32>
    }
  }
  func.return
}

// -----

// A mask of a jagged loop's lanes fills in what an item does not have before the mask's own limit does.
// CHECK-LABEL: func.func @masked
// CHECK-NEXT: tile.grid (%i: b0=8) in (100) {
// CHECK-NEXT: %n = tile.load %lens[%i] : memref<100xi16> -> !tile.tile<b0=8 x i16>
// CHECK-NEXT: %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
// CHECK-NEXT: %0 = tile.cast %n : !tile.tile<b0=8 x i16> to !tile.tile<b0=8 x i32>
// CHECK-NEXT: %1 = tile.reduce max %0 [0] : !tile.tile<b0=8 x i32>
// CHECK-NEXT: %k_end = tile.extract %1 : !tile.tile<i32> to index
// CHECK-NEXT: %s = tile.for %k: b1=16 in (0, %k_end) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
// CHECK-NEXT: %2 = tile.index %k : !tile.range<b1=16>
// CHECK-NEXT: %3 = tile.broadcast %2 dims [1] : !tile.tile<b1=16 x i32> to !tile.tile<b0=8 x b1=16 x i32>
// CHECK-NEXT: %4 = tile.broadcast %0 dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x b1=16 x i32>
// CHECK-NEXT: %has = tile.lt %3, %4 : !tile.tile<b0=8 x b1=16 x i32>
// CHECK-NEXT: %v = tile.load %x[%i, %k] mask %has : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %e = tile.exp %v : !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %5 = tile.full 3.0 : !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %e_1 = tile.select %has, %e, %5 : !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %m = tile.mask %e_1 in (%i, %k) else 3.0 : !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %6 = tile.full 0.0 : !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %m_1 = tile.select %has, %m, %6 : !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %p = tile.reduce add %m_1 [1] : !tile.tile<b0=8 x b1=16 x f32>
// CHECK-NEXT: %c = tile.add %a, %p : !tile.tile<b0=8 x f32>
// CHECK-NEXT: tile.yield %c : !tile.tile<b0=8 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<100xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @masked(%x: memref<100x64xf32>, %lens: memref<100xi16>, %out: memref<100xf32>) {
  tile.grid (%i: b0=8) in (100) {
    %n = tile.load %lens[%i] : memref<100xi16> -> !tile.tile<b0=8 x i16>
    %z = tile.full 0.0 : !tile.tile<b0=8 x f32>
    %s = jagged.for %k: b1=16 in %n iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {
      %v = tile.load %x[%i, %k] : memref<100x64xf32> -> !tile.tile<b0=8 x b1=16 x f32>
      %e = tile.exp %v : !tile.tile<b0=8 x b1=16 x f32>
      %m = tile.mask %e in (%i, %k) else 3.0 : !tile.tile<b0=8 x b1=16 x f32>
      %p = tile.reduce add %m [1] : !tile.tile<b0=8 x b1=16 x f32>
      %c = tile.add %a, %p : !tile.tile<b0=8 x f32>
      tile.yield %c : !tile.tile<b0=8 x f32>
    }
    tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<100xf32>
  }
  func.return
}
