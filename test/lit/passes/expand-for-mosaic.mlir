// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(expand-for-mosaic,cse,dce)' | filecheck %s

// Bytes are added and compared in 32 bits; the sum wraps when it is cast back.
// CHECK-LABEL: func.func @bytes
// CHECK: [[A:%.+]] = tile.cast %a : !tile.tile<b0=32 x 128 x i8> to !tile.tile<b0=32 x 128 x i32>
// CHECK-NEXT: [[S:%.+]] = tile.add [[A]], [[A]] : !tile.tile<b0=32 x 128 x i32>
// CHECK-NEXT: [[N:%.+]] = tile.cast [[S]] : !tile.tile<b0=32 x 128 x i32> to !tile.tile<b0=32 x 128 x i8>
// CHECK: tile.lt {{.*}} : !tile.tile<b0=32 x 128 x i32>
func.func @bytes(%x: memref<32x128xi8>) {
  tile.grid (%i: b0=32) in (32) {
    %a = tile.load %x[%i, :] : memref<32x128xi8> -> !tile.tile<b0=32 x 128 x i8>
    %s = tile.add %a, %a : !tile.tile<b0=32 x 128 x i8>
    %c = tile.lt %a, %s : !tile.tile<b0=32 x 128 x i8>
    %v = tile.select %c, %s, %a : !tile.tile<b0=32 x 128 x i8>
    tile.store %v, %x[%i, :] : !tile.tile<b0=32 x 128 x i8>, memref<32x128xi8>
  }
  func.return
}

// -----

// Narrow values are combined, and get another last dimension, in 32 bits.
// CHECK-LABEL: func.func @narrow
// CHECK: [[W:%.+]] = tile.cast %a : !tile.tile<b0=32 x 128 x bf16> to !tile.tile<b0=32 x 128 x f32>
// CHECK-NEXT: [[M:%.+]] = tile.reduce max [[W]] [1] : !tile.tile<b0=32 x 128 x f32>
// CHECK-NEXT: [[R:%.+]] = tile.cast [[M]] : !tile.tile<b0=32 x f32> to !tile.tile<b0=32 x bf16>
// CHECK-NEXT: [[C:%.+]] = tile.cast [[R]] : !tile.tile<b0=32 x bf16> to !tile.tile<b0=32 x f32>
// CHECK-NEXT: [[B:%.+]] = tile.broadcast [[C]] dims [0] : !tile.tile<b0=32 x f32> to !tile.tile<b0=32 x 128 x f32>
// CHECK-NEXT: tile.cast [[B]] : !tile.tile<b0=32 x 128 x f32> to !tile.tile<b0=32 x 128 x bf16>
func.func @narrow(%x: memref<32x128xbf16>) {
  tile.grid (%i: b0=32) in (32) {
    %a = tile.load %x[%i, :] : memref<32x128xbf16> -> !tile.tile<b0=32 x 128 x bf16>
    %m = tile.reduce max %a [1] : !tile.tile<b0=32 x 128 x bf16>
    %b = tile.broadcast %m dims [0] : !tile.tile<b0=32 x bf16> to !tile.tile<b0=32 x 128 x bf16>
    tile.store %b, %x[%i, :] : !tile.tile<b0=32 x 128 x bf16>, memref<32x128xbf16>
  }
  func.return
}

// -----

// Two batch dimensions become one, and come back with their tags.
// CHECK-LABEL: func.func @batches
// CHECK: [[L:%.+]] = tile.reshape %a : !tile.tile<b0=2 x 3 x 8 x 128 x f32> to !tile.tile<6 x 8 x 128 x f32>
// CHECK: [[D:%.+]] = tile.dot [[L]], {{.*}} -> !tile.tile<6 x 8 x 128 x f32>
// CHECK-NEXT: [[R:%.+]] = tile.reshape [[D]] : !tile.tile<6 x 8 x 128 x f32> to !tile.tile<2 x 3 x 8 x 128 x f32>
// CHECK-NEXT: tile.broadcast [[R]] dims [0, 1, 2, 3] : !tile.tile<2 x 3 x 8 x 128 x f32> to !tile.tile<b0=2 x 3 x 8 x 128 x f32>
func.func @batches(%x: memref<4x3x8x128xf32>, %y: memref<4x3x128x128xf32>) {
  tile.grid (%i: b0=2) in (4) {
    %a = tile.load %x[%i, :, :, :] : memref<4x3x8x128xf32> -> !tile.tile<b0=2 x 3 x 8 x 128 x f32>
    %b = tile.load %y[%i, :, :, :] : memref<4x3x128x128xf32> -> !tile.tile<b0=2 x 3 x 128 x 128 x f32>
    %d = tile.dot %a, %b : !tile.tile<b0=2 x 3 x 8 x 128 x f32>, !tile.tile<b0=2 x 3 x 128 x 128 x f32> -> !tile.tile<b0=2 x 3 x 8 x 128 x f32>
    tile.store %d, %x[%i, :, :, :] : !tile.tile<b0=2 x 3 x 8 x 128 x f32>, memref<4x3x8x128xf32>
  }
  func.return
}

// -----

// Words are four signed bytes each: ten products of bytes, those of one place added up, then shifted to it.
// CHECK-LABEL: func.func @words
// CHECK: [[B:%.+]] = tile.cast %a : !tile.tile<128 x 128 x i32> to !tile.tile<128 x 128 x i8>
// CHECK: tile.sub %a
// CHECK: [[P:%.+]] = tile.dot [[B]], {{.*}} : !tile.tile<128 x 128 x i8>, !tile.tile<128 x 128 x i8> -> !tile.tile<128 x 128 x i32>
// CHECK: [[Q:%.+]] = tile.dot [[B]], {{%[^,]*}} :
// CHECK-NEXT: [[R:%.+]] = tile.dot {{%[^,]*}}, {{%[^,]*}}, [[Q]] :
// CHECK-NEXT: [[S:%.+]] = tile.shl [[R]],
// CHECK-NEXT: tile.add [[P]], [[S]]
// CHECK-COUNT-7: tile.dot
// CHECK-NOT: tile.dot
func.func @words(%x: memref<128x128xi32>) {
  tile.grid (%i: b0=128) in (128) {
    %a = tile.load %x[:, :] : memref<128x128xi32> -> !tile.tile<128 x 128 x i32>
    %d = tile.dot %a, %a : !tile.tile<128 x 128 x i32>, !tile.tile<128 x 128 x i32> -> !tile.tile<128 x 128 x i32>
    tile.store %d, %x[:, :] : !tile.tile<128 x 128 x i32>, memref<128x128xi32>
  }
  func.return
}

// -----

// A TPU has scalars of 32 bits only: one narrow element comes as a block of one lane, and who widens it takes it wide.
// CHECK-LABEL: func.func @elements
// CHECK: [[L:%.+]] = tile.load %s[2, 11:12] : memref<4x16xbf16> -> !tile.tile<1 x bf16>
// CHECK-NEXT: [[W:%.+]] = tile.cast [[L]] : !tile.tile<1 x bf16> to !tile.tile<1 x f32>
// CHECK-NEXT: %v = tile.reshape [[W]] : !tile.tile<1 x f32> to !tile.tile<f32>
// CHECK-NEXT: tile.broadcast %v dims [] : !tile.tile<f32>
// CHECK: tile.load %s[2, %i] : memref<4x16xbf16> -> !tile.tile<b0=1 x bf16>
// CHECK: tile.load %s[3, %i] : memref<4x16xbf16> -> !tile.tile<b0=1 x bf16>
func.func @elements(%x: memref<16x128xf32>, %s: memref<4x16xbf16>) {
  tile.grid (%i: b0=1) in (16) {
    %n = tile.load %s[2, 11] : memref<4x16xbf16> -> !tile.tile<bf16>
    %v = tile.cast %n : !tile.tile<bf16> to !tile.tile<f32>
    %b = tile.broadcast %v dims [] : !tile.tile<f32> to !tile.tile<b0=1 x 128 x f32>
    %k = tile.begin %i : !tile.range<b0=1>
    %m = tile.load %s[2, %k] : memref<4x16xbf16> -> !tile.tile<bf16>
    %w = tile.cast %m : !tile.tile<bf16> to !tile.tile<f32>
    %c = tile.broadcast %w dims [] : !tile.tile<f32> to !tile.tile<b0=1 x 128 x f32>
    %r = tile.add %b, %c : !tile.tile<b0=1 x 128 x f32>
    %j = tile.id %i : !tile.range<b0=1>
    %o = tile.load %s[3, %j] : memref<4x16xbf16> -> !tile.tile<bf16>
    %p = tile.cast %o : !tile.tile<bf16> to !tile.tile<f32>
    %d = tile.broadcast %p dims [] : !tile.tile<f32> to !tile.tile<b0=1 x 128 x f32>
    %t = tile.add %r, %d : !tile.tile<b0=1 x 128 x f32>
    tile.store %t, %x[%i, :] : !tile.tile<b0=1 x 128 x f32>, memref<16x128xf32>
  }
  func.return
}

// -----

// A lane whose number is computed is a block of one that begins there; masked, it is selected in 32 bits.
// CHECK-LABEL: func.func @computed_lanes
// CHECK: [[O:%.+]] = tile.shift {{%.+}} by %n : !tile.range<[[B:b[0-9]+]]=1>
// CHECK-NEXT: [[L:%.+]] = tile.load %s[[[O]]] : memref<16xi8> -> !tile.tile<[[B]]=1 x i8>
// CHECK-NEXT: [[W:%.+]] = tile.cast [[L]] : !tile.tile<[[B]]=1 x i8> to !tile.tile<[[B]]=1 x i32>
// CHECK-NEXT: [[R:%.+]] = tile.reshape [[W]] : !tile.tile<[[B]]=1 x i32> to !tile.tile<i32>
// CHECK-NEXT: [[F:%.+]] = tile.full 7 : !tile.tile<i32>
// CHECK-NEXT: [[V:%.+]] = tile.select %p, [[R]], [[F]] : !tile.tile<i32>
// CHECK-NEXT: tile.cast [[V]] : !tile.tile<i32> to !tile.tile<f32>
func.func @computed_lanes(%x: memref<16xf32>, %s: memref<16xi8>, %at: memref<16xi32>) {
  tile.grid (%i: b0=1) in (16) {
    %k = tile.begin %i : !tile.range<b0=1>
    %a = tile.load %at[%k] : memref<16xi32> -> !tile.tile<i32>
    %n = tile.extract %a : !tile.tile<i32> to index
    %c = tile.full 3 : !tile.tile<i32>
    %p = tile.gt %a, %c : !tile.tile<i32>
    %v = tile.load %s[%n] mask %p other 7 : memref<16xi8> -> !tile.tile<i8>
    %f = tile.cast %v : !tile.tile<i8> to !tile.tile<f32>
    tile.store %f, %x[%k] : !tile.tile<f32>, memref<16xf32>
  }
  func.return
}

// -----

// Lanes are moved in 32 bits; a function of the kernel's own computes in the types that it was written for, and wraps.
// CHECK-LABEL: func.func @moved
// CHECK: [[V:%.+]] = tile.cast %v : !tile.tile<8 x 128 x i8> to !tile.tile<8 x 128 x i32>
// CHECK-NEXT: tile.associative_scan [[V]] dim 1 : !tile.tile<8 x 128 x i32> {
// CHECK-NEXT: ^bb0(%l: !tile.tile<i32>, %r: !tile.tile<i32>):
// CHECK: [[C:%.+]] = tile.add {{%.+}}, {{%.+}} : !tile.tile<i32>
// CHECK: [[N:%.+]] = tile.shl [[C]], {{%.+}} : !tile.tile<i32>
// CHECK: [[W:%.+]] = tile.shr [[N]], {{%.+}} : !tile.tile<i32>
// CHECK-NEXT: tile.yield [[W]] : !tile.tile<i32>
// CHECK: tile.sort [[V]] dim 1 : !tile.tile<8 x 128 x i32>
// CHECK-NEXT: tile.cast {{%.+}} : !tile.tile<8 x 128 x i32> to !tile.tile<8 x 128 x i8>
func.func @moved(%v: !tile.tile<8 x 128 x i8>) -> (!tile.tile<8 x 128 x i8>, !tile.tile<8 x 128 x i8>) {
  %a = tile.associative_scan %v dim 1 : !tile.tile<8 x 128 x i8> {
  ^bb0(%l: !tile.tile<i8>, %r: !tile.tile<i8>):
    %c = tile.add %l, %r : !tile.tile<i8>
    tile.yield %c : !tile.tile<i8>
  }
  %s, %n = tile.sort %v dim 1 : !tile.tile<8 x 128 x i8>
  func.return %a, %s : !tile.tile<8 x 128 x i8>, !tile.tile<8 x 128 x i8>
}

// -----

// Lanes that were picked in 32 bits lose the picked dimension, are masked and selected from there, and cast last.
// CHECK-LABEL: func.func @picked
// CHECK: [[P:%.+]] = tile.take_along {{.+}} f32>
// CHECK: [[R:%.+]] = tile.reshape [[P]] : !tile.tile<64 x 1 x 128 x f32> to !tile.tile<64 x 128 x f32>
// CHECK: [[S:%.+]] = tile.select %c, [[R]], {{%.+}} : !tile.tile<64 x 128 x f32>
// CHECK: tile.cast [[S]] : !tile.tile<64 x 128 x f32> to !tile.tile<64 x 128 x bf16>
func.func @picked(%x: !tile.tile<64 x 8 x 128 x bf16>, %n: !tile.tile<64 x 1 x 128 x i32>, %c: !tile.tile<64 x 128 x i1>) -> !tile.tile<64 x 128 x bf16> {
  %p = tile.take_along %x, %n dim 1 : !tile.tile<64 x 8 x 128 x bf16>, !tile.tile<64 x 1 x 128 x i32>
  %r = tile.reshape %p : !tile.tile<64 x 1 x 128 x bf16> to !tile.tile<64 x 128 x bf16>
  %z = tile.full 0.0 : !tile.tile<64 x 128 x bf16>
  %s = tile.select %c, %r, %z : !tile.tile<64 x 128 x bf16>
  func.return %s : !tile.tile<64 x 128 x bf16>
}

// -----

// What is computed from picked lanes is masked in 32 bits too, and rounded last.
// CHECK-LABEL: func.func @scaled_pick
// CHECK: [[M:%.+]] = tile.mul {{%.+}}, %f : !tile.tile<64 x 128 x f32>
// CHECK: [[S:%.+]] = tile.select %c, [[M]], {{%.+}} : !tile.tile<64 x 128 x f32>
// CHECK: tile.cast [[S]] : !tile.tile<64 x 128 x f32> to !tile.tile<64 x 128 x bf16>
func.func @scaled_pick(%x: !tile.tile<64 x 8 x 128 x bf16>, %n: !tile.tile<64 x 1 x 128 x i32>, %f: !tile.tile<64 x 128 x f32>, %c: !tile.tile<64 x 128 x i1>) -> !tile.tile<64 x 128 x bf16> {
  %p = tile.take_along %x, %n dim 1 : !tile.tile<64 x 8 x 128 x bf16>, !tile.tile<64 x 1 x 128 x i32>
  %r = tile.reshape %p : !tile.tile<64 x 1 x 128 x bf16> to !tile.tile<64 x 128 x bf16>
  %w = tile.cast %r : !tile.tile<64 x 128 x bf16> to !tile.tile<64 x 128 x f32>
  %m = tile.mul %w, %f : !tile.tile<64 x 128 x f32>
  %b = tile.cast %m : !tile.tile<64 x 128 x f32> to !tile.tile<64 x 128 x bf16>
  %z = tile.full 0.0 : !tile.tile<64 x 128 x bf16>
  %s = tile.select %c, %b, %z : !tile.tile<64 x 128 x bf16>
  func.return %s : !tile.tile<64 x 128 x bf16>
}

// -----

// Rows are joined until a row of the result fits, then cut: 6 lanes to 9 by way of 18. What Mosaic has stays.
// CHECK-LABEL: func.func @cut_elsewhere
// CHECK: [[J:%.+]] = tile.reshape %x : !tile.tile<8 x 6 x 6 x f32> to !tile.tile<8 x 2 x 3 x 6 x f32>
// CHECK-NEXT: [[P:%.+]] = tile.slice [[J]] [0, 0, 0, 0] [8, 2, 1, 6] [1, 1, 1, 1]
// CHECK: [[W:%.+]] = tile.concat {{.+}} dim 2 : {{.+}} to !tile.tile<8 x 2 x 18 x f32>
// CHECK: tile.slice [[W]] [0, 0, 9] [8, 2, 9] [1, 1, 1]
// CHECK: [[C:%.+]] = tile.concat {{.+}} dim 2 : {{.+}} to !tile.tile<8 x 2 x 2 x 9 x f32>
// CHECK: tile.reshape [[C]] : !tile.tile<8 x 2 x 2 x 9 x f32> to !tile.tile<8 x 4 x 9 x f32>
// CHECK: tile.reshape %x : !tile.tile<8 x 6 x 6 x f32> to !tile.tile<8 x 36 x f32>
func.func @cut_elsewhere(%x: !tile.tile<8 x 6 x 6 x f32>) -> (!tile.tile<8 x 4 x 9 x f32>, !tile.tile<8 x 36 x f32>) {
  %r = tile.reshape %x : !tile.tile<8 x 6 x 6 x f32> to !tile.tile<8 x 4 x 9 x f32>
  %s = tile.reshape %x : !tile.tile<8 x 6 x 6 x f32> to !tile.tile<8 x 36 x f32>
  func.return %r, %s : !tile.tile<8 x 4 x 9 x f32>, !tile.tile<8 x 36 x f32>
}

// -----

// Dimensions of a loop's block are cut like others: what is outside of it is masked by now.
// CHECK-LABEL: func.func @cut_blocks
// CHECK-COUNT-8: tile.slice {{.+}} : !tile.tile<1 x 256 x f32>
// CHECK: [[C:%.+]] = tile.concat {{.+}} dim 1 : {{.+}} to !tile.tile<1 x 8 x 32 x f32>
// CHECK: tile.reshape [[C]] : !tile.tile<1 x 8 x 32 x f32> to !tile.tile<8 x 32 x f32>
func.func @cut_blocks(%x: memref<768xf32>, %out: memref<24x32xf32>) {
  tile.grid (%i: b0=8, %j: b1=256) in (24, 768) {
    %v = tile.load %x[%j] : memref<768xf32> -> !tile.tile<b1=256 x f32>
    %r = tile.reshape %v : !tile.tile<b1=256 x f32> to !tile.tile<8 x 32 x f32>
    %b = tile.broadcast %r dims [0, 1] : !tile.tile<8 x 32 x f32> to !tile.tile<b0=8 x 32 x f32>
    tile.store %b, %out[%i, :] : !tile.tile<b0=8 x 32 x f32>, memref<24x32xf32>
  }
  func.return
}

// -----

// Branches give, and loops carry, predicates as numbers.
// CHECK-LABEL: func.func @carried
// CHECK: [[N:%.+]] = scf.if %c -> (!tile.tile<b0=32 x i32>) {
// CHECK: tile.for {{.*}} iter([[A:%.+]] = [[I:%.+]]) -> (!tile.tile<b0=32 x i32>) {
// CHECK-NEXT: tile.cast [[A]] : !tile.tile<b0=32 x i32> to !tile.tile<b0=32 x i1>
// CHECK: tile.yield {{.*}} : !tile.tile<b0=32 x i32>
func.func @carried(%x: memref<64xi32>, %c: i1) {
  tile.grid (%i: b0=32) in (64) {
    %v = tile.load %x[%i] : memref<64xi32> -> !tile.tile<b0=32 x i32>
    %z = tile.full 0 : !tile.tile<b0=32 x i32>
    %p = tile.lt %v, %z : !tile.tile<b0=32 x i32>
    %q = scf.if %c -> (!tile.tile<b0=32 x i1>) {
      scf.yield %p : !tile.tile<b0=32 x i1>
    } else {
      %e = tile.eq %v, %z : !tile.tile<b0=32 x i32>
      scf.yield %e : !tile.tile<b0=32 x i1>
    }
    %r = tile.for %k: b1=1 in (0, 4) iter(%a = %q) -> (!tile.tile<b0=32 x i1>) {
      %b = tile.xor %a, %p : !tile.tile<b0=32 x i1>
      tile.yield %b : !tile.tile<b0=32 x i1>
    }
    %s = tile.select %r, %v, %z : !tile.tile<b0=32 x i32>
    tile.store %s, %x[%i] : !tile.tile<b0=32 x i32>, memref<64xi32>
  }
  func.return
}

// -----

// One lane of each pair is every other lane, taken before the reshape; one that Mosaic has is left.
// CHECK-LABEL: func.func @lane_of_each_group
// CHECK-NEXT: [[S:%.+]] = tile.slice %x [257] [128] [2] : !tile.tile<1024 x f32> to !tile.tile<128 x f32>
// CHECK-NEXT: %a = tile.reshape [[S]] : !tile.tile<128 x f32> to !tile.tile<128 x 1 x f32>
// CHECK-NEXT: %q = tile.reshape %y : !tile.tile<8 x 6 x f32> to !tile.tile<8 x 3 x 2 x f32>
// CHECK-NEXT: %b = tile.slice %q
func.func @lane_of_each_group(%x: !tile.tile<1024 x f32>, %y: !tile.tile<8 x 6 x f32>) -> (!tile.tile<128 x 1 x f32>, !tile.tile<8 x 3 x 1 x f32>) {
  %p = tile.reshape %x : !tile.tile<1024 x f32> to !tile.tile<512 x 2 x f32>
  %a = tile.slice %p [128, 1] [128, 1] [1, 1] : !tile.tile<512 x 2 x f32> to !tile.tile<128 x 1 x f32>
  %q = tile.reshape %y : !tile.tile<8 x 6 x f32> to !tile.tile<8 x 3 x 2 x f32>
  %b = tile.slice %q [0, 0, 1] [8, 3, 1] [1, 1, 1] : !tile.tile<8 x 3 x 2 x f32> to !tile.tile<8 x 3 x 1 x f32>
  func.return %a, %b : !tile.tile<128 x 1 x f32>, !tile.tile<8 x 3 x 1 x f32>
}

// -----

// Scalars of 16 bits are carried in 32: each visit rounds them all the same.
// CHECK-LABEL: func.func @carried_scalar
// CHECK: tile.for {{.*}} iter([[A:%.+]] = {{.*}}) -> (!tile.tile<f32>) {
// CHECK-NEXT: tile.cast [[A]] : !tile.tile<f32> to !tile.tile<bf16>
// CHECK: tile.yield {{.*}} : !tile.tile<f32>
func.func @carried_scalar(%x: memref<64x128xbf16>, %out: memref<64xbf16>) {
  tile.grid (%i: b0=1) in (64) {
    %n = tile.begin %i : !tile.range<b0=1>
    %z = tile.full 0.0 : !tile.tile<bf16>
    %r = tile.for %k: b1=32 in (0, 128) iter(%a = %z) -> (!tile.tile<bf16>) {
      %v = tile.load %x[%n, %k] : memref<64x128xbf16> -> !tile.tile<b1=32 x bf16>
      %s = tile.reduce add %v [0] : !tile.tile<b1=32 x bf16>
      %w = tile.cast %a : !tile.tile<bf16> to !tile.tile<f32>
      %t = tile.cast %s : !tile.tile<bf16> to !tile.tile<f32>
      %u = tile.add %w, %t : !tile.tile<f32>
      %b = tile.cast %u : !tile.tile<f32> to !tile.tile<bf16>
      tile.yield %b : !tile.tile<bf16>
    }
    tile.store %r, %out[%n] : !tile.tile<bf16>, memref<64xbf16>
  }
  func.return
}

// -----

// Masks of a few narrow rows are done in 32 bits.
// CHECK-LABEL: func.func @few
// CHECK: [[W:%.+]] = tile.cast %v : !tile.tile<4 x b0=128 x bf16> to !tile.tile<4 x b0=128 x f32>
// CHECK-NEXT: tile.mask [[W]] in (_, %i) else 0.0 : !tile.tile<4 x b0=128 x f32>
func.func @few(%x: memref<4x200xbf16>) {
  tile.grid (%i: b0=128) in (200) {
    %v = tile.load %x[:, %i] : memref<4x200xbf16> -> !tile.tile<4 x b0=128 x bf16>
    %m = tile.mask %v in (_, %i) else 0.0 : !tile.tile<4 x b0=128 x bf16>
    tile.store %m, %x[:, %i] : !tile.tile<4 x b0=128 x bf16>, memref<4x200xbf16>
  }
  func.return
}

// -----

// A predicate with one more dimension compares what has it; what a broadcast repeats is repeated along that too.
// CHECK-LABEL: @compared
// CHECK-NOT: to !tile.tile<8 x 128 x i32>
// CHECK: %[[R:.*]] = tile.broadcast %r dims [1] : !tile.tile<8 x i32> to !tile.tile<1 x 8 x 128 x i32>
// CHECK-NEXT: %[[C:.*]] = tile.broadcast %c dims [2] : !tile.tile<128 x i32> to !tile.tile<1 x 8 x 128 x i32>
// CHECK-NEXT: %q = tile.ge %[[R]], %[[C]] : !tile.tile<1 x 8 x 128 x i32>
// CHECK-NOT: tile.cast
func.func @compared(%x: memref<1x8x128xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %r = tile.arange 0, 1 : !tile.tile<8 x i32>
    %c = tile.arange 0, 1 : !tile.tile<128 x i32>
    %r1 = tile.reshape %r : !tile.tile<8 x i32> to !tile.tile<8 x 1 x i32>
    %a = tile.broadcast %r1 dims [0, 1] : !tile.tile<8 x 1 x i32> to !tile.tile<8 x 128 x i32>
    %b = tile.broadcast %c dims [1] : !tile.tile<128 x i32> to !tile.tile<8 x 128 x i32>
    %p = tile.ge %a, %b : !tile.tile<8 x 128 x i32>
    %q = tile.reshape %p : !tile.tile<8 x 128 x i1> to !tile.tile<1 x 8 x 128 x i1>
    %v = tile.load %x[:, :, :] : memref<1x8x128xf32> -> !tile.tile<1 x 8 x 128 x f32>
    %z = tile.full 0.0 : !tile.tile<1 x 8 x 128 x f32>
    %s = tile.select %q, %v, %z : !tile.tile<1 x 8 x 128 x f32>
    tile.store %s, %x[:, :, :] : !tile.tile<1 x 8 x 128 x f32>, memref<1x8x128xf32>
  }
  func.return
}

// -----

// Also where there are no lanes.
// CHECK-LABEL: @compared_nothing
// CHECK: %[[R:.*]] = tile.broadcast %r dims [1] : !tile.tile<0 x i32> to !tile.tile<1 x 0 x 128 x i32>
// CHECK: tile.ge %[[R]], %{{.*}} : !tile.tile<1 x 0 x 128 x i32>
func.func @compared_nothing(%r: !tile.tile<0 x i32>, %b: !tile.tile<0 x 128 x i32>) -> !tile.tile<1 x 0 x 128 x i1> {
  %a = tile.broadcast %r dims [0] : !tile.tile<0 x i32> to !tile.tile<0 x 128 x i32>
  %p = tile.ge %a, %b : !tile.tile<0 x 128 x i32>
  %q = tile.reshape %p : !tile.tile<0 x 128 x i1> to !tile.tile<1 x 0 x 128 x i1>
  func.return %q : !tile.tile<1 x 0 x 128 x i1>
}

// -----

// Rows of two parts in turn: words of 32 bits have one element of each, so that no row moves.
// CHECK-LABEL: func.func @interleaved
// CHECK-NEXT: [[E:%.+]] = tile.cast %a : !tile.tile<8 x 128 x bf16> to !tile.tile<8 x 128 x f32>
// CHECK-NEXT: [[L:%.+]] = tile.bitcast [[E]] : !tile.tile<8 x 128 x f32> to !tile.tile<8 x 128 x i32>
// CHECK: [[S:%.+]] = tile.shr [[L]], {{%.+}} : !tile.tile<8 x 128 x i32>
// CHECK: [[LOW:%.+]] = tile.and [[S]], {{%.+}} : !tile.tile<8 x 128 x i32>
// CHECK: [[H:%.+]] = tile.bitcast {{%.+}} : !tile.tile<8 x 128 x f32> to !tile.tile<8 x 128 x i32>
// CHECK-NEXT: [[W:%.+]] = tile.or [[LOW]], [[H]] : !tile.tile<8 x 128 x i32>
// CHECK-NEXT: %r = pallas.bitcast [[W]] : !tile.tile<8 x 128 x i32> to !tile.tile<16 x 128 x bf16>
func.func @interleaved(%a: !tile.tile<8 x 128 x bf16>, %b: !tile.tile<8 x 128 x bf16>) -> !tile.tile<16 x 128 x bf16> {
  %c = tile.reshape %a : !tile.tile<8 x 128 x bf16> to !tile.tile<8 x 1 x 128 x bf16>
  %d = tile.reshape %b : !tile.tile<8 x 128 x bf16> to !tile.tile<8 x 1 x 128 x bf16>
  %e = tile.concat %c, %d dim 1 : !tile.tile<8 x 1 x 128 x bf16>, !tile.tile<8 x 1 x 128 x bf16> to !tile.tile<8 x 2 x 128 x bf16>
  %r = tile.reshape %e : !tile.tile<8 x 2 x 128 x bf16> to !tile.tile<16 x 128 x bf16>
  func.return %r : !tile.tile<16 x 128 x bf16>
}

// -----

// Two of the four bytes of a word are not enough of them.
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: pallas.bitcast
// CHECK: func.return
func.func @bytes(%a: !tile.tile<8 x 128 x i8>, %b: !tile.tile<8 x 128 x i8>) -> !tile.tile<16 x 128 x i8> {
  %c = tile.reshape %a : !tile.tile<8 x 128 x i8> to !tile.tile<8 x 1 x 128 x i8>
  %d = tile.reshape %b : !tile.tile<8 x 128 x i8> to !tile.tile<8 x 1 x 128 x i8>
  %e = tile.concat %c, %d dim 1 : !tile.tile<8 x 1 x 128 x i8>, !tile.tile<8 x 1 x 128 x i8> to !tile.tile<8 x 2 x 128 x i8>
  %r = tile.reshape %e : !tile.tile<8 x 2 x 128 x i8> to !tile.tile<16 x 128 x i8>
  func.return %r : !tile.tile<16 x 128 x i8>
}

// -----

// A masked vector that gets a dimension is not made of parts.
// CHECK-LABEL: func.func @vector
// CHECK: [[M:%.+]] = tile.mask %a in (%i)
// CHECK-NEXT: tile.reshape [[M]] : !tile.tile<b0=8 x f32> to !tile.tile<1 x b0=8 x f32>
func.func @vector(%x: memref<20xf32>, %out: memref<1x20xf32>) {
  tile.grid (%i: b0=8) in (20) {
    %a = tile.load %x[%i] : memref<20xf32> -> !tile.tile<b0=8 x f32>
    %m = tile.mask %a in (%i) else 0.0 : !tile.tile<b0=8 x f32>
    %r = tile.reshape %m : !tile.tile<b0=8 x f32> to !tile.tile<1 x b0=8 x f32>
    tile.store %r, %out[:, %i] : !tile.tile<1 x b0=8 x f32>, memref<1x20xf32>
  }
  func.return
}

// -----

// Mosaic has any and all of a matrix of predicates. Others are of numbers: of one row, of all lanes, how many are odd.
// CHECK-LABEL: func.func @predicates
// CHECK: %a = tile.reduce or %p [1] : !tile.tile<8 x 128 x i1>
// CHECK: tile.reduce max {{.*}} [0, 1] : !tile.tile<8 x 128 x i32>
// CHECK: tile.reduce {{.*}} [0] : !tile.tile<8 x 128 x i32>
func.func @predicates(%p: !tile.tile<8 x 128 x i1>) -> (!tile.tile<8 x i1>, !tile.tile<i1>, !tile.tile<128 x i1>) {
  %a = tile.reduce or %p [1] : !tile.tile<8 x 128 x i1>
  %b = tile.reduce or %p [0, 1] : !tile.tile<8 x 128 x i1>
  %c = tile.reduce xor %p [0] : !tile.tile<8 x 128 x i1>
  func.return %a, %b, %c : !tile.tile<8 x i1>, !tile.tile<i1>, !tile.tile<128 x i1>
}

// -----

// Only f32 is taken apart: what is rounded already stays.
// CHECK-LABEL: func.func @rounded
// CHECK-NEXT: %d = tile.dot %l, %r precision bf16x3 :
// CHECK-NEXT: %e = tile.dot %l, %r precision tf32x3 :
// CHECK-NEXT: func.return %d, %e
func.func @rounded(%l: !tile.tile<8 x 128 x bf16>, %r: !tile.tile<128 x 128 x bf16>) -> (!tile.tile<8 x 128 x f32>, !tile.tile<8 x 128 x f32>) {
  %d = tile.dot %l, %r precision bf16x3 : !tile.tile<8 x 128 x bf16>, !tile.tile<128 x 128 x bf16> -> !tile.tile<8 x 128 x f32>
  %e = tile.dot %l, %r precision tf32x3 : !tile.tile<8 x 128 x bf16>, !tile.tile<128 x 128 x bf16> -> !tile.tile<8 x 128 x f32>
  func.return %d, %e : !tile.tile<8 x 128 x f32>, !tile.tile<8 x 128 x f32>
}

// -----

// Products of unsigned bytes are exact in f32 up to 256 terms; longer ones are summed in parts.
// CHECK-LABEL: func.func @unsigned
// CHECK-NEXT: tile.grid (%i: b0=8) in (8) {
// CHECK-NEXT: %l = tile.load %x[%i, :] : memref<8x300xui8> -> !tile.tile<b0=8 x 300 x ui8>
// CHECK-NEXT: %r = tile.load %y[:, :] : memref<300x128xui8> -> !tile.tile<300 x 128 x ui8>
// CHECK-NEXT: %0 = tile.cast %l : !tile.tile<b0=8 x 300 x ui8> to !tile.tile<b0=8 x 300 x bf16>
// CHECK-NEXT: %1 = tile.cast %r : !tile.tile<300 x 128 x ui8> to !tile.tile<300 x 128 x bf16>
// CHECK-NEXT: %2 = tile.slice %0 [0, 0] [8, 256] [1, 1] : !tile.tile<b0=8 x 300 x bf16> to !tile.tile<b0=8 x 256 x bf16>
// CHECK-NEXT: %3 = tile.slice %1 [0, 0] [256, 128] [1, 1] : !tile.tile<300 x 128 x bf16> to !tile.tile<256 x 128 x bf16>
// CHECK-NEXT: %4 = tile.dot %2, %3 : !tile.tile<b0=8 x 256 x bf16>, !tile.tile<256 x 128 x bf16> -> !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %5 = tile.cast %4 : !tile.tile<b0=8 x 128 x f32> to !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %6 = tile.slice %0 [0, 256] [8, 44] [1, 1] : !tile.tile<b0=8 x 300 x bf16> to !tile.tile<b0=8 x 44 x bf16>
// CHECK-NEXT: %7 = tile.slice %1 [256, 0] [44, 128] [1, 1] : !tile.tile<300 x 128 x bf16> to !tile.tile<44 x 128 x bf16>
// CHECK-NEXT: %8 = tile.dot %6, %7 : !tile.tile<b0=8 x 44 x bf16>, !tile.tile<44 x 128 x bf16> -> !tile.tile<b0=8 x 128 x f32>
// CHECK-NEXT: %9 = tile.cast %8 : !tile.tile<b0=8 x 128 x f32> to !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: %d = tile.add %5, %9 : !tile.tile<b0=8 x 128 x i32>
// CHECK-NEXT: tile.store %d, %out[%i, :] : !tile.tile<b0=8 x 128 x i32>, memref<8x128xi32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @unsigned(%x: memref<8x300xui8>, %y: memref<300x128xui8>, %out: memref<8x128xi32>) {
  tile.grid (%i: b0=8) in (8) {
    %l = tile.load %x[%i, :] : memref<8x300xui8> -> !tile.tile<b0=8 x 300 x ui8>
    %r = tile.load %y[:, :] : memref<300x128xui8> -> !tile.tile<300 x 128 x ui8>
    %d = tile.dot %l, %r : !tile.tile<b0=8 x 300 x ui8>, !tile.tile<300 x 128 x ui8> -> !tile.tile<b0=8 x 128 x i32>
    tile.store %d, %out[%i, :] : !tile.tile<b0=8 x 128 x i32>, memref<8x128xi32>
  }
  func.return
}

// -----

func.func @long(%x: memref<8x128xi64>, %y: memref<128x128xi64>) {
  tile.grid (%i: b0=8) in (8) {
    %l = tile.load %x[%i, :] : memref<8x128xi64> -> !tile.tile<b0=8 x 128 x i64>
    %r = tile.load %y[:, :] : memref<128x128xi64> -> !tile.tile<128 x 128 x i64>
    // expected-error @+1 {{a TPU has no 64-bit integers}}
    %d = tile.dot %l, %r : !tile.tile<b0=8 x 128 x i64>, !tile.tile<128 x 128 x i64> -> !tile.tile<b0=8 x 128 x i64>
  }
  func.return
}

// -----

// The lanes of a block are summed whole.
func.func @unsigned_blocks(%x: memref<8x512xui8>, %y: memref<512x128xui8>) {
  tile.grid (%i: b0=512) in (512) {
    %l = tile.load %x[:, %i] : memref<8x512xui8> -> !tile.tile<8 x b0=512 x ui8>
    %r = tile.load %y[%i, :] : memref<512x128xui8> -> !tile.tile<b0=512 x 128 x ui8>
    // expected-error @+1 {{a product of unsigned bytes takes blocks of up to 256}}
    %d = tile.dot %l, %r : !tile.tile<8 x b0=512 x ui8>, !tile.tile<b0=512 x 128 x ui8> -> !tile.tile<8 x 128 x i32>
  }
  func.return
}

// -----

// Reshapes that would take too many slices stay, and so do those that drop the only lanes.
// CHECK-LABEL: func.func @stay
// CHECK-NEXT: %a = tile.reshape %x : !tile.tile<8 x 257 x 263 x f32> to !tile.tile<8 x 263 x 257 x f32>
// CHECK-NEXT: %b = tile.reshape %y : !tile.tile<8 x 1 x f32> to !tile.tile<1 x 8 x f32>
// CHECK-NEXT: func.return %a, %b : !tile.tile<8 x 263 x 257 x f32>, !tile.tile<1 x 8 x f32>
func.func @stay(%x: !tile.tile<8 x 257 x 263 x f32>, %y: !tile.tile<8 x 1 x f32>) -> (!tile.tile<8 x 263 x 257 x f32>, !tile.tile<1 x 8 x f32>) {
  %a = tile.reshape %x : !tile.tile<8 x 257 x 263 x f32> to !tile.tile<8 x 263 x 257 x f32>
  %b = tile.reshape %y : !tile.tile<8 x 1 x f32> to !tile.tile<1 x 8 x f32>
  func.return %a, %b : !tile.tile<8 x 263 x 257 x f32>, !tile.tile<1 x 8 x f32>
}

// -----

// Predicates of narrow numbers, and those whose lanes are regrouped, are reshaped themselves.
// CHECK-LABEL: func.func @predicates_as_they_are
// CHECK-NEXT: %p = tile.ge %a, %b : !tile.tile<8 x 128 x i32>
// CHECK-NEXT: %0 = tile.cast %p : !tile.tile<8 x 128 x i1> to !tile.tile<8 x 128 x i32>
// CHECK-NEXT: %1 = tile.reshape %0 : !tile.tile<8 x 128 x i32> to !tile.tile<1 x 1024 x i32>
// CHECK-NEXT: %r = tile.cast %1 : !tile.tile<1 x 1024 x i32> to !tile.tile<1 x 1024 x i1>
// CHECK-NEXT: func.return %r : !tile.tile<1 x 1024 x i1>
func.func @predicates_as_they_are(%a: !tile.tile<8 x 128 x i32>, %b: !tile.tile<8 x 128 x i32>) -> !tile.tile<1 x 1024 x i1> {
  %p = tile.ge %a, %b : !tile.tile<8 x 128 x i32>
  %r = tile.reshape %p : !tile.tile<8 x 128 x i1> to !tile.tile<1 x 1024 x i1>
  func.return %r : !tile.tile<1 x 1024 x i1>
}

// -----

// Of groups that Mosaic has no reshape to, one lane each is a slice with a step; several are not.
// CHECK-LABEL: func.func @lanes_of_groups
// CHECK-NEXT: %g = tile.reshape %x : !tile.tile<8 x 60 x f32> to !tile.tile<8 x 20 x 3 x f32>
// CHECK-NEXT: %a = tile.slice %g [0, 0, 1] [8, 20, 1] [1, 1, 1] : !tile.tile<8 x 20 x 3 x f32> to !tile.tile<8 x 20 x 1 x f32>
// CHECK-NEXT: %b = tile.slice %g [0, 0, 1] [8, 20, 2] [1, 1, 1] : !tile.tile<8 x 20 x 3 x f32> to !tile.tile<8 x 20 x 2 x f32>
// CHECK-NEXT: func.return %a, %b : !tile.tile<8 x 20 x 1 x f32>, !tile.tile<8 x 20 x 2 x f32>
func.func @lanes_of_groups(%x: !tile.tile<8 x 60 x f32>) -> (!tile.tile<8 x 20 x 1 x f32>, !tile.tile<8 x 20 x 2 x f32>) {
  %g = tile.reshape %x : !tile.tile<8 x 60 x f32> to !tile.tile<8 x 20 x 3 x f32>
  %a = tile.slice %g [0, 0, 1] [8, 20, 1] [1, 1, 1] : !tile.tile<8 x 20 x 3 x f32> to !tile.tile<8 x 20 x 1 x f32>
  %b = tile.slice %g [0, 0, 1] [8, 20, 2] [1, 1, 1] : !tile.tile<8 x 20 x 3 x f32> to !tile.tile<8 x 20 x 2 x f32>
  func.return %a, %b : !tile.tile<8 x 20 x 1 x f32>, !tile.tile<8 x 20 x 2 x f32>
}

// -----

// Rows that alternate under a mask of the rows are joined as they are.
// CHECK-LABEL: func.func @masked_rows
// CHECK-NEXT: tile.grid (%i: b0=8, %j: b1=128) in (60, 100) {
// CHECK-NEXT: %a = tile.load %x[%i, %j] : memref<64x100xbf16> -> !tile.tile<b0=8 x b1=128 x bf16>
// CHECK-NEXT: %f = tile.cast %a : !tile.tile<b0=8 x b1=128 x bf16> to !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %e = tile.exp %f : !tile.tile<b0=8 x b1=128 x f32>
// CHECK-NEXT: %b = tile.cast %e : !tile.tile<b0=8 x b1=128 x f32> to !tile.tile<b0=8 x b1=128 x bf16>
// CHECK-NEXT: %p = tile.reshape %a : !tile.tile<b0=8 x b1=128 x bf16> to !tile.tile<b0=8 x 1 x b1=128 x bf16>
// CHECK-NEXT: %q = tile.reshape %b : !tile.tile<b0=8 x b1=128 x bf16> to !tile.tile<b0=8 x 1 x b1=128 x bf16>
// CHECK-NEXT: %c = tile.concat %p, %q dim 1 : !tile.tile<b0=8 x 1 x b1=128 x bf16>, !tile.tile<b0=8 x 1 x b1=128 x bf16> to !tile.tile<b0=8 x 2 x b1=128 x bf16>
// CHECK-NEXT: %0 = tile.cast %c : !tile.tile<b0=8 x 2 x b1=128 x bf16> to !tile.tile<b0=8 x 2 x b1=128 x f32>
// CHECK-NEXT: %1 = tile.mask %0 in (%i, _, %j) else 1.0 : !tile.tile<b0=8 x 2 x b1=128 x f32> to !tile.tile<8 x 2 x 128 x f32>
// CHECK-NEXT: %m = tile.cast %1 : !tile.tile<8 x 2 x 128 x f32> to !tile.tile<8 x 2 x 128 x bf16>
// CHECK-NEXT: %r = tile.reshape %m : !tile.tile<8 x 2 x 128 x bf16> to !tile.tile<16 x 128 x bf16>
// CHECK-NEXT: tile.store %r, %n[:, :] : !tile.tile<16 x 128 x bf16>, memref<16x128xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @masked_rows(%x: memref<64x100xbf16>, %n: memref<16x128xbf16>) {
  tile.grid (%i: b0=8, %j: b1=128) in (60, 100) {
    %a = tile.load %x[%i, %j] : memref<64x100xbf16> -> !tile.tile<b0=8 x b1=128 x bf16>
    %f = tile.cast %a : !tile.tile<b0=8 x b1=128 x bf16> to !tile.tile<b0=8 x b1=128 x f32>
    %e = tile.exp %f : !tile.tile<b0=8 x b1=128 x f32>
    %b = tile.cast %e : !tile.tile<b0=8 x b1=128 x f32> to !tile.tile<b0=8 x b1=128 x bf16>
    %p = tile.reshape %a : !tile.tile<b0=8 x b1=128 x bf16> to !tile.tile<b0=8 x 1 x b1=128 x bf16>
    %q = tile.reshape %b : !tile.tile<b0=8 x b1=128 x bf16> to !tile.tile<b0=8 x 1 x b1=128 x bf16>
    %c = tile.concat %p, %q dim 1 : !tile.tile<b0=8 x 1 x b1=128 x bf16>, !tile.tile<b0=8 x 1 x b1=128 x bf16> to !tile.tile<b0=8 x 2 x b1=128 x bf16>
    %m = tile.mask %c in (%i, _, %j) else 1.0 : !tile.tile<b0=8 x 2 x b1=128 x bf16> to !tile.tile<8 x 2 x 128 x bf16>
    %r = tile.reshape %m : !tile.tile<8 x 2 x 128 x bf16> to !tile.tile<16 x 128 x bf16>
    tile.store %r, %n[:, :] : !tile.tile<16 x 128 x bf16>, memref<16x128xbf16>
  }
  func.return
}

// -----

// A function that combines narrow numbers takes and gives wide ones; of its operands the wide ones stay.
// CHECK-LABEL: func.func @combined
// CHECK-NEXT: %0 = tile.cast %x : !tile.tile<8 x 128 x bf16> to !tile.tile<8 x 128 x f32>
// CHECK-NEXT: %a, %b = tile.associative_reduce %0, %n dim 1 : !tile.tile<8 x 128 x f32>, !tile.tile<8 x 128 x i32> {
// CHECK-NEXT: ^bb0(%l: !tile.tile<f32>, %k: !tile.tile<i32>, %r: !tile.tile<f32>, %m: !tile.tile<i32>):
// CHECK-NEXT: %c = tile.lt %k, %m : !tile.tile<i32>
// CHECK-NEXT: %1 = tile.select %c, %l, %r : !tile.tile<f32>
// CHECK-NEXT: %s = tile.cast %1 : !tile.tile<f32> to !tile.tile<bf16>
// CHECK-NEXT: %t = tile.minimum %k, %m : !tile.tile<i32>
// CHECK-NEXT: %2 = tile.cast %s : !tile.tile<bf16> to !tile.tile<f32>
// CHECK-NEXT: tile.yield %2, %t : !tile.tile<f32>, !tile.tile<i32>
// CHECK-NEXT: }
// CHECK-NEXT: %a_1 = tile.cast %a : !tile.tile<8 x f32> to !tile.tile<8 x bf16>
// CHECK-NEXT: func.return %a_1, %b : !tile.tile<8 x bf16>, !tile.tile<8 x i32>
func.func @combined(%x: !tile.tile<8 x 128 x bf16>, %n: !tile.tile<8 x 128 x i32>) -> (!tile.tile<8 x bf16>, !tile.tile<8 x i32>) {
  %a, %b = tile.associative_reduce %x, %n dim 1 : !tile.tile<8 x 128 x bf16>, !tile.tile<8 x 128 x i32> {
  ^bb0(%l: !tile.tile<bf16>, %k: !tile.tile<i32>, %r: !tile.tile<bf16>, %m: !tile.tile<i32>):
    %c = tile.lt %k, %m : !tile.tile<i32>
    %s = tile.select %c, %l, %r : !tile.tile<bf16>
    %t = tile.minimum %k, %m : !tile.tile<i32>
    tile.yield %s, %t : !tile.tile<bf16>, !tile.tile<i32>
  }
  func.return %a, %b : !tile.tile<8 x bf16>, !tile.tile<8 x i32>
}

// -----

// Branches give predicates as numbers; what is no tile stays.
// CHECK-LABEL: func.func @carried_index
// CHECK-NEXT: %m = arith.constant 5 : index
// CHECK-NEXT: %a, %b = scf.if %c -> (index, !tile.tile<8 x 128 x i32>) {
// CHECK-NEXT: %0 = tile.cast %p : !tile.tile<8 x 128 x i1> to !tile.tile<8 x 128 x i32>
// CHECK-NEXT: scf.yield %n, %0 : index, !tile.tile<8 x 128 x i32>
// CHECK-NEXT: } else {
// CHECK-NEXT: %1 = tile.cast %q : !tile.tile<8 x 128 x i1> to !tile.tile<8 x 128 x i32>
// CHECK-NEXT: scf.yield %m, %1 : index, !tile.tile<8 x 128 x i32>
// CHECK-NEXT: }
// CHECK-NEXT: %b_1 = tile.cast %b : !tile.tile<8 x 128 x i32> to !tile.tile<8 x 128 x i1>
// CHECK-NEXT: func.return %a, %b_1 : index, !tile.tile<8 x 128 x i1>
func.func @carried_index(%c: i1, %n: index, %p: !tile.tile<8 x 128 x i1>, %q: !tile.tile<8 x 128 x i1>) -> (index, !tile.tile<8 x 128 x i1>) {
  %m = arith.constant 5 : index
  %a, %b = scf.if %c -> (index, !tile.tile<8 x 128 x i1>) {
    scf.yield %n, %p : index, !tile.tile<8 x 128 x i1>
  } else {
    scf.yield %m, %q : index, !tile.tile<8 x 128 x i1>
  }
  func.return %a, %b : index, !tile.tile<8 x 128 x i1>
}

// -----

// Masks of narrow lanes that come of picked ones are of wide ones, however far the pick is.
// CHECK-LABEL: func.func @of_picks
// CHECK-NEXT: %0 = tile.cast %x : !tile.tile<64 x 128 x i16> to !tile.tile<64 x 128 x i32>
// CHECK-NEXT: %1 = tile.take_along %0, %n dim 0 : !tile.tile<64 x 128 x i32>, !tile.tile<64 x 128 x i32>
// CHECK-NEXT: %2 = tile.cast %y : !tile.tile<64 x 128 x i16> to !tile.tile<64 x 128 x i32>
// CHECK-NEXT: %3 = tile.xor %1, %2 : !tile.tile<64 x 128 x i32>
// CHECK-NEXT: %4 = tile.select %c, %3, %2 : !tile.tile<64 x 128 x i32>
// CHECK-NEXT: %s = tile.cast %4 : !tile.tile<64 x 128 x i32> to !tile.tile<64 x 128 x i16>
// CHECK-NEXT: %t = tile.select %c, %y, %x : !tile.tile<64 x 128 x i16>
// CHECK-NEXT: func.return %s, %t : !tile.tile<64 x 128 x i16>, !tile.tile<64 x 128 x i16>
func.func @of_picks(%x: !tile.tile<64 x 128 x i16>, %n: !tile.tile<64 x 128 x i32>, %c: !tile.tile<64 x 128 x i1>, %y: !tile.tile<64 x 128 x i16>) -> (!tile.tile<64 x 128 x i16>, !tile.tile<64 x 128 x i16>) {
  %p = tile.take_along %x, %n dim 0 : !tile.tile<64 x 128 x i16>, !tile.tile<64 x 128 x i32>
  %a = tile.xor %p, %y : !tile.tile<64 x 128 x i16>
  %s = tile.select %c, %a, %y : !tile.tile<64 x 128 x i16>
  %t = tile.select %c, %y, %x : !tile.tile<64 x 128 x i16>
  func.return %s, %t : !tile.tile<64 x 128 x i16>, !tile.tile<64 x 128 x i16>
}

// -----

// Between ops of 32 bits bytes are not packed: what has no more bits stays, other numbers wrap, and shifts are one.
// CHECK-LABEL: func.func @nibbles
// CHECK: [[A:%.+]] = tile.cast %a : !tile.tile<b0=32 x 128 x i8> to !tile.tile<b0=32 x 128 x i32>
// CHECK-NEXT: [[F:%.+]] = tile.full 4 : !tile.tile<b0=32 x 128 x i32>
// CHECK-NEXT: [[K:%.+]] = tile.full 28 : !tile.tile<b0=32 x 128 x i32>
// CHECK-NEXT: [[S:%.+]] = tile.shl [[A]], [[K]]
// CHECK-NEXT: [[L:%.+]] = tile.shr [[S]], [[K]]
// CHECK-NEXT: tile.cast [[L]] : !tile.tile<b0=32 x 128 x i32> to !tile.tile<b0=32 x 128 x f32>
// CHECK: [[H:%.+]] = tile.shr [[A]], [[F]]
// CHECK: tile.cast [[H]] : !tile.tile<b0=32 x 128 x i32> to !tile.tile<b0=32 x 128 x f32>
// CHECK-NOT: xi8
func.func @nibbles(%x: memref<32x128xi8>, %low: memref<32x128xf32>, %high: memref<32x128xf32>) {
  tile.grid (%i: b0=32) in (32) {
    %a = tile.load %x[%i, :] : memref<32x128xi8> -> !tile.tile<b0=32 x 128 x i8>
    %four = tile.full 4 : !tile.tile<b0=32 x 128 x i8>
    %s = tile.shl %a, %four : !tile.tile<b0=32 x 128 x i8>
    %l = tile.shr %s, %four : !tile.tile<b0=32 x 128 x i8>
    %f = tile.cast %l : !tile.tile<b0=32 x 128 x i8> to !tile.tile<b0=32 x 128 x f32>
    tile.store %f, %low[%i, :] : !tile.tile<b0=32 x 128 x f32>, memref<32x128xf32>
    %h = tile.shr %a, %four : !tile.tile<b0=32 x 128 x i8>
    %g = tile.cast %h : !tile.tile<b0=32 x 128 x i8> to !tile.tile<b0=32 x 128 x f32>
    tile.store %g, %high[%i, :] : !tile.tile<b0=32 x 128 x f32>, memref<32x128xf32>
  }
  func.return
}

// -----

// Sums of unsigned bytes wrap by a mask.
// CHECK-LABEL: func.func @unsigned
// CHECK: [[S:%.+]] = tile.add
// CHECK: [[M:%.+]] = tile.full 255 : !tile.tile<b0=32 x 128 x i32>
// CHECK: [[W:%.+]] = tile.and [[S]], [[M]]
// CHECK: tile.cast [[W]] : !tile.tile<b0=32 x 128 x i32> to !tile.tile<b0=32 x 128 x f32>
func.func @unsigned(%x: memref<32x128xui8>, %out: memref<32x128xf32>) {
  tile.grid (%i: b0=32) in (32) {
    %a = tile.load %x[%i, :] : memref<32x128xui8> -> !tile.tile<b0=32 x 128 x ui8>
    %s = tile.add %a, %a : !tile.tile<b0=32 x 128 x ui8>
    %f = tile.cast %s : !tile.tile<b0=32 x 128 x ui8> to !tile.tile<b0=32 x 128 x f32>
    tile.store %f, %out[%i, :] : !tile.tile<b0=32 x 128 x f32>, memref<32x128xf32>
  }
  func.return
}
