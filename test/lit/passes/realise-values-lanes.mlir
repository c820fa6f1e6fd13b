// RUN: kopt %s --split-input-file --verify-diagnostics -p 'realise-values,cse,dce' | filecheck %s

// An index that is one number or another chooses from what is at both: of what a bound replaces only lane 0 is read, and
// nothing where nothing uses it. A bound that no lane inside its range reaches is none.
// CHECK-LABEL: @bounds
// CHECK: [[S:%.+]] = tile.shift %i by
// CHECK: [[A:%.+]] = tile.load %x_1[%j, [[S]]] mask %{{.+}} :
// CHECK: [[F:%.+]] = tile.load %x_1[%j, 0] :
// CHECK: [[B:%.+]] = tile.broadcast [[F]] dims [0]
// CHECK: tile.select %{{.+}}, [[A]], [[B]]
// CHECK: [[C:%.+]] = tile.load %y_1[%j, [[S]]] mask %{{.+}} :
// CHECK-NOT: tile.load
// CHECK: tile.select %{{.+}}, [[C]], %zero
// CHECK: tile.load %y_1[%j, %i] :
func.func @bounds(%x: memref<8x40xf32>, %y: memref<8x40xf32>) -> memref<8x40xf32> {
  %out = host.alloc : memref<8x40xf32>
  %out_1 = host.launch @bounds (%x_1 = %x, %y_1 = %y, %out_2 = %out) writes [2] : (memref<8x40xf32>, memref<8x40xf32>, memref<8x40xf32>) -> memref<8x40xf32> {
    tile.grid (%i: b0=16, %j: b1=8) in (40, 8) {
      %l = tile.index %i : !tile.range<b0=16>
      %t = tile.full 3 : !tile.tile<b0=16 x i32>
      %z = tile.full 0 : !tile.tile<b0=16 x i32>
      %e = tile.full 39 : !tile.tile<b0=16 x i32>
      %zero = tile.full 0.0 : !tile.tile<b1=8 x b0=16 x f32>
      %b = tile.sub %l, %t : !tile.tile<b0=16 x i32>
      %n = tile.maximum %b, %z : !tile.tile<b0=16 x i32>
      %0 = tile.ge %b, %z : !tile.tile<b0=16 x i32>
      %1 = tile.broadcast %0 dims [1] : !tile.tile<b0=16 x i1> to !tile.tile<b1=8 x b0=16 x i1>
      %2 = arith.constant -3 : index
      %i_1 = tile.shift %i by %2 : !tile.range<b0=16>
      %v = tile.load %x_1[%j, %i_1] mask %1 : memref<8x40xf32> -> !tile.tile<b1=8 x b0=16 x f32>
      %3 = tile.not %1 : !tile.tile<b1=8 x b0=16 x i1>
      %v_1 = tile.load %x_1[%j, 0] : memref<8x40xf32> -> !tile.tile<b1=8 x f32>
      %4 = tile.broadcast %v_1 dims [0] : !tile.tile<b1=8 x f32> to !tile.tile<b1=8 x b0=16 x f32>
      %v_2 = tile.select %1, %v, %4 : !tile.tile<b1=8 x b0=16 x f32>
      %c = tile.ge %b, %z : !tile.tile<b0=16 x i32>
      %m = tile.select %c, %b, %z : !tile.tile<b0=16 x i32>
      %5 = tile.broadcast %c dims [1] : !tile.tile<b0=16 x i1> to !tile.tile<b1=8 x b0=16 x i1>
      %6 = arith.constant -3 : index
      %i_2 = tile.shift %i by %6 : !tile.range<b0=16>
      %w = tile.load %y_1[%j, %i_2] mask %5 : memref<8x40xf32> -> !tile.tile<b1=8 x b0=16 x f32>
      %d = tile.broadcast %c dims [1] : !tile.tile<b0=16 x i1> to !tile.tile<b1=8 x b0=16 x i1>
      %k = tile.select %d, %w, %zero : !tile.tile<b1=8 x b0=16 x f32>
      %f = tile.minimum %l, %e : !tile.tile<b0=16 x i32>
      %7 = tile.le %l, %e : !tile.tile<b0=16 x i32>
      %u = tile.load %y_1[%j, %i] : memref<8x40xf32> -> !tile.tile<b1=8 x b0=16 x f32>
      %s = tile.add %v_2, %k : !tile.tile<b1=8 x b0=16 x f32>
      %r = tile.add %s, %u : !tile.tile<b1=8 x b0=16 x f32>
      tile.store %r, %out_2[%j, %i] : !tile.tile<b1=8 x b0=16 x f32>, memref<8x40xf32>
    }
  }
  func.return %out_1 : memref<8x40xf32>
}

// -----

// Every 16th lane of rows of flat storage: all lanes of the rows come, once for both loads.
// Elements that lie near one number, here up to 12 from a multiple of 32 on: the block around them, and picks from it.
// CHECK-LABEL: @every
// CHECK: [[V:%.+]] = tile.load {{%.+}}[%r, :] : memref<64x256xf32> -> !tile.tile<b0=8 x 256 x f32>
// CHECK-NOT: tile.load
// CHECK: [[S:%.+]] = tile.reshape [[V]] : !tile.tile<b0=8 x 256 x f32> to !tile.tile<b0=8 x 16 x 16 x f32>
// CHECK: tile.slice [[S]] [0, 0, 0] [8, 16, 1] [1, 1, 1]
// CHECK: tile.slice [[S]] [0, 0, 9] [8, 16, 1] [1, 1, 1]
// CHECK-LABEL: @near
// CHECK: [[W:%.+]] = tile.whole 128
// CHECK: [[B:%.+]] = tile.shift [[W]] by %{{.+}} : !tile.range<[[T:b[0-9]+]]=128>
// CHECK: [[V:%.+]] = tile.load {{%.+}}[[[B]]] : memref<4096xf32> -> !tile.tile<[[T]]=128 x f32>
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 0 : !tile.tile<1 x 128 x f32>
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 1
// CHECK-NOT: tile.load
func.func @every(%x: memref<16384xf32>, %out: memref<64x16xf32>) -> memref<64x16xf32> {
  %0 = host.reshape %x : memref<16384xf32> to memref<64x256xf32>
  %out_1 = host.launch @every (%x_1 = %x, %out_2 = %out, %x_2 = %0) writes [1] : (memref<16384xf32>, memref<64x16xf32>, memref<64x256xf32>) -> memref<64x16xf32> {
    tile.grid (%r: b0=8) in (64) {
      %i = tile.index %r : !tile.range<b0=8>
      %w = tile.full 256 : !tile.tile<b0=8 x i32>
      %f = tile.mul %i, %w : !tile.tile<b0=8 x i32>
      %p = tile.broadcast %f dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 16 x i32>
      %a = tile.arange 0, 16 : !tile.tile<16 x i32>
      %q = tile.broadcast %a dims [1] : !tile.tile<16 x i32> to !tile.tile<b0=8 x 16 x i32>
      %n = tile.add %p, %q : !tile.tile<b0=8 x 16 x i32>
      %c = tile.full 9 : !tile.tile<b0=8 x 16 x i32>
      %m = tile.add %n, %c : !tile.tile<b0=8 x 16 x i32>
      %1 = tile.index %r : !tile.range<b0=8>
      %2 = tile.broadcast %1 dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 16 x i32>
      %3 = tile.arange 0, 16 : !tile.tile<16 x i32>
      %4 = tile.broadcast %3 dims [1] : !tile.tile<16 x i32> to !tile.tile<b0=8 x 16 x i32>
      %lanes = tile.load %x_2[%r, :] : memref<64x256xf32> -> !tile.tile<b0=8 x 256 x f32>
      %5 = tile.reshape %lanes : !tile.tile<b0=8 x 256 x f32> to !tile.tile<b0=8 x 16 x 16 x f32>
      %6 = tile.slice %5 [0, 0, 0] [8, 16, 1] [1, 1, 1] : !tile.tile<b0=8 x 16 x 16 x f32> to !tile.tile<b0=8 x 16 x 1 x f32>
      %u = tile.reshape %6 : !tile.tile<b0=8 x 16 x 1 x f32> to !tile.tile<b0=8 x 16 x f32>
      %7 = tile.index %r : !tile.range<b0=8>
      %8 = tile.broadcast %7 dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 16 x i32>
      %9 = tile.arange 9, 16 : !tile.tile<16 x i32>
      %10 = tile.broadcast %9 dims [1] : !tile.tile<16 x i32> to !tile.tile<b0=8 x 16 x i32>
      %lanes_1 = tile.load %x_2[%r, :] : memref<64x256xf32> -> !tile.tile<b0=8 x 256 x f32>
      %11 = tile.reshape %lanes_1 : !tile.tile<b0=8 x 256 x f32> to !tile.tile<b0=8 x 16 x 16 x f32>
      %12 = tile.slice %11 [0, 0, 9] [8, 16, 1] [1, 1, 1] : !tile.tile<b0=8 x 16 x 16 x f32> to !tile.tile<b0=8 x 16 x 1 x f32>
      %v = tile.reshape %12 : !tile.tile<b0=8 x 16 x 1 x f32> to !tile.tile<b0=8 x 16 x f32>
      %s = tile.add %u, %v : !tile.tile<b0=8 x 16 x f32>
      tile.store %s, %out_2[%r, :] : !tile.tile<b0=8 x 16 x f32>, memref<64x16xf32>
    }
  }
  func.return %out_1 : memref<64x16xf32>
}
func.func @near(%x: memref<4096xf32>, %out: memref<1024xf32>) -> memref<1024xf32> {
  %out_1 = host.launch @near (%x_1 = %x, %out_2 = %out) writes [1] : (memref<4096xf32>, memref<1024xf32>) -> memref<1024xf32> {
    tile.grid (%r: b0=8) in (1024) plan {order [r] parallel [r]
        @x = %x_1 bounded} {
      %i = tile.index %r : !tile.range<b0=8>
      %e = tile.full 3 : !tile.tile<b0=8 x i32>
      %t = tile.full 3 : !tile.tile<b0=8 x i32>
      %o = tile.full 32 : !tile.tile<b0=8 x i32>
      %h = tile.shr %i, %t : !tile.tile<b0=8 x i32>
      %g = tile.mul %h, %o : !tile.tile<b0=8 x i32>
      %l = tile.and %i, %e : !tile.tile<b0=8 x i32>
      %m = tile.full 4 : !tile.tile<b0=8 x i32>
      %d = tile.mul %l, %m : !tile.tile<b0=8 x i32>
      %n = tile.add %g, %d : !tile.tile<b0=8 x i32>
      %v = tile.load %x_1[%n] via @x : memref<4096xf32> -> !tile.tile<b0=8 x f32>
      tile.store %v, %out_2[%r] : !tile.tile<b0=8 x f32>, memref<1024xf32>
    }
  }
  func.return %out_1 : memref<1024xf32>
}

// -----

// Lanes that were taken apart and put together again count by fours: every fourth lane of a block.
// CHECK-LABEL: @every_fourth
// CHECK: [[W:%.+]] = tile.whole 32
// CHECK: [[B:%.+]] = tile.shift [[W]] by %{{.+}} : !tile.range<[[T:b[0-9]+]]=32>
// CHECK: [[V:%.+]] = tile.load {{%.+}}[[[B]]] : memref<4096xf32> -> !tile.tile<[[T]]=32 x f32>
// CHECK-NOT: tile.load
func.func @every_fourth(%x: memref<4096xf32>, %out: memref<1024xf32>) -> memref<1024xf32> {
  %out_1 = host.launch @every_fourth (%x_1 = %x, %out_2 = %out) writes [1] : (memref<4096xf32>, memref<1024xf32>) -> memref<1024xf32> {
    tile.grid (%r: b0=8) in (1024) {
      %i = tile.index %r : !tile.range<b0=8>
      %e = tile.full 7 : !tile.tile<b0=8 x i32>
      %t = tile.full 3 : !tile.tile<b0=8 x i32>
      %o = tile.full 32 : !tile.tile<b0=8 x i32>
      %h = tile.shr %i, %t : !tile.tile<b0=8 x i32>
      %g = tile.mul %h, %o : !tile.tile<b0=8 x i32>
      %l = tile.and %i, %e : !tile.tile<b0=8 x i32>
      %m = tile.full 4 : !tile.tile<b0=8 x i32>
      %d = tile.mul %l, %m : !tile.tile<b0=8 x i32>
      %n = tile.add %g, %d : !tile.tile<b0=8 x i32>
      %0 = tile.whole 32 : !tile.range<b1=32>
      %1 = tile.begin %r : !tile.range<b0=8>
      %2 = arith.constant 4 : index
      %3 = arith.muli %1, %2 : index
      %4 = tile.shift %0 by %3 : !tile.range<b1=32>
      %lanes = tile.load %x_1[%4] : memref<4096xf32> -> !tile.tile<b1=32 x f32>
      %5 = tile.reshape %lanes : !tile.tile<b1=32 x f32> to !tile.tile<8 x 4 x f32>
      %6 = tile.slice %5 [0, 0] [8, 1] [1, 1] : !tile.tile<8 x 4 x f32> to !tile.tile<8 x 1 x f32>
      %7 = tile.reshape %6 : !tile.tile<8 x 1 x f32> to !tile.tile<8 x f32>
      %v = tile.broadcast %7 dims [0] : !tile.tile<8 x f32> to !tile.tile<b0=8 x f32>
      tile.store %v, %out_2[%r] : !tile.tile<b0=8 x f32>, memref<1024xf32>
    }
  }
  func.return %out_1 : memref<1024xf32>
}

// -----

// A row by a loaded number of an array that does not fit is fetched alone; one by the grid's number is a window.
// CHECK-LABEL: @far
// CHECK: [[ROW:%.+]] = tile.splat %n : index to !tile.tile<1 x i32>
// CHECK: tile.load %{{.*}}[%{{.*}}, :] : memref<100000x128xf32> -> !tile.tile<1 x 128 x f32>
// CHECK: tile.load %{{.*}}[%p, :] : memref<100000x128xf32> -> !tile.tile<128 x f32>
func.func @far(%x: memref<100000x128xf32>, %at: memref<1xi32>, %out: memref<5x128xf32>) -> memref<5x128xf32> {
  %out_1 = host.launch @far (%at_1 = %at, %x_1 = %x, %out_2 = %out) writes [2] : (memref<1xi32>, memref<100000x128xf32>, memref<5x128xf32>) -> memref<5x128xf32> {
    tile.grid (%i: b0=1) in (5) plan {order [i] parallel [i]
        @x = %x_1 rows} {
      %s = tile.load %at_1[0] : memref<1xi32> -> !tile.tile<i32>
      %n = tile.extract %s : !tile.tile<i32> to index
      %v = tile.load %x_1[%n, :] via @x : memref<100000x128xf32> -> !tile.tile<128 x f32>
      %p = tile.begin %i : !tile.range<b0=1>
      %w = tile.load %x_1[%p, :] : memref<100000x128xf32> -> !tile.tile<128 x f32>
      %u = tile.add %v, %w : !tile.tile<128 x f32>
      tile.store %u, %out_2[%p, :] : !tile.tile<128 x f32>, memref<5x128xf32>
    }
  }
  func.return %out_1 : memref<5x128xf32>
}

// -----

// Blocks of 16 rows take one row of a table each: it comes once, and is repeated.
// CHECK-LABEL: @repeated
// CHECK: [[V:%.+]] = tile.load %{{.+}}[%{{.+}}, %j] : memref<40x96xf32> -> !tile.tile<b1=96 x f32>
// CHECK-NEXT: tile.broadcast [[V]] dims [1] : !tile.tile<b1=96 x f32> to !tile.tile<b0=16 x b1=96 x f32>
// CHECK-NOT: tile.load
func.func @repeated(%x: memref<40x96xf32>, %out: memref<64x96xf32>) -> memref<64x96xf32> {
  %out_1 = host.launch @repeated (%x_1 = %x, %out_2 = %out) writes [1] : (memref<40x96xf32>, memref<64x96xf32>) -> memref<64x96xf32> {
    tile.grid (%i: b0=16, %j: b1=96) in (64, 96) {
      %r = tile.index %i : !tile.range<b0=16>
      %c = tile.index %j : !tile.range<b1=96>
      %s = tile.full 16 : !tile.tile<b0=16 x i32>
      %q = tile.floordiv %r, %s : !tile.tile<b0=16 x i32>
      %n = tile.broadcast %q dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=96 x i32>
      %m = tile.broadcast %c dims [1] : !tile.tile<b1=96 x i32> to !tile.tile<b0=16 x b1=96 x i32>
      %0 = tile.id %i : !tile.range<b0=16>
      %1 = tile.splat %0 : index to !tile.tile<b1=96 x i32>
      %2 = tile.arange 0, 1 : !tile.tile<96 x i32>
      %3 = tile.broadcast %2 dims [0] : !tile.tile<96 x i32> to !tile.tile<b1=96 x i32>
      %4 = tile.id %i : !tile.range<b0=16>
      %v = tile.load %x_1[%4, %j] : memref<40x96xf32> -> !tile.tile<b1=96 x f32>
      %v_1 = tile.broadcast %v dims [1] : !tile.tile<b1=96 x f32> to !tile.tile<b0=16 x b1=96 x f32>
      tile.store %v_1, %out_2[%i, %j] : !tile.tile<b0=16 x b1=96 x f32>, memref<64x96xf32>
    }
  }
  func.return %out_1 : memref<64x96xf32>
}

// -----

// Each row of the block goes backwards from a loaded number on: two rows of memory come for it, which are shifted to
// where its lanes begin; a product takes these. Forced DMAs bring a row of memory for each lane.
// CHECK-LABEL: @backwards_from
// CHECK: %rows = tile.load %{{.+}}[%{{.+}}, :] : memref<3907x128xf32> -> !tile.tile<16 x 2 x 128 x f32>
// CHECK: tile.reshape %rows : !tile.tile<16 x 2 x 128 x f32> to !tile.tile<16 x 256 x f32>
// CHECK: tile.take_along %{{.+}}, %{{.+}} dim 0 : !tile.tile<{{[0-9]+}} x 16 x f32>, !tile.tile<64 x 16 x i32>
// CHECK-NOT: tile.load
func.func @backwards_from(%x: memref<500000xf32>, %ids: memref<64xi32>, %out: memref<64x64xf32>) -> memref<64x64xf32> {
  %out_1 = host.launch @backwards_from (%ids_1 = %ids, %x_1 = %x, %out_2 = %out) writes [2] : (memref<64xi32>, memref<500000xf32>, memref<64x64xf32>) -> memref<64x64xf32> {
    tile.grid (%i: b0=16, %j: b1=64) in (64, 64) plan {order [i, j] parallel [i, j]
        @x = %x_1 places} {
      %n = tile.load %ids_1[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %c = tile.index %j : !tile.range<b1=64>
      %w = tile.full 64 : !tile.tile<b0=16 x i32>
      %p = tile.mul %n, %w : !tile.tile<b0=16 x i32>
      %l = tile.full 300 : !tile.tile<b1=64 x i32>
      %q = tile.sub %l, %c : !tile.tile<b1=64 x i32>
      %a = tile.broadcast %p dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %b = tile.broadcast %q dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %at = tile.add %a, %b : !tile.tile<b0=16 x b1=64 x i32>
      %v = tile.load %x_1[%at] via @x : memref<500000xf32> -> !tile.tile<b0=16 x b1=64 x f32>
      tile.store %v, %out_2[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<64x64xf32>
    }
  }
  func.return %out_1 : memref<64x64xf32>
}

// -----

// Columns of a matrix backwards, of rows by number: each row comes once, not once for each of its lanes.
// CHECK-LABEL: @columns_backwards
// CHECK: %rows = tile.load %{{.+}}[%{{.+}}, :] : memref<900x320xf32> -> !tile.tile<16 x 320 x f32>
// CHECK: [[C:%.+]] = tile.transpose %rows [1, 0]
// CHECK: tile.take_along [[C]], %{{.+}} dim 0 : !tile.tile<320 x 16 x f32>, !tile.tile<64 x 16 x i32>
// CHECK-NOT: tile.load
func.func @columns_backwards(%x: memref<900x320xf32>, %ids: memref<64xi32>, %out: memref<64x64xf32>) -> memref<64x64xf32> {
  %out_1 = host.launch @columns_backwards (%ids_1 = %ids, %x_1 = %x, %out_2 = %out) writes [2] : (memref<64xi32>, memref<900x320xf32>, memref<64x64xf32>) -> memref<64x64xf32> {
    tile.grid (%i: b0=16, %j: b1=64) in (64, 64) plan {order [i, j] parallel [i, j]
        @x = %x_1 places} {
      %n = tile.load %ids_1[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %c = tile.index %j : !tile.range<b1=64>
      %l = tile.full 300 : !tile.tile<b1=64 x i32>
      %q = tile.sub %l, %c : !tile.tile<b1=64 x i32>
      %a = tile.broadcast %n dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %b = tile.broadcast %q dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %v = tile.load %x_1[%a, %b] via @x : memref<900x320xf32> -> !tile.tile<b0=16 x b1=64 x f32>
      tile.store %v, %out_2[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<64x64xf32>
    }
  }
  func.return %out_1 : memref<64x64xf32>
}

// -----

// Some lanes are near a number of their row, others near one that is known: both come, and a choice is made.
// CHECK-LABEL: @cases
// CHECK-DAG: tile.load %{{.+}}[%{{.+}}, :] : memref<3907x128xf32> -> !tile.tile<16 x {{[0-9]+}} x 128 x f32>
// CHECK-DAG: tile.load %{{.+}}[%{{.+}}, :] : memref<3907x128xf32> -> !tile.tile<{{[0-9]+}} x 128 x f32>
// CHECK: tile.select
func.func @cases(%x: memref<500000xf32>, %ids: memref<64xi32>, %out: memref<64x64xf32>) -> memref<64x64xf32> {
  %out_1 = host.launch @cases (%ids_1 = %ids, %x_1 = %x, %out_2 = %out) writes [2] : (memref<64xi32>, memref<500000xf32>, memref<64x64xf32>) -> memref<64x64xf32> {
    tile.grid (%i: b0=16, %j: b1=64) in (64, 64) plan {order [i, j] parallel [i, j]
        @x = %x_1 places} {
      %n = tile.load %ids_1[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %c = tile.index %j : !tile.range<b1=64>
      %w = tile.full 128 : !tile.tile<b0=16 x i32>
      %p = tile.mul %n, %w : !tile.tile<b0=16 x i32>
      %t = tile.full 31 : !tile.tile<b1=64 x i32>
      %g = tile.gt %c, %t : !tile.tile<b1=64 x i32>
      %h = tile.broadcast %g dims [1] : !tile.tile<b1=64 x i1> to !tile.tile<b0=16 x b1=64 x i1>
      %a = tile.broadcast %p dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %f = tile.full 4000 : !tile.tile<b0=16 x b1=64 x i32>
      %s = tile.select %h, %a, %f : !tile.tile<b0=16 x b1=64 x i32>
      %e = tile.full 3 : !tile.tile<b1=64 x i32>
      %m = tile.mul %c, %e : !tile.tile<b1=64 x i32>
      %b = tile.broadcast %m dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %at = tile.add %s, %b : !tile.tile<b0=16 x b1=64 x i32>
      %v = tile.load %x_1[%at] via @x : memref<500000xf32> -> !tile.tile<b0=16 x b1=64 x f32>
      tile.store %v, %out_2[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<64x64xf32>
    }
  }
  func.return %out_1 : memref<64x64xf32>
}

// -----

// Rows of fewer lanes than the block takes of them: they go round in as many lanes as the block has.
// CHECK-LABEL: func.func @short_rows
// CHECK-NEXT: %out_1 = host.launch @short_rows (%ids_1 = %ids, %at_1 = %at, %x_1 = %x, %out_2 = %out) writes [3] : (memref<64xi32>, memref<64xi32>, memref<900x40xf32>, memref<64x64xf32>) -> memref<64x64xf32> {
// CHECK-NEXT: tile.grid (%i: b0=16, %j: b1=64) in (64, 64) {
// CHECK-NEXT: %n = tile.load %ids_1[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
// CHECK-NEXT: %first = tile.load %at_1[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
// CHECK-NEXT: %0 = tile.full 899 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %1 = tile.minimum %n, %0 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %2 = tile.full 0 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %3 = tile.maximum %1, %2 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %4 = tile.load %x_1[:, :] : memref<900x40xf32> -> !tile.tile<900 x 40 x f32>
// CHECK-NEXT: %5 = tile.broadcast %3 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 40 x i32>
// CHECK-NEXT: %rows = tile.take_along %4, %5 dim 0 : !tile.tile<900 x 40 x f32>, !tile.tile<b0=16 x 40 x i32>
// CHECK-NEXT: %6 = tile.full 0.0 : !tile.tile<b0=16 x 24 x f32>
// CHECK-NEXT: %7 = tile.concat %rows, %6 dim 1 : !tile.tile<b0=16 x 40 x f32>, !tile.tile<b0=16 x 24 x f32> to !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %8 = tile.full 64 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %9 = tile.add %first, %8 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %10 = tile.lt %first, %2 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %11 = tile.select %10, %9, %first : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %12 = tile.slice %7 [0, 32] [16, 32] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 32 x f32>
// CHECK-NEXT: %13 = tile.slice %7 [0, 0] [16, 32] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 32 x f32>
// CHECK-NEXT: %14 = tile.concat %12, %13 dim 1 : !tile.tile<b0=16 x 32 x f32>, !tile.tile<b0=16 x 32 x f32> to !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %15 = tile.full 32 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %16 = tile.and %11, %15 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %17 = tile.broadcast %16 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %18 = tile.full 0 : !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %19 = tile.ne %17, %18 : !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %20 = tile.select %19, %14, %7 : !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %21 = tile.slice %20 [0, 16] [16, 48] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 48 x f32>
// CHECK-NEXT: %22 = tile.slice %20 [0, 0] [16, 16] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 16 x f32>
// CHECK-NEXT: %23 = tile.concat %21, %22 dim 1 : !tile.tile<b0=16 x 48 x f32>, !tile.tile<b0=16 x 16 x f32> to !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %24 = tile.full 16 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %25 = tile.and %11, %24 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %26 = tile.broadcast %25 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %27 = tile.ne %26, %18 : !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %28 = tile.select %27, %23, %20 : !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %29 = tile.slice %28 [0, 8] [16, 56] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 56 x f32>
// CHECK-NEXT: %30 = tile.slice %28 [0, 0] [16, 8] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 8 x f32>
// CHECK-NEXT: %31 = tile.concat %29, %30 dim 1 : !tile.tile<b0=16 x 56 x f32>, !tile.tile<b0=16 x 8 x f32> to !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %32 = tile.full 8 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %33 = tile.and %11, %32 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %34 = tile.broadcast %33 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %35 = tile.ne %34, %18 : !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %36 = tile.select %35, %31, %28 : !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %37 = tile.slice %36 [0, 4] [16, 60] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 60 x f32>
// CHECK-NEXT: %38 = tile.slice %36 [0, 0] [16, 4] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 4 x f32>
// CHECK-NEXT: %39 = tile.concat %37, %38 dim 1 : !tile.tile<b0=16 x 60 x f32>, !tile.tile<b0=16 x 4 x f32> to !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %40 = tile.full 4 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %41 = tile.and %11, %40 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %42 = tile.broadcast %41 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %43 = tile.ne %42, %18 : !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %44 = tile.select %43, %39, %36 : !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %45 = tile.slice %44 [0, 2] [16, 62] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 62 x f32>
// CHECK-NEXT: %46 = tile.slice %44 [0, 0] [16, 2] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 2 x f32>
// CHECK-NEXT: %47 = tile.concat %45, %46 dim 1 : !tile.tile<b0=16 x 62 x f32>, !tile.tile<b0=16 x 2 x f32> to !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %48 = tile.full 2 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %49 = tile.and %11, %48 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %50 = tile.broadcast %49 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %51 = tile.ne %50, %18 : !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %52 = tile.select %51, %47, %44 : !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %53 = tile.slice %52 [0, 1] [16, 63] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 63 x f32>
// CHECK-NEXT: %54 = tile.slice %52 [0, 0] [16, 1] [1, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x 1 x f32>
// CHECK-NEXT: %55 = tile.concat %53, %54 dim 1 : !tile.tile<b0=16 x 63 x f32>, !tile.tile<b0=16 x 1 x f32> to !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %56 = tile.full 1 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %57 = tile.and %11, %56 : !tile.tile<b0=16 x i32>
// CHECK-NEXT: %58 = tile.broadcast %57 dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %59 = tile.ne %58, %18 : !tile.tile<b0=16 x 64 x i32>
// CHECK-NEXT: %60 = tile.select %59, %55, %52 : !tile.tile<b0=16 x 64 x f32>
// CHECK-NEXT: %v = tile.broadcast %60 dims [0, 1] : !tile.tile<b0=16 x 64 x f32> to !tile.tile<b0=16 x b1=64 x f32>
// CHECK-NEXT: tile.store %v, %out_2[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<64x64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out_1 : memref<64x64xf32>
func.func @short_rows(%x: memref<900x40xf32>, %ids: memref<64xi32>, %at: memref<64xi32>, %out: memref<64x64xf32>) -> memref<64x64xf32> {
  %out_1 = host.launch @short_rows (%ids_1 = %ids, %at_1 = %at, %x_1 = %x, %out_2 = %out) writes [3] : (memref<64xi32>, memref<64xi32>, memref<900x40xf32>, memref<64x64xf32>) -> memref<64x64xf32> {
    tile.grid (%i: b0=16, %j: b1=64) in (64, 64) plan {order [i, j] parallel [i, j]
        @x = %x_1 runs} {
      %n = tile.load %ids_1[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %f = tile.load %at_1[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %c = tile.index %j : !tile.range<b1=64>
      %a = tile.broadcast %n dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %b = tile.broadcast %f dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %d = tile.broadcast %c dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=16 x b1=64 x i32>
      %q = tile.add %b, %d : !tile.tile<b0=16 x b1=64 x i32>
      %v = tile.load %x_1[%a, %q] via @x : memref<900x40xf32> -> !tile.tile<b0=16 x b1=64 x f32>
      tile.store %v, %out_2[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<64x64xf32>
    }
  }
  func.return %out_1 : memref<64x64xf32>
}
