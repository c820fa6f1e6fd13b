// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(return-mutated-arguments,functionalise-host,normalise-accesses,cse,dce)' | filecheck %s

// A range's own lane numbers are that range.
// CHECK-LABEL: func.func @lanes
// CHECK: tile.load %x_1[%i, :] :
func.func @lanes(%x: memref<40x200xf32>) -> memref<40x200xf32> {
  %out = host.alloc : memref<40x200xf32>
  tile.grid (%i: b0=16) in (40) {
    %n = tile.index %i : !tile.range<b0=16>
    %v = tile.load %x[%n, :] : memref<40x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 200 x f32>, memref<40x200xf32>
  }
  func.return %out : memref<40x200xf32>
}

// -----

// Lanes that count from a scalar on are a block; a mask is applied to what it loads. Of what may begin before the array,
// in a dimension that begins anywhere, a gather is left.
// CHECK-LABEL: func.func @counted
// CHECK: [[N:%.+]] = arith.muli
// CHECK: [[W:%.+]] = tile.whole 32 : !tile.range<b1=32>
// CHECK: [[K:%.+]] = tile.shift [[W]] by [[N]]
// CHECK: [[V:%.+]] = tile.load %x_1{{\[}}[[K]], :] : memref<300x200xf32> -> !tile.tile<b1=32 x 200 x f32>
// CHECK-NEXT: [[P:%.+]] = tile.reshape [[V]] : {{.*}} to !tile.tile<32 x 200 x f32>
// CHECK: tile.select {{%.+}}, [[P]],
// CHECK-LABEL: func.func @before
// CHECK-NOT: tile.whole
// CHECK: tile.load %x_1[%k, :, :] mask
func.func @counted(%x: memref<300x200xf32>) -> memref<10x200xf32> {
  %out = host.alloc : memref<10x200xf32>
  tile.grid (%i: b0=1) in (10) {
    %b = tile.begin %i : !tile.range<b0=1>
    %c = arith.constant 32 : index
    %n = arith.muli %b, %c : index
    %s = tile.splat %n : index to !tile.tile<i32>
    %w = tile.broadcast %s dims [] : !tile.tile<i32> to !tile.tile<32 x i32>
    %a = tile.arange 0, 1 : !tile.tile<32 x i32>
    %k = tile.add %a, %w : !tile.tile<32 x i32>
    %e = tile.full 300 : !tile.tile<32 x i32>
    %l = tile.lt %k, %e : !tile.tile<32 x i32>
    %m = tile.broadcast %l dims [0] : !tile.tile<32 x i1> to !tile.tile<32 x 200 x i1>
    %v = tile.load %x[%k, :] mask %m : memref<300x200xf32> -> !tile.tile<32 x 200 x f32>
    %t = tile.reduce add %v [0] : !tile.tile<32 x 200 x f32>
    tile.store %t, %out[%b, :] : !tile.tile<200 x f32>, memref<10x200xf32>
  }
  func.return %out : memref<10x200xf32>
}
func.func @before(%x: memref<300x20x200xf32>) -> memref<10x20x200xf32> {
  %out = host.alloc : memref<10x20x200xf32>
  tile.grid (%i: b0=1) in (10) {
    %b = tile.begin %i : !tile.range<b0=1>
    %s = tile.splat %b : index to !tile.tile<4 x i32>
    %a = tile.arange -3, 1 : !tile.tile<4 x i32>
    %k = tile.add %a, %s : !tile.tile<4 x i32>
    %z = tile.full 0 : !tile.tile<4 x i32>
    %l = tile.ge %k, %z : !tile.tile<4 x i32>
    %m = tile.broadcast %l dims [0] : !tile.tile<4 x i1> to !tile.tile<4 x 20 x 200 x i1>
    %v = tile.load %x[%k, :, :] mask %m : memref<300x20x200xf32> -> !tile.tile<4 x 20 x 200 x f32>
    %t = tile.reduce add %v [0] : !tile.tile<4 x 20 x 200 x f32>
    tile.store %t, %out[%b, :, :] : !tile.tile<20 x 200 x f32>, memref<10x20x200xf32>
  }
  func.return %out : memref<10x20x200xf32>
}

// -----

// What has no lanes stays.
// CHECK-LABEL: @no_lanes
// CHECK: tile.load %{{.+}}[%n] : memref<64xf32> -> !tile.tile<b0=4 x 0 x f32>
func.func @no_lanes(%x: memref<64xf32>, %out: memref<8x0xf32>) -> memref<8x0xf32> {
  tile.grid (%g: b0=4) in (8) {
    %a = tile.arange 0, 1 : !tile.tile<0 x i32>
    %n = tile.broadcast %a dims [1] : !tile.tile<0 x i32> to !tile.tile<b0=4 x 0 x i32>
    %v = tile.load %x[%n] : memref<64xf32> -> !tile.tile<b0=4 x 0 x f32>
    tile.store %v, %out[%g, :] : !tile.tile<b0=4 x 0 x f32>, memref<8x0xf32>
  }
  func.return %out : memref<8x0xf32>
}

// -----

// Groups of lanes that follow one another are one block, reshaped; one whose lanes leave some out is not.
// CHECK-LABEL: @groups
// CHECK: [[W:%.+]] = tile.whole 32 : !tile.range<b1=32>
// CHECK: [[B:%.+]] = tile.begin %g : !tile.range<b0=4>
// CHECK: [[N:%.+]] = arith.muli [[B]],
// CHECK: [[K:%.+]] = tile.shift [[W]] by [[N]]
// CHECK: [[V:%.+]] = tile.load %x_1{{\[}}[[K]]] : memref<64xf32> -> !tile.tile<b1=32 x f32>
// CHECK: [[R:%.+]] = tile.reshape [[V]] : !tile.tile<b1=32 x f32> to !tile.tile<4 x 8 x f32>
// CHECK: tile.broadcast [[R]] dims [0, 1] : !tile.tile<4 x 8 x f32> to !tile.tile<b0=4 x 8 x f32>
// CHECK-LABEL: @gaps
// CHECK-NOT: tile.whole
func.func @groups(%x: memref<64xf32>, %out: memref<8x8xf32>) -> memref<8x8xf32> {
  tile.grid (%g: b0=4) in (8) {
    %i = tile.index %g : !tile.range<b0=4>
    %e = tile.full 8 : !tile.tile<b0=4 x i32>
    %b = tile.mul %i, %e : !tile.tile<b0=4 x i32>
    %p = tile.broadcast %b dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x 8 x i32>
    %a = tile.arange 0, 1 : !tile.tile<8 x i32>
    %q = tile.broadcast %a dims [1] : !tile.tile<8 x i32> to !tile.tile<b0=4 x 8 x i32>
    %n = tile.add %p, %q : !tile.tile<b0=4 x 8 x i32>
    %v = tile.load %x[%n] : memref<64xf32> -> !tile.tile<b0=4 x 8 x f32>
    tile.store %v, %out[%g, :] : !tile.tile<b0=4 x 8 x f32>, memref<8x8xf32>
  }
  func.return %out : memref<8x8xf32>
}
func.func @gaps(%x: memref<64xf32>, %out: memref<8x7xf32>) -> memref<8x7xf32> {
  tile.grid (%g: b0=4) in (8) {
    %i = tile.index %g : !tile.range<b0=4>
    %e = tile.full 8 : !tile.tile<b0=4 x i32>
    %b = tile.mul %i, %e : !tile.tile<b0=4 x i32>
    %p = tile.broadcast %b dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x 7 x i32>
    %a = tile.arange 0, 1 : !tile.tile<7 x i32>
    %q = tile.broadcast %a dims [1] : !tile.tile<7 x i32> to !tile.tile<b0=4 x 7 x i32>
    %n = tile.add %p, %q : !tile.tile<b0=4 x 7 x i32>
    %v = tile.load %x[%n] : memref<64xf32> -> !tile.tile<b0=4 x 7 x f32>
    tile.store %v, %out[%g, :] : !tile.tile<b0=4 x 7 x f32>, memref<8x7xf32>
  }
  func.return %out : memref<8x7xf32>
}

// -----

// Indices that have a dimension of the block each, the last one first: a block that is transposed.
// CHECK-LABEL: @permuted
// CHECK: [[V:%.+]] = tile.load %x{{.*}}[%i, %j] : memref<24x40xf32> -> !tile.tile<b0=8 x b1=16 x f32>
// CHECK: [[T:%.+]] = tile.transpose [[V]] [1, 0] : !tile.tile<b0=8 x b1=16 x f32>
// CHECK: tile.select %m, [[T]],
func.func @permuted(%x: memref<24x40xf32>, %out: memref<40x24xf32>) -> memref<40x24xf32> {
  tile.grid (%i: b0=8, %j: b1=16) in (24, 40) {
    %n = tile.index %i : !tile.range<b0=8>
    %r = tile.broadcast %n dims [1] : !tile.tile<b0=8 x i32> to !tile.tile<b1=16 x b0=8 x i32>
    %k = tile.index %j : !tile.range<b1=16>
    %c = tile.broadcast %k dims [0] : !tile.tile<b1=16 x i32> to !tile.tile<b1=16 x b0=8 x i32>
    %m = tile.lt %r, %c : !tile.tile<b1=16 x b0=8 x i32>
    %v = tile.load %x[%r, %c] mask %m : memref<24x40xf32> -> !tile.tile<b1=16 x b0=8 x f32>
    tile.store %v, %out[%j, %i] : !tile.tile<b1=16 x b0=8 x f32>, memref<40x24xf32>
  }
  func.return %out : memref<40x24xf32>
}

// -----

// So are they where rows are loaded numbers; and what a block so indexed is stored as.
// CHECK-LABEL: @permuted_rows
// CHECK: [[V:%.+]] = tile.load %x{{.*}}[%n, %j] : memref<24x48xf32> -> !tile.tile<b0=8 x b1=16 x f32>
// CHECK: [[T:%.+]] = tile.transpose [[V]] [1, 0] : !tile.tile<b0=8 x b1=16 x f32>
// CHECK: [[B:%.+]] = tile.transpose [[T]] [1, 0] : !tile.tile<b1=16 x b0=8 x f32>
// CHECK: tile.store [[B]], %out{{.*}}[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<24x48xf32>
func.func @permuted_rows(%x: memref<24x48xf32>, %ids: memref<24xi32>, %out: memref<24x48xf32>) -> memref<24x48xf32> {
  tile.grid (%i: b0=8, %j: b1=16) in (24, 48) {
    %n = tile.load %ids[%i] : memref<24xi32> -> !tile.tile<b0=8 x i32>
    %r = tile.broadcast %n dims [1] : !tile.tile<b0=8 x i32> to !tile.tile<b1=16 x b0=8 x i32>
    %k = tile.index %j : !tile.range<b1=16>
    %c = tile.broadcast %k dims [0] : !tile.tile<b1=16 x i32> to !tile.tile<b1=16 x b0=8 x i32>
    %v = tile.load %x[%r, %c] : memref<24x48xf32> -> !tile.tile<b1=16 x b0=8 x f32>
    %o = tile.index %i : !tile.range<b0=8>
    %p = tile.broadcast %o dims [1] : !tile.tile<b0=8 x i32> to !tile.tile<b1=16 x b0=8 x i32>
    tile.store %v, %out[%p, %c] : !tile.tile<b1=16 x b0=8 x f32>, memref<24x48xf32>
  }
  func.return %out : memref<24x48xf32>
}

// -----

// What is chosen from two places is two loads, and a bound that no lane reaches is gone; a gather of fewer indices is left.
// CHECK-LABEL: @chosen
// CHECK: [[V:%.+]] = tile.load %x_1[%i] : memref<4096xf32> -> !tile.tile<b0=128 x f32>
// CHECK: tile.select %c, [[V]],
func.func @chosen(%x: memref<4096xf32>, %flags: memref<1024xi1>) -> memref<1024xf32> {
  %out = host.alloc : memref<1024xf32>
  tile.grid (%i: b0=128) in (1024) {
    %c = tile.load %flags[%i] : memref<1024xi1> -> !tile.tile<b0=128 x i1>
    %n = tile.index %i : !tile.range<b0=128>
    %z = tile.full 0 : !tile.tile<b0=128 x i32>
    %k = tile.select %c, %n, %z : !tile.tile<b0=128 x i32>
    %v = tile.load %x[%k] : memref<4096xf32> -> !tile.tile<b0=128 x f32>
    tile.store %v, %out[%i] : !tile.tile<b0=128 x f32>, memref<1024xf32>
  }
  func.return %out : memref<1024xf32>
}

// -----

// Rows that are loaded by one number for 4 lanes come once for these; masked rows, and rows whose numbers are masked, stay.
// CHECK-LABEL: @groups_by_number
// CHECK: [[N:%.+]] = tile.slice {{%.+}} [0] [4] [4] : !tile.tile<16 x i32> to !tile.tile<4 x i32>
// CHECK: [[V:%.+]] = tile.load %x_1[[[N]], :] : memref<20000x128xf32> -> !tile.tile<4 x 128 x f32>
// CHECK: [[W:%.+]] = tile.broadcast [[V]] dims [0, 2] : {{.*}} to !tile.tile<4 x 4 x 128 x f32>
// CHECK: tile.reshape [[W]] : {{.*}} to !tile.tile<16 x 128 x f32>
// CHECK: tile.load %x_1[%row, :] mask %m
// CHECK: tile.load %x_1[%masked, :]
func.func @groups_by_number(%x: memref<20000x128xf32>, %numbers: memref<64xi32>, %out: memref<64x128xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %n = tile.index %i : !tile.range<b0=16>
    %four = tile.full 4 : !tile.tile<b0=16 x i32>
    %g = tile.floordiv %n, %four : !tile.tile<b0=16 x i32>
    %odd = tile.mod %n, %four : !tile.tile<b0=16 x i32>
    %c = tile.gt %odd, %g : !tile.tile<b0=16 x i32>
    %m = tile.broadcast %c dims [0] : !tile.tile<b0=16 x i1> to !tile.tile<b0=16 x 128 x i1>
    %row = tile.load %numbers[%g] : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %masked = tile.load %numbers[%g] mask %c : memref<64xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %x[%row, :] : memref<20000x128xf32> -> !tile.tile<b0=16 x 128 x f32>
    %w = tile.load %x[%row, :] mask %m : memref<20000x128xf32> -> !tile.tile<b0=16 x 128 x f32>
    %y = tile.load %x[%masked, :] : memref<20000x128xf32> -> !tile.tile<b0=16 x 128 x f32>
    %s = tile.add %v, %w : !tile.tile<b0=16 x 128 x f32>
    %t = tile.add %s, %y : !tile.tile<b0=16 x 128 x f32>
    tile.store %t, %out[%i, :] : !tile.tile<b0=16 x 128 x f32>, memref<64x128xf32>
  }
  func.return
}

// -----

// Updates of a range's own lanes are of its block; row numbers that something loaded stay.
// CHECK-LABEL: @updates
// CHECK: atomic.rmw add %v, %{{out.*}}[%i, :]
// CHECK: atomic.rmw add %v, %{{new.*}}[%n, :]
func.func @updates(%ids: memref<40xi32>, %x: memref<40x200xf32>, %out: memref<40x200xf32>, %new: memref<40x200xf32>) {
  tile.grid (%i: b0=16) in (40) {
    %v = tile.load %x[%i, :] : memref<40x200xf32> -> !tile.tile<b0=16 x 200 x f32>
    %l = tile.index %i : !tile.range<b0=16>
    atomic.rmw add %v, %out[%l, :] : !tile.tile<b0=16 x 200 x f32>, memref<40x200xf32>
    %n = tile.load %ids[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    atomic.rmw add %v, %new[%n, :] : !tile.tile<b0=16 x 200 x f32>, memref<40x200xf32>
  }
  func.return
}

// -----

// An index tile of one number is an index; what of it is updated stays, also by comparison.
// CHECK-LABEL: func.func @singles
// CHECK-NEXT: %out_1, %c_1, %new_1 = host.launch @singles (%ids_1 = %ids, %x_1 = %x, %out_2 = %out, %c_2 = %c, %new_2 = %new) writes [2, 3, 4] : (memref<40xi32>, memref<40x200xf32>, memref<40x200xf32>, memref<40x40xi32>, memref<40x200xf32>) -> (memref<40x200xf32>, memref<40x40xi32>, memref<40x200xf32>) {
// CHECK-NEXT: tile.grid (%i: b0=1) in (40) {
// CHECK-NEXT: %b = tile.begin %i : !tile.range<b0=1>
// CHECK-NEXT: %n = tile.load %ids_1[%b] : memref<40xi32> -> !tile.tile<i32>
// CHECK-NEXT: %v = tile.load %x_1[%b, :] : memref<40x200xf32> -> !tile.tile<200 x f32>
// CHECK-NEXT: %0 = tile.extract %n : !tile.tile<i32> to index
// CHECK-NEXT: tile.store %v, %new_2[%0, :] : !tile.tile<200 x f32>, memref<40x200xf32>
// CHECK-NEXT: %p = atomic.rmw add %v, %out_2[%0, :] : !tile.tile<200 x f32>, memref<40x200xf32> -> !tile.tile<200 x f32>
// CHECK-NEXT: %l = tile.load %x_1[%0, :] : memref<40x200xf32> -> !tile.tile<200 x f32>
// CHECK-NEXT: %s = tile.add %p, %l : !tile.tile<200 x f32>
// CHECK-NEXT: tile.store %s, %new_2[%b, :] : !tile.tile<200 x f32>, memref<40x200xf32>
// CHECK-NEXT: %one = tile.full 1 : !tile.tile<i32>
// CHECK-NEXT: %q = atomic.cas %one, %n, %c_2[%0, %b] : !tile.tile<i32>, memref<40x40xi32>
// CHECK-NEXT: tile.store %q, %c_2[%b, %b] : !tile.tile<i32>, memref<40x40xi32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %new_1, %out_1, %c_1 : memref<40x200xf32>, memref<40x200xf32>, memref<40x40xi32>
func.func @singles(%ids: memref<40xi32>, %x: memref<40x200xf32>, %new: memref<40x200xf32>, %out: memref<40x200xf32>, %c: memref<40x40xi32>) {
  tile.grid (%i: b0=1) in (40) {
    %b = tile.begin %i : !tile.range<b0=1>
    %n = tile.load %ids[%b] : memref<40xi32> -> !tile.tile<i32>
    %v = tile.load %x[%b, :] : memref<40x200xf32> -> !tile.tile<200 x f32>
    tile.store %v, %new[%n, :] : !tile.tile<200 x f32>, memref<40x200xf32>
    %p = atomic.rmw add %v, %out[%n, :] : !tile.tile<200 x f32>, memref<40x200xf32> -> !tile.tile<200 x f32>
    %l = tile.load %x[%n, :] : memref<40x200xf32> -> !tile.tile<200 x f32>
    %s = tile.add %p, %l : !tile.tile<200 x f32>
    tile.store %s, %new[%b, :] : !tile.tile<200 x f32>, memref<40x200xf32>
    %one = tile.full 1 : !tile.tile<i32>
    %q = atomic.cas %one, %n, %c[%n, %b] : !tile.tile<i32>, memref<40x40xi32>
    tile.store %q, %c[%b, %b] : !tile.tile<i32>, memref<40x40xi32>
  }
  func.return
}

// -----

// A comparing update at a range's own lanes is of its block.
// CHECK-LABEL: func.func @compared
// CHECK-NEXT: %x_1, %out_1 = host.launch @compared (%x_2 = %x, %out_2 = %out) writes [0, 1] : (memref<40x200xi32>, memref<40x200xi32>) -> (memref<40x200xi32>, memref<40x200xi32>) {
// CHECK-NEXT: tile.grid (%i: b0=8) in (40) {
// CHECK-NEXT: %v = tile.load %x_2[%i, :] : memref<40x200xi32> -> !tile.tile<b0=8 x 200 x i32>
// CHECK-NEXT: %w = tile.neg %v : !tile.tile<b0=8 x 200 x i32>
// CHECK-NEXT: %q = atomic.cas %v, %w, %out_2[%i, :] : !tile.tile<b0=8 x 200 x i32>, memref<40x200xi32>
// CHECK-NEXT: tile.store %q, %x_2[%i, :] : !tile.tile<b0=8 x 200 x i32>, memref<40x200xi32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %x_1, %out_1 : memref<40x200xi32>, memref<40x200xi32>
func.func @compared(%x: memref<40x200xi32>, %out: memref<40x200xi32>) {
  tile.grid (%i: b0=8) in (40) {
    %n = tile.index %i : !tile.range<b0=8>
    %v = tile.load %x[%i, :] : memref<40x200xi32> -> !tile.tile<b0=8 x 200 x i32>
    %w = tile.neg %v : !tile.tile<b0=8 x 200 x i32>
    %q = atomic.cas %v, %w, %out[%n, :] : !tile.tile<b0=8 x 200 x i32>, memref<40x200xi32>
    tile.store %q, %x[%i, :] : !tile.tile<b0=8 x 200 x i32>, memref<40x200xi32>
  }
  func.return
}

// -----

// Updates of no elements go; what they give is undefined: zeros.
// CHECK-LABEL: func.func @idle
// CHECK-NEXT: %x_1, %seen_1 = host.launch @idle (%ids_1 = %ids, %x_2 = %x, %seen_2 = %seen) writes [1, 2] : (memref<40xi32>, memref<0x200xf32>, memref<40x200xf32>) -> (memref<0x200xf32>, memref<40x200xf32>) {
// CHECK-NEXT: tile.grid (%i: b0=8) in (40) {
// CHECK-NEXT: %p = tile.full 0.0 : !tile.tile<b0=8 x 200 x f32>
// CHECK-NEXT: tile.store %p, %seen_2[%i, :] : !tile.tile<b0=8 x 200 x f32>, memref<40x200xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %x_1, %seen_1 : memref<0x200xf32>, memref<40x200xf32>
func.func @idle(%ids: memref<40xi32>, %x: memref<0x200xf32>, %seen: memref<40x200xf32>) {
  tile.grid (%i: b0=8) in (40) {
    %n = tile.load %ids[%i] : memref<40xi32> -> !tile.tile<b0=8 x i32>
    %v = tile.full 1.0 : !tile.tile<b0=8 x 200 x f32>
    %p = atomic.rmw add %v, %x[%n, :] : !tile.tile<b0=8 x 200 x f32>, memref<0x200xf32> -> !tile.tile<b0=8 x 200 x f32>
    tile.store %p, %seen[%i, :] : !tile.tile<b0=8 x 200 x f32>, memref<40x200xf32>
    tile.store %v, %x[%n, :] : !tile.tile<b0=8 x 200 x f32>, memref<0x200xf32>
  }
  func.return
}

// -----

// One element, masked where it may lie outside: it is taken inside the array, and the mask chooses behind it.
// CHECK-LABEL: func.func @one_element
// CHECK-NEXT: %out_1 = host.launch @one_element (%at_1 = %at, %x_1 = %x, %out_2 = %out) writes [2] : (memref<8xi32>, memref<64xf32>, memref<8x1xf32>) -> memref<8x1xf32> {
// CHECK-NEXT: tile.grid (%i: b0=1) in (8) {
// CHECK-NEXT: %b = tile.begin %i : !tile.range<b0=1>
// CHECK-NEXT: %n = tile.load %at_1[%b] : memref<8xi32> -> !tile.tile<i32>
// CHECK-NEXT: %w = tile.broadcast %n dims [] : !tile.tile<i32> to !tile.tile<1 x i32>
// CHECK-NEXT: %z = tile.full 0 : !tile.tile<1 x i32>
// CHECK-NEXT: %e = tile.full 64 : !tile.tile<1 x i32>
// CHECK-NEXT: %g = tile.ge %w, %z : !tile.tile<1 x i32>
// CHECK-NEXT: %l = tile.lt %w, %e : !tile.tile<1 x i32>
// CHECK-NEXT: %m = tile.and %g, %l : !tile.tile<1 x i1>
// CHECK-NEXT: %0 = tile.extract %n : !tile.tile<i32> to index
// CHECK-NEXT: %1 = arith.constant 0 : index
// CHECK-NEXT: %2 = arith.maxsi %0, %1 : index
// CHECK-NEXT: %3 = arith.constant 63 : index
// CHECK-NEXT: %4 = arith.minsi %2, %3 : index
// CHECK-NEXT: %5 = tile.load %x_1[%4] : memref<64xf32> -> !tile.tile<f32>
// CHECK-NEXT: %6 = tile.reshape %5 : !tile.tile<f32> to !tile.tile<1 x f32>
// CHECK-NEXT: %7 = tile.full 9.0 : !tile.tile<1 x f32>
// CHECK-NEXT: %v = tile.select %m, %6, %7 : !tile.tile<1 x f32>
// CHECK-NEXT: tile.store %v, %out_2[%b, :] : !tile.tile<1 x f32>, memref<8x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out_1 : memref<8x1xf32>
func.func @one_element(%x: memref<64xf32>, %at: memref<8xi32>, %out: memref<8x1xf32>) {
  tile.grid (%i: b0=1) in (8) {
    %b = tile.begin %i : !tile.range<b0=1>
    %n = tile.load %at[%b] : memref<8xi32> -> !tile.tile<i32>
    %w = tile.broadcast %n dims [] : !tile.tile<i32> to !tile.tile<1 x i32>
    %z = tile.full 0 : !tile.tile<1 x i32>
    %e = tile.full 64 : !tile.tile<1 x i32>
    %g = tile.ge %w, %z : !tile.tile<1 x i32>
    %l = tile.lt %w, %e : !tile.tile<1 x i32>
    %m = tile.and %g, %l : !tile.tile<1 x i1>
    %v = tile.load %x[%w] mask %m other 9.0 : memref<64xf32> -> !tile.tile<1 x f32>
    tile.store %v, %out[%b, :] : !tile.tile<1 x f32>, memref<8x1xf32>
  }
  func.return
}

// -----

// A store by row numbers beside one by numbers of columns stays by numbers: whole rows are not its lanes.
// CHECK-LABEL: func.func @beside
// CHECK-NEXT: %out_1 = host.launch @beside (%ids_1 = %ids, %w_1 = %w, %v_1 = %v, %out_2 = %out) writes [3] : (memref<8xi32>, memref<8x16xf32>, memref<8x8xf32>, memref<64x16xf32>) -> memref<64x16xf32> {
// CHECK-NEXT: tile.grid (%i: b0=8) in (8) {
// CHECK-NEXT: %n = tile.load %ids_1[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
// CHECK-NEXT: %all = tile.load %w_1[%i, :] : memref<8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
// CHECK-NEXT: tile.store %all, %out_2[%n, :] : !tile.tile<b0=8 x 16 x f32>, memref<64x16xf32>
// CHECK-NEXT: %m = tile.load %ids_1[:] : memref<8xi32> -> !tile.tile<8 x i32>
// CHECK-NEXT: %a = tile.broadcast %n dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 8 x i32>
// CHECK-NEXT: %b = tile.broadcast %m dims [1] : !tile.tile<8 x i32> to !tile.tile<b0=8 x 8 x i32>
// CHECK-NEXT: %x = tile.load %v_1[%i, :] : memref<8x8xf32> -> !tile.tile<b0=8 x 8 x f32>
// CHECK-NEXT: tile.store %x, %out_2[%a, %b] : !tile.tile<b0=8 x 8 x f32>, memref<64x16xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: func.return %out_1 : memref<64x16xf32>
func.func @beside(%ids: memref<8xi32>, %v: memref<8x8xf32>, %w: memref<8x16xf32>, %out: memref<64x16xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.load %ids[%i] : memref<8xi32> -> !tile.tile<b0=8 x i32>
    %all = tile.load %w[%i, :] : memref<8x16xf32> -> !tile.tile<b0=8 x 16 x f32>
    tile.store %all, %out[%n, :] : !tile.tile<b0=8 x 16 x f32>, memref<64x16xf32>
    %m = tile.load %ids[:] : memref<8xi32> -> !tile.tile<8 x i32>
    %a = tile.broadcast %n dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x 8 x i32>
    %b = tile.broadcast %m dims [1] : !tile.tile<8 x i32> to !tile.tile<b0=8 x 8 x i32>
    %x = tile.load %v[%i, :] : memref<8x8xf32> -> !tile.tile<b0=8 x 8 x f32>
    tile.store %x, %out[%a, %b] : !tile.tile<b0=8 x 8 x f32>, memref<64x16xf32>
  }
  func.return
}
