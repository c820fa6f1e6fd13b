// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,normalise-accesses,plan-values,realise-values,cse,dce)' | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(functionalise-host,normalise-accesses,plan-values{prefer=rows},realise-values,cse,dce)' | filecheck %s --check-prefix=DMA

// A small table is loaded whole and its rows taken by a product; or each row comes by a DMA, from an operand of its own.
// CHECK-LABEL: func.func @rows
// CHECK: [[T:%.+]] = tile.load %x_1[:, :] : memref<30x200xf32> -> !tile.tile<30 x 200 x f32>
// CHECK-NEXT: [[W:%.+]] = tile.broadcast {{%.+}} dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 200 x i32>
// CHECK-NEXT: tile.take_along [[T]], [[W]] dim 0
// DMA-LABEL: func.func @rows
// DMA: host.launch @rows ({{.*}}%x_2 = %x)
// DMA: [[H:%.+]] = tile.minimum %n, {{%.+}} : !tile.tile<b0=16 x i32>
// DMA: [[C:%.+]] = tile.maximum [[H]], {{%.+}} : !tile.tile<b0=16 x i32>
// DMA-NEXT: tile.load %x_2{{\[}}[[C]], :] : memref<30x200xf32> -> !tile.tile<b0=16 x 200 x f32>
func.func @rows(%x: memref<30x200xf32>, %ids: memref<40xi32>) -> memref<40x200xf32> {
  %out = host.alloc : memref<40x200xf32>
  tile.grid (%i: b0=16) in (40) {
    %n = tile.load %ids[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n, :] : memref<30x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<40x200xf32>
  }
  func.return %out : memref<40x200xf32>
}

// -----

// Elements of a small table are taken from its rows. By DMA, rows of 16 bits come in groups of 8, from an array that the
// host pads to whole groups.
// CHECK-LABEL: func.func @halves
// CHECK: [[T:%.+]] = tile.load %x_1[:, :] : memref<30x200xbf16> -> !tile.tile<30 x 200 x bf16>
// CHECK: tile.take_along [[T]], {{%.+}} dim 0
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 1
// DMA-LABEL: func.func @halves
// DMA: [[P:%.+]] = host.call "aten.constant_pad_nd.default"(%x) {{.*}} -> (memref<32x200xbf16>)
// DMA: [[G:%.+]] = host.reshape [[P]] : memref<32x200xbf16> to memref<4x8x200xbf16>
// DMA: [[R:%.+]] = tile.load %x_2{{\[%.+}}, :, :] : memref<4x8x200xbf16> -> !tile.tile<b0=16 x 8 x 200 x bf16>
// DMA: tile.take_along {{%.+}}, {{%.+}} dim 2
// DMA: tile.take_along {{%.+}}, {{%.+}} dim 1
func.func @halves(%x: memref<30x200xbf16>, %ids: memref<40xi32>) -> memref<40xbf16> {
  %out = host.alloc : memref<40xbf16>
  tile.grid (%i: b0=16) in (40) {
    %n = tile.load %ids[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n, %n] : memref<30x200xbf16> -> !tile.tile<b0=16 x bf16>
    tile.store %v, %out[%i] : !tile.tile<b0=16 x bf16>, memref<40xbf16>
  }
  func.return %out : memref<40xbf16>
}

// -----

// What a cell gathers before it writes is gathered from the array as it was before the launch.
// CHECK-LABEL: func.func @before
// CHECK: host.launch @before ({{.*}}[[NEW:%x_.]] = %x, [[OLD:%x_.]] = %x) writes
// CHECK: tile.load [[OLD]][
// CHECK: tile.store %v, [[NEW]][
func.func @before(%x: memref<300x200xf32>, %ids: memref<300xi32>) -> memref<300x200xf32> {
  tile.grid (%i: b0=16) in (300) {
    %n = tile.load %ids[%i] : memref<300xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n, :] : memref<300x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    tile.store %v, %x[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<300x200xf32>
  }
  func.return %x : memref<300x200xf32>
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
  tile.grid (%i: b0=16) in (40) {
    %k = tile.id %i : !tile.range<b0=16>
    %n = tile.load %ids[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%n, %k] : memref<2000x200xf32> -> !tile.tile<b0=16 x f32>
    %w = tile.load %y[%n, %k] : memref<30x200xf32> -> !tile.tile<b0=16 x f32>
    %s = tile.add %v, %w : !tile.tile<b0=16 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=16 x f32>, memref<40xf32>
  }
  func.return %out : memref<40xf32>
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
  tile.grid (%i: b0=16) in (40) {
    %n = tile.load %ids[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    %c = tile.full 64 : !tile.tile<b0=16 x i32>
    %m = tile.mul %n, %c : !tile.tile<b0=16 x i32>
    %f = tile.broadcast %m dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
    %a = tile.arange 0, 1 : !tile.tile<64 x i32>
    %w = tile.broadcast %a dims [1] : !tile.tile<64 x i32> to !tile.tile<b0=16 x 64 x i32>
    %at = tile.add %f, %w : !tile.tile<b0=16 x 64 x i32>
    %v = tile.load %x[%at] : memref<600000xf32> -> !tile.tile<b0=16 x 64 x f32>
    %o = tile.full 128 : !tile.tile<b0=16 x 64 x i32>
    %l = tile.add %w, %o : !tile.tile<b0=16 x 64 x i32>
    %r = tile.broadcast %n dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x 64 x i32>
    %u = tile.load %y[%r, %l] : memref<2000x640xf32> -> !tile.tile<b0=16 x 64 x f32>
    %s = tile.add %v, %u : !tile.tile<b0=16 x 64 x f32>
    tile.store %s, %out[%i, :] : !tile.tile<b0=16 x 64 x f32>, memref<40x64xf32>
  }
  func.return %out : memref<40x64xf32>
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
  tile.grid (%i: b0=8, %m: b1=128) in (16, 160) {
    %page = tile.load %table[%i] : memref<16xi32> -> !tile.tile<b0=8 x i32>
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
    %v = tile.load %flat[%at] : memref<3840xf32> -> !tile.tile<b0=8 x b1=128 x f32>
    tile.store %v, %out[%i, %m] : !tile.tile<b0=8 x b1=128 x f32>, memref<16x160xf32>
  }
  func.return %out : memref<16x160xf32>
}

// -----

// Single rows of an array beyond VMEM are fetched, all of them or a block of lanes, which may be given by its numbers.
// CHECK-LABEL: func.func @far
// CHECK: [[N:%.+]] = tile.splat
// CHECK: tile.load {{%.+}}[{{%.+}}, %k] : memref<131072x256xf32> -> !tile.tile<1 x b1=128 x f32>
func.func @far(%x: memref<131072x256xf32>, %ids: memref<40xi32>) -> memref<40x256xf32> {
  %out = host.alloc : memref<40x256xf32>
  tile.grid (%i: b0=1, %k: b1=128) in (40, 256) {
    %r = tile.begin %i : !tile.range<b0=1>
    %a = tile.load %ids[%r] : memref<40xi32> -> !tile.tile<i32>
    %n = tile.extract %a : !tile.tile<i32> to index
    %l = tile.index %k : !tile.range<b1=128>
    %v = tile.load %x[%n, %l] : memref<131072x256xf32> -> !tile.tile<b1=128 x f32>
    tile.store %v, %out[%r, %k] : !tile.tile<b1=128 x f32>, memref<40x256xf32>
  }
  func.return %out : memref<40x256xf32>
}

// -----

// In a loop blocks of lanes come a visit ahead; those that DMAs cannot move are cut out of fetched rows.
// CHECK-LABEL: func.func @far_in_loops
// CHECK: tile.load {{%.+}}[%n, %k] : memref<131072x256xf32> -> !tile.tile<b1=128 x f32>
// CHECK: tile.load {{%.+}}[{{%.+}}, %j] : memref<131072x256xf32> -> !tile.tile<1 x b2=32 x f32>
func.func @far_in_loops(%x: memref<131072x256xf32>, %ids: memref<40xi32>, %out: memref<40x256xf32>, %more: memref<40x256xf32>) -> (memref<40x256xf32>, memref<40x256xf32>) {
  tile.grid (%i: b0=1) in (40) {
    %r = tile.begin %i : !tile.range<b0=1>
    %a = tile.load %ids[%r] : memref<40xi32> -> !tile.tile<i32>
    %n = tile.extract %a : !tile.tile<i32> to index
    tile.for %k: b1=128 in (0, 256) {
      %v = tile.load %x[%n, %k] : memref<131072x256xf32> -> !tile.tile<b1=128 x f32>
      tile.store %v, %out[%r, %k] : !tile.tile<b1=128 x f32>, memref<40x256xf32>
    }
    tile.for %j: b2=32 in (0, 256) {
      %w = tile.load %x[%n, %j] : memref<131072x256xf32> -> !tile.tile<b2=32 x f32>
      tile.store %w, %more[%r, %j] : !tile.tile<b2=32 x f32>, memref<40x256xf32>
    }
  }
  func.return %out, %more : memref<40x256xf32>, memref<40x256xf32>
}

// -----

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
  tile.grid (%i: b0=16, %j: b1=8) in (40, 8) {
    %l = tile.index %i : !tile.range<b0=16>
    %t = tile.full 3 : !tile.tile<b0=16 x i32>
    %z = tile.full 0 : !tile.tile<b0=16 x i32>
    %e = tile.full 39 : !tile.tile<b0=16 x i32>
    %zero = tile.full 0.0 : !tile.tile<b1=8 x b0=16 x f32>
    %b = tile.sub %l, %t : !tile.tile<b0=16 x i32>
    %n = tile.maximum %b, %z : !tile.tile<b0=16 x i32>
    %v = tile.load %x[%j, %n] : memref<8x40xf32> -> !tile.tile<b1=8 x b0=16 x f32>
    %c = tile.ge %b, %z : !tile.tile<b0=16 x i32>
    %m = tile.select %c, %b, %z : !tile.tile<b0=16 x i32>
    %w = tile.load %y[%j, %m] : memref<8x40xf32> -> !tile.tile<b1=8 x b0=16 x f32>
    %d = tile.broadcast %c dims [1] : !tile.tile<b0=16 x i1> to !tile.tile<b1=8 x b0=16 x i1>
    %k = tile.select %d, %w, %zero : !tile.tile<b1=8 x b0=16 x f32>
    %f = tile.minimum %l, %e : !tile.tile<b0=16 x i32>
    %u = tile.load %y[%j, %f] : memref<8x40xf32> -> !tile.tile<b1=8 x b0=16 x f32>
    %s = tile.add %v, %k : !tile.tile<b1=8 x b0=16 x f32>
    %r = tile.add %s, %u : !tile.tile<b1=8 x b0=16 x f32>
    tile.store %r, %out[%j, %i] : !tile.tile<b1=8 x b0=16 x f32>, memref<8x40xf32>
  }
  func.return %out : memref<8x40xf32>
}

// -----

// Every 16th lane of rows of flat storage: all lanes of the rows come, once for both loads.
// CHECK-LABEL: @every
// CHECK: [[V:%.+]] = tile.load {{%.+}}[%r, :] : memref<64x256xf32> -> !tile.tile<b0=8 x 256 x f32>
// CHECK-NOT: tile.load
// CHECK: [[S:%.+]] = tile.reshape [[V]] : !tile.tile<b0=8 x 256 x f32> to !tile.tile<b0=8 x 16 x 16 x f32>
// CHECK: tile.slice [[S]] [0, 0, 0] [8, 16, 1] [1, 1, 1]
// CHECK: tile.slice [[S]] [0, 0, 9] [8, 16, 1] [1, 1, 1]
func.func @every(%x: memref<16384xf32>, %out: memref<64x16xf32>) -> memref<64x16xf32> {
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
    %u = tile.load %x[%n] : memref<16384xf32> -> !tile.tile<b0=8 x 16 x f32>
    %v = tile.load %x[%m] : memref<16384xf32> -> !tile.tile<b0=8 x 16 x f32>
    %s = tile.add %u, %v : !tile.tile<b0=8 x 16 x f32>
    tile.store %s, %out[%r, :] : !tile.tile<b0=8 x 16 x f32>, memref<64x16xf32>
  }
  func.return %out : memref<64x16xf32>
}

// Elements that lie near one number, here up to 12 from a multiple of 32 on: the block around them, and picks from it.
// CHECK-LABEL: @near
// CHECK: [[W:%.+]] = tile.whole 128
// CHECK: [[B:%.+]] = tile.shift [[W]] by %{{.+}} : !tile.range<[[T:b[0-9]+]]=128>
// CHECK: [[V:%.+]] = tile.load {{%.+}}[[[B]]] : memref<4096xf32> -> !tile.tile<[[T]]=128 x f32>
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 0 : !tile.tile<1 x 128 x f32>
// CHECK: tile.take_along {{%.+}}, {{%.+}} dim 1
// CHECK-NOT: tile.load
func.func @near(%x: memref<4096xf32>, %out: memref<1024xf32>) -> memref<1024xf32> {
  tile.grid (%r: b0=8) in (1024) {
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
    %v = tile.load %x[%n] : memref<4096xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %out[%r] : !tile.tile<b0=8 x f32>, memref<1024xf32>
  }
  func.return %out : memref<1024xf32>
}

// -----

// Lanes that were taken apart and put together again count by fours: every fourth lane of a block.
// CHECK-LABEL: @every_fourth
// CHECK: [[W:%.+]] = tile.whole 32
// CHECK: [[B:%.+]] = tile.shift [[W]] by %{{.+}} : !tile.range<[[T:b[0-9]+]]=32>
// CHECK: [[V:%.+]] = tile.load {{%.+}}[[[B]]] : memref<4096xf32> -> !tile.tile<[[T]]=32 x f32>
// CHECK-NOT: tile.load
func.func @every_fourth(%x: memref<4096xf32>, %out: memref<1024xf32>) -> memref<1024xf32> {
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
    %v = tile.load %x[%n] : memref<4096xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %out[%r] : !tile.tile<b0=8 x f32>, memref<1024xf32>
  }
  func.return %out : memref<1024xf32>
}

// -----

// A row by a loaded number of an array that does not fit is fetched alone; one by the grid's number is a window.
// CHECK-LABEL: @far
// CHECK: [[ROW:%.+]] = tile.splat %n : index to !tile.tile<1 x i32>
// CHECK: tile.load %{{.*}}[%{{.*}}, :] : memref<100000x128xf32> -> !tile.tile<1 x 128 x f32>
// CHECK: tile.load %{{.*}}[%p, :] : memref<100000x128xf32> -> !tile.tile<128 x f32>
func.func @far(%x: memref<100000x128xf32>, %at: memref<1xi32>, %out: memref<5x128xf32>) -> memref<5x128xf32> {
  tile.grid (%i: b0=1) in (5) {
    %s = tile.load %at[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    %v = tile.load %x[%n, :] : memref<100000x128xf32> -> !tile.tile<128 x f32>
    %p = tile.begin %i : !tile.range<b0=1>
    %w = tile.load %x[%p, :] : memref<100000x128xf32> -> !tile.tile<128 x f32>
    %u = tile.add %v, %w : !tile.tile<128 x f32>
    tile.store %u, %out[%p, :] : !tile.tile<128 x f32>, memref<5x128xf32>
  }
  func.return %out : memref<5x128xf32>
}

// -----

// Blocks of 16 rows take one row of a table each: it comes once, and is repeated.
// CHECK-LABEL: @repeated
// CHECK: [[V:%.+]] = tile.load %{{.+}}[%{{.+}}, %j] : memref<40x96xf32> -> !tile.tile<b1=96 x f32>
// CHECK-NEXT: tile.broadcast [[V]] dims [1] : !tile.tile<b1=96 x f32> to !tile.tile<b0=16 x b1=96 x f32>
// CHECK-NOT: tile.load
func.func @repeated(%x: memref<40x96xf32>, %out: memref<64x96xf32>) -> memref<64x96xf32> {
  tile.grid (%i: b0=16, %j: b1=96) in (64, 96) {
    %r = tile.index %i : !tile.range<b0=16>
    %c = tile.index %j : !tile.range<b1=96>
    %s = tile.full 16 : !tile.tile<b0=16 x i32>
    %q = tile.floordiv %r, %s : !tile.tile<b0=16 x i32>
    %n = tile.broadcast %q dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=96 x i32>
    %m = tile.broadcast %c dims [1] : !tile.tile<b1=96 x i32> to !tile.tile<b0=16 x b1=96 x i32>
    %v = tile.load %x[%n, %m] : memref<40x96xf32> -> !tile.tile<b0=16 x b1=96 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=16 x b1=96 x f32>, memref<64x96xf32>
  }
  func.return %out : memref<64x96xf32>
}

// -----

// Each row of the block goes backwards from a loaded number on: two rows of memory come for it, which are shifted to
// where its lanes begin; a product takes these. Forced DMAs bring a row of memory for each lane.
// CHECK-LABEL: @backwards_from
// CHECK: %rows = tile.load %{{.+}}[%{{.+}}, :] : memref<3907x128xf32> -> !tile.tile<16 x 2 x 128 x f32>
// CHECK: tile.reshape %rows : !tile.tile<16 x 2 x 128 x f32> to !tile.tile<16 x 256 x f32>
// CHECK: tile.take_along %{{.+}}, %{{.+}} dim 0 : !tile.tile<{{[0-9]+}} x 16 x f32>, !tile.tile<64 x 16 x i32>
// CHECK-NOT: tile.load
// DMA-LABEL: @backwards_from
// DMA: tile.load %{{.+}}[%{{.+}}, :] : memref<3907x128xf32> -> !tile.tile<b0=16 x b1=64 x 128 x f32>
func.func @backwards_from(%x: memref<500000xf32>, %ids: memref<64xi32>, %out: memref<64x64xf32>) -> memref<64x64xf32> {
  tile.grid (%i: b0=16, %j: b1=64) in (64, 64) {
    %n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %c = tile.index %j : !tile.range<b1=64>
    %w = tile.full 64 : !tile.tile<b0=16 x i32>
    %p = tile.mul %n, %w : !tile.tile<b0=16 x i32>
    %l = tile.full 300 : !tile.tile<b1=64 x i32>
    %q = tile.sub %l, %c : !tile.tile<b1=64 x i32>
    %a = tile.broadcast %p dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=64 x i32>
    %b = tile.broadcast %q dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=16 x b1=64 x i32>
    %at = tile.add %a, %b : !tile.tile<b0=16 x b1=64 x i32>
    %v = tile.load %x[%at] : memref<500000xf32> -> !tile.tile<b0=16 x b1=64 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<64x64xf32>
  }
  func.return %out : memref<64x64xf32>
}

// -----

// Columns of a matrix backwards, of rows by number: each row comes once, not once for each of its lanes.
// CHECK-LABEL: @columns_backwards
// CHECK: %rows = tile.load %{{.+}}[%{{.+}}, :] : memref<900x320xf32> -> !tile.tile<16 x 320 x f32>
// CHECK: [[C:%.+]] = tile.transpose %rows [1, 0]
// CHECK: tile.take_along [[C]], %{{.+}} dim 0 : !tile.tile<320 x 16 x f32>, !tile.tile<64 x 16 x i32>
// CHECK-NOT: tile.load
func.func @columns_backwards(%x: memref<900x320xf32>, %ids: memref<64xi32>, %out: memref<64x64xf32>) -> memref<64x64xf32> {
  tile.grid (%i: b0=16, %j: b1=64) in (64, 64) {
    %n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %c = tile.index %j : !tile.range<b1=64>
    %l = tile.full 300 : !tile.tile<b1=64 x i32>
    %q = tile.sub %l, %c : !tile.tile<b1=64 x i32>
    %a = tile.broadcast %n dims [0] : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x b1=64 x i32>
    %b = tile.broadcast %q dims [1] : !tile.tile<b1=64 x i32> to !tile.tile<b0=16 x b1=64 x i32>
    %v = tile.load %x[%a, %b] : memref<900x320xf32> -> !tile.tile<b0=16 x b1=64 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<64x64xf32>
  }
  func.return %out : memref<64x64xf32>
}

// -----

// Some lanes are near a number of their row, others near one that is known: both come, and a choice is made.
// CHECK-LABEL: @cases
// CHECK-DAG: tile.load %{{.+}}[%{{.+}}, :] : memref<3907x128xf32> -> !tile.tile<16 x {{[0-9]+}} x 128 x f32>
// CHECK-DAG: tile.load %{{.+}}[%{{.+}}, :] : memref<3907x128xf32> -> !tile.tile<{{[0-9]+}} x 128 x f32>
// CHECK: tile.select
func.func @cases(%x: memref<500000xf32>, %ids: memref<64xi32>, %out: memref<64x64xf32>) -> memref<64x64xf32> {
  tile.grid (%i: b0=16, %j: b1=64) in (64, 64) {
    %n = tile.load %ids[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
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
    %v = tile.load %x[%at] : memref<500000xf32> -> !tile.tile<b0=16 x b1=64 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<64x64xf32>
  }
  func.return %out : memref<64x64xf32>
}
