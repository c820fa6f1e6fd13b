// RUN: kopt %s --split-input-file --verify-diagnostics -p 'realise-values,cse,dce' | filecheck %s

// A small table is loaded whole and its rows taken by a product.
// CHECK-LABEL: func.func @rows
// CHECK: [[T:%.+]] = tile.load %x_1[:, :] : memref<30x200xf32> -> !tile.tile<30 x 200 x f32>
// CHECK-NEXT: [[W:%.+]] = tile.broadcast {{%.+}} dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 200 x i32>
// CHECK-NEXT: tile.take_along [[T]], [[W]] dim 0
func.func @rows(%x: memref<30x200xf32>, %ids: memref<40xi32>) -> memref<40x200xf32> {
  %out = host.alloc : memref<40x200xf32>
  %out_1 = host.launch @rows (%ids_1 = %ids, %x_1 = %x, %out_2 = %out) writes [2] : (memref<40xi32>, memref<30x200xf32>, memref<40x200xf32>) -> memref<40x200xf32> {
    tile.grid (%i: b0=16) in (40) plan {order [i] parallel [i]
        @x = %x_1 one_hot} {
      %n = tile.load %ids_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x_1[%n, :] via @x : memref<30x200xf32> -> !tile.tile<b0=16 x 200 x f32>
      tile.store %v, %out_2[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<40x200xf32>
    }
  }
  func.return %out_1 : memref<40x200xf32>
}

// -----

// Elements of a small table are taken from its rows. By DMA, rows of 16 bits come in groups of 8, from an array that the
// host pads to whole groups.
// CHECK-LABEL: func.func @halves
// CHECK: [[T:%.+]] = tile.load %x_1[:, :] : memref<30x200xbf16> -> !tile.tile<30 x 200 x bf16>
// CHECK: tile.take_along [[T]], {{%.+}} dim 0
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 1
func.func @halves(%x: memref<30x200xbf16>, %ids: memref<40xi32>) -> memref<40xbf16> {
  %out = host.alloc : memref<40xbf16>
  %out_1 = host.launch @halves (%ids_1 = %ids, %x_1 = %x, %out_2 = %out) writes [2] : (memref<40xi32>, memref<30x200xbf16>, memref<40xbf16>) -> memref<40xbf16> {
    tile.grid (%i: b0=16) in (40) plan {order [i] parallel [i]
        @x = %x_1 one_hot} {
      %n = tile.load %ids_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x_1[%n, %n] via @x : memref<30x200xbf16> -> !tile.tile<b0=16 x bf16>
      tile.store %v, %out_2[%i] : !tile.tile<b0=16 x bf16>, memref<40xbf16>
    }
  }
  func.return %out_1 : memref<40xbf16>
}

// -----

// What a cell gathers before it writes is gathered from the array as it was before the launch.
// CHECK-LABEL: func.func @before
// CHECK: host.launch @before ({{.*}}[[NEW:%x_.]] = %x, [[OLD:%x_.]] = %x) writes
// CHECK: tile.load [[OLD]][
// CHECK: tile.store %v, [[NEW]][
func.func @before(%x: memref<300x200xf32>, %ids: memref<300xi32>) -> memref<300x200xf32> {
  %x_1 = host.launch @before (%ids_1 = %ids, %x_2 = %x, %x_3 = %x) writes [1] : (memref<300xi32>, memref<300x200xf32>, memref<300x200xf32>) -> memref<300x200xf32> {
    tile.grid (%i: b0=16) in (300) plan {order [i] parallel [i]
        @x = %x_3 one_hot} {
      %n = tile.load %ids_1[%i] : memref<300xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x_3[%n, :] via @x : memref<300x200xf32> -> !tile.tile<b0=16 x 200 x f32>
      tile.store %v, %x_2[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<300x200xf32>
    }
  }
  func.return %x_1 : memref<300x200xf32>
}

// -----

// One lane of a row that is the same at all places is picked from the rows; one of a small column from that.
// CHECK-LABEL: @one_lane
// CHECK: [[R:%.+]] = tile.load %x_2{{\[%.+}}, :] : memref<2000x200xf32> -> !tile.tile<b0=16 x 200 x f32>
// CHECK: tile.take_along [[R]], {{%.+}} dim 1
// CHECK: [[C:%.+]] = tile.load %y{{.*}}[:, %k] : memref<30x200xf32> -> !tile.tile<30 x f32>
// CHECK: [[W:%.+]] = tile.broadcast [[C]] dims [1]
// CHECK: tile.take_along [[W]], {{%.+}} dim 1
func.func @one_lane(%x: memref<2000x200xf32>, %y: memref<30x200xf32>, %ids: memref<40xi32>) -> memref<40xf32> {
  %out = host.alloc : memref<40xf32>
  %out_1 = host.launch @one_lane (%ids_1 = %ids, %x_1 = %x, %y_1 = %y, %out_2 = %out) writes [3] : (memref<40xi32>, memref<2000x200xf32>, memref<30x200xf32>, memref<40xf32>) -> memref<40xf32> {
    tile.grid (%i: b0=16) in (40) plan {order [i] parallel [i]
        @x = %x_1 rows
        @y = %y_1 pick} {
      %k = tile.id %i : !tile.range<b0=16>
      %n = tile.load %ids_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x_1[%n, %k] via @x : memref<2000x200xf32> -> !tile.tile<b0=16 x f32>
      %w = tile.load %y_1[%n, %k] via @y : memref<30x200xf32> -> !tile.tile<b0=16 x f32>
      %s = tile.add %v, %w : !tile.tile<b0=16 x f32>
      tile.store %s, %out_2[%i] : !tile.tile<b0=16 x f32>, memref<40xf32>
    }
  }
  func.return %out_1 : memref<40xf32>
}

// -----

// Lanes that follow one another from an element of each place on come in rows of 128: of starts that are multiples of 64
// one for 64 lanes, of which the second half is taken where a start has that bit. Lanes of their own are a block.
// CHECK-LABEL: @runs
// CHECK: host.reshape {{%.+}} : memref<600064xf32> to memref<4688x128xf32>
// CHECK: [[R:%.+]] = tile.load %{{.+}}[%{{.+}}, :] : memref<4688x128xf32> -> !tile.tile<b0=16 x 1 x 128 x f32>
// CHECK-NEXT: [[L:%.+]] = tile.reshape [[R]] : {{.*}} to !tile.tile<b0=16 x 128 x f32>
// CHECK: [[A:%.+]] = tile.slice [[L]] [0, 64] [16, 64] [1, 1]
// CHECK: [[B:%.+]] = tile.slice [[L]] [0, 0] [16, 64] [1, 1]
// CHECK: tile.select %{{.+}}, [[A]], [[B]]
// CHECK: [[K:%.+]] = tile.shift %{{.+}} by %{{.+}} : !tile.range<b1=64>
// CHECK: tile.load %{{.+}}[%{{.+}}, [[K]]] : memref<2000x640xf32> -> !tile.tile<b0=16 x b1=64 x f32>
func.func @runs(%x: memref<600000xf32>, %y: memref<2000x640xf32>, %ids: memref<40xi32>) -> memref<40x64xf32> {
  %out = host.alloc : memref<40x64xf32>
  %out_1 = host.launch @runs (%ids_1 = %ids, %x_1 = %x, %y_1 = %y, %out_2 = %out) writes [3] : (memref<40xi32>, memref<600000xf32>, memref<2000x640xf32>, memref<40x64xf32>) -> memref<40x64xf32> {
    tile.grid (%i: b0=16) in (40) plan {order [i] parallel [i]
        @x = %x_1 runs
        @y = %y_1 rows} {
      %n = tile.load %ids_1[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
      %c = tile.full 64 : !tile.tile<b0=16 x i32>
      %m = tile.mul %n, %c : !tile.tile<b0=16 x i32>
      %f = tile.broadcast %m dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
      %a = tile.arange 0, 1 : !tile.tile<64 x i32>
      %w = tile.broadcast %a dims [1] : !tile.tile<64 x i32> to !tile.tile<b0=16 x 64 x i32>
      %at = tile.add %f, %w : !tile.tile<b0=16 x 64 x i32>
      %v = tile.load %x_1[%at] via @x : memref<600000xf32> -> !tile.tile<b0=16 x 64 x f32>
      %o = tile.full 128 : !tile.tile<b0=16 x 64 x i32>
      %l = tile.add %w, %o : !tile.tile<b0=16 x 64 x i32>
      %r = tile.broadcast %n dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
      %0 = tile.whole 64 : !tile.range<b1=64>
      %1 = arith.constant 128 : index
      %2 = tile.shift %0 by %1 : !tile.range<b1=64>
      %u = tile.load %y_1[%n, %2] via @y : memref<2000x640xf32> -> !tile.tile<b0=16 x b1=64 x f32>
      %u_1 = tile.reshape %u : !tile.tile<b0=16 x b1=64 x f32> to !tile.tile<b0=16 x 64 x f32>
      %s = tile.add %v, %u_1 : !tile.tile<b0=16 x 64 x f32>
      tile.store %s, %out_2[%i, :] : !tile.tile<b0=16 x 64 x f32>, memref<40x64xf32>
    }
  }
  func.return %out_1 : memref<40x64xf32>
}

// -----

// Rows of pages, numbered by the elements that they begin at: one sum of rows, and lanes of the array behind the view.
// CHECK-LABEL: func.func @pages
// CHECK: host.reshape %x : memref<6x4x160xf32> to memref<24x160xf32>
// CHECK: [[F:%.+]] = tile.full 4 : !tile.tile<b0=8 x i32>
// CHECK-NEXT: [[P:%.+]] = tile.mul %page, [[F]] : !tile.tile<b0=8 x i32>
// CHECK: [[R:%.+]] = tile.add [[P]], %in : !tile.tile<b0=8 x i32>
// CHECK: tile.load {{%.+}}[:, %m] : memref<24x160xf32> -> !tile.tile<24 x b1=128 x f32>
func.func @pages(%x: memref<6x4x160xf32>, %table: memref<16xi32>, %out: memref<16x160xf32>) -> memref<16x160xf32> {
  %flat = host.reshape %x : memref<6x4x160xf32> to memref<3840xf32>
  %0 = host.reshape %x : memref<6x4x160xf32> to memref<24x160xf32>
  %out_1 = host.launch @pages (%table_1 = %table, %flat_1 = %flat, %out_2 = %out, %x_1 = %0) writes [2] : (memref<16xi32>, memref<3840xf32>, memref<16x160xf32>, memref<24x160xf32>) -> memref<16x160xf32> {
    tile.grid (%i: b0=8, %m: b1=128) in (16, 160) plan {order [i, m] parallel [i, m]
        @x = %x_1 one_hot} {
      %page = tile.load %table_1[%i] : memref<16xi32> -> !tile.tile<b0=8 x i32>
      %size = tile.full 640 : !tile.tile<b0=8 x i32>
      %first = tile.mul %page, %size : !tile.tile<b0=8 x i32>
      %n = tile.index %i : !tile.range<b0=8>
      %three = tile.full 3 : !tile.tile<b0=8 x i32>
      %in = tile.and %n, %three : !tile.tile<b0=8 x i32>
      %width = tile.full 160 : !tile.tile<b0=8 x i32>
      %row = tile.mul %in, %width : !tile.tile<b0=8 x i32>
      %begin = tile.add %first, %row : !tile.tile<b0=8 x i32>
      %b = tile.broadcast %begin dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x b1=128 x i32>
      %l = tile.index %m : !tile.range<b1=128>
      %w = tile.broadcast %l dims [1] : !tile.tile<b1=128 x i32> to !tile.tile<b0=8 x b1=128 x i32>
      %at = tile.add %b, %w : !tile.tile<b0=8 x b1=128 x i32>
      %1 = tile.full 4 : !tile.tile<b0=8 x i32>
      %2 = tile.mul %page, %1 : !tile.tile<b0=8 x i32>
      %3 = tile.add %2, %in : !tile.tile<b0=8 x i32>
      %v = tile.load %x_1[%3, %m] via @x : memref<24x160xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      tile.store %v, %out_2[%i, %m] : !tile.tile<b0=8 x b1=128 x f32>, memref<16x160xf32>
    }
  }
  func.return %out_1 : memref<16x160xf32>
}

// -----

// Single rows of an array beyond VMEM are fetched, all of them or a block of lanes, which may be given by its numbers.
// CHECK-LABEL: func.func @far
// CHECK: [[N:%.+]] = tile.splat
// CHECK: tile.load {{%.+}}[{{%.+}}, %k] : memref<131072x256xf32> -> !tile.tile<1 x b1=128 x f32>
func.func @far(%x: memref<131072x256xf32>, %ids: memref<40xi32>) -> memref<40x256xf32> {
  %out = host.alloc : memref<40x256xf32>
  %out_1 = host.launch @far (%ids_1 = %ids, %x_1 = %x, %out_2 = %out) writes [2] : (memref<40xi32>, memref<131072x256xf32>, memref<40x256xf32>) -> memref<40x256xf32> {
    tile.grid (%i: b0=1, %k: b1=128) in (40, 256) plan {order [i, k] parallel [i, k]
        @x = %x_1 rows} {
      %r = tile.begin %i : !tile.range<b0=1>
      %a = tile.load %ids_1[%r] : memref<40xi32> -> !tile.tile<i32>
      %n = tile.extract %a : !tile.tile<i32> to index
      %l = tile.index %k : !tile.range<b1=128>
      %v = tile.load %x_1[%n, %k] via @x : memref<131072x256xf32> -> !tile.tile<b1=128 x f32>
      tile.store %v, %out_2[%r, %k] : !tile.tile<b1=128 x f32>, memref<40x256xf32>
    }
  }
  func.return %out_1 : memref<40x256xf32>
}

// -----

// In a loop blocks of lanes come a visit ahead; those that DMAs cannot move are cut out of fetched rows.
// CHECK-LABEL: func.func @far_in_loops
// CHECK: tile.load {{%.+}}[%n, %k] : memref<131072x256xf32> -> !tile.tile<b1=128 x f32>
// CHECK: tile.load {{%.+}}[{{%.+}}, %j] : memref<131072x256xf32> -> !tile.tile<1 x b2=32 x f32>
func.func @far_in_loops(%x: memref<131072x256xf32>, %ids: memref<40xi32>, %out: memref<40x256xf32>, %more: memref<40x256xf32>) -> (memref<40x256xf32>, memref<40x256xf32>) {
  %out_1, %more_1 = host.launch @far_in_loops (%ids_1 = %ids, %x_1 = %x, %out_2 = %out, %more_2 = %more) writes [2, 3] : (memref<40xi32>, memref<131072x256xf32>, memref<40x256xf32>, memref<40x256xf32>) -> (memref<40x256xf32>, memref<40x256xf32>) {
    tile.grid (%i: b0=1) in (40) plan {order [i] parallel [i]
        @x = %x_1 rows} {
      %r = tile.begin %i : !tile.range<b0=1>
      %a = tile.load %ids_1[%r] : memref<40xi32> -> !tile.tile<i32>
      %n = tile.extract %a : !tile.tile<i32> to index
      tile.for %k: b1=128 in (0, 256) {
        %v = tile.load %x_1[%n, %k] : memref<131072x256xf32> -> !tile.tile<b1=128 x f32>
        tile.store %v, %out_2[%r, %k] : !tile.tile<b1=128 x f32>, memref<40x256xf32>
      }
      tile.for %j: b2=32 in (0, 256) {
        %w = tile.load %x_1[%n, %j] via @x : memref<131072x256xf32> -> !tile.tile<b2=32 x f32>
        tile.store %w, %more_2[%r, %j] : !tile.tile<b2=32 x f32>, memref<40x256xf32>
      }
    }
  }
  func.return %out_1, %more_1 : memref<40x256xf32>, memref<40x256xf32>
}
