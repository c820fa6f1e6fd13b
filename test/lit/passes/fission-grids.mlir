// RUN: kopt %s --split-input-file --verify-each -p fission-grids | filecheck %s
// RUN: kopt %s --split-input-file --verify-each -p fission-grids,distribute-loops | filecheck %s --check-prefix=SPREAD

// 16 blocks of 64 rows for 132 multiprocessors: each loop is a launch, whose open rows have one size still.
// CHECK-LABEL: func.func @layers
// CHECK-SAME: tile.open = [#tile.open<b0, [[ROWS:b[0-9]+]]>, #tile.open<b1>, #tile.open<b2>]
// CHECK: tile.grid (%i: b0=16) in (1024) {
// CHECK-NEXT: tile.for %j: b1=64
// CHECK: tile.store %h, %hidden[%i, %j]
// CHECK-NOT: tile.for
// CHECK: tile.grid (%i_1: [[ROWS]]=16) in (1024) {
// CHECK-NEXT: tile.for %{{.*}}: b2=64
// CHECK: tile.load %hidden[%i_1, :] : memref<1024x256xbf16> -> !tile.tile<[[ROWS]]=16 x 256 x bf16>
// SPREAD-LABEL: func.func @layers
// SPREAD: tile.grid (%i: b0=16, %j: b1=64) in (1024, 256) {
// SPREAD: tile.grid (%{{.*}}: {{b[0-9]+}}=16, %{{.*}}: b2=64) in (1024, 1024) {
func.func @layers(%x: memref<1024x128xbf16>, %w: memref<128x256xbf16>, %v: memref<256x1024xbf16>, %hidden: memref<1024x256xbf16>, %out: memref<1024x1024xf32>) attributes {tile.open = [#tile.open<b0>, #tile.open<b1>, #tile.open<b2>]} {
  tile.grid (%i: b0=16) in (1024) {
    tile.for %j: b1=64 in (0, 256) {
      %a = tile.load %x[%i, :] : memref<1024x128xbf16> -> !tile.tile<b0=16 x 128 x bf16>
      %b = tile.load %w[:, %j] : memref<128x256xbf16> -> !tile.tile<128 x b1=64 x bf16>
      %d = tile.dot %a, %b : !tile.tile<b0=16 x 128 x bf16>, !tile.tile<128 x b1=64 x bf16> -> !tile.tile<b0=16 x b1=64 x f32>
      %h = tile.cast %d : !tile.tile<b0=16 x b1=64 x f32> to !tile.tile<b0=16 x b1=64 x bf16>
      tile.store %h, %hidden[%i, %j] : !tile.tile<b0=16 x b1=64 x bf16>, memref<1024x256xbf16>
    }
    tile.for %k: b2=64 in (0, 1024) {
      %a = tile.load %hidden[%i, :] : memref<1024x256xbf16> -> !tile.tile<b0=16 x 256 x bf16>
      %b = tile.load %v[:, %k] : memref<256x1024xbf16> -> !tile.tile<256 x b2=64 x bf16>
      %d = tile.dot %a, %b : !tile.tile<b0=16 x 256 x bf16>, !tile.tile<256 x b2=64 x bf16> -> !tile.tile<b0=16 x b2=64 x f32>
      tile.store %d, %out[%i, %k] : !tile.tile<b0=16 x b2=64 x f32>, memref<1024x1024xf32>
    }
  }
  func.return
}

// -----

// Enough rows for all multiprocessors stay with their loops.
// CHECK-LABEL: func.func @long
// CHECK: tile.grid
// CHECK: tile.for
// CHECK: tile.for
// CHECK-NOT: tile.grid
func.func @long(%x: memref<16384x64xbf16>, %w: memref<64x64xbf16>, %hidden: memref<16384x64xf32>, %out: memref<16384x64xf32>) {
  tile.grid (%i: b0=16) in (16384) {
    tile.for %j: b1=64 in (0, 64) {
      %a = tile.load %x[%i, :] : memref<16384x64xbf16> -> !tile.tile<b0=16 x 64 x bf16>
      %b = tile.load %w[:, %j] : memref<64x64xbf16> -> !tile.tile<64 x b1=64 x bf16>
      %d = tile.dot %a, %b : !tile.tile<b0=16 x 64 x bf16>, !tile.tile<64 x b1=64 x bf16> -> !tile.tile<b0=16 x b1=64 x f32>
      tile.store %d, %hidden[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<16384x64xf32>
    }
    tile.for %k: b2=64 in (0, 64) {
      %a = tile.load %hidden[%i, %k] : memref<16384x64xf32> -> !tile.tile<b0=16 x b2=64 x f32>
      tile.store %a, %out[%i, %k] : !tile.tile<b0=16 x b2=64 x f32>, memref<16384x64xf32>
    }
  }
  func.return
}

// -----

// A loop that writes what it reads is no dimension of a launch, so the other one stays beside it.
// CHECK-LABEL: func.func @updates
// CHECK: tile.grid
// CHECK: tile.for
// CHECK: tile.for
// CHECK-NOT: tile.grid
func.func @updates(%x: memref<1024x64xbf16>, %w: memref<64x64xbf16>, %hidden: memref<1024x64xf32>) {
  tile.grid (%i: b0=16) in (1024) {
    tile.for %j: b1=64 in (0, 64) {
      %a = tile.load %x[%i, :] : memref<1024x64xbf16> -> !tile.tile<b0=16 x 64 x bf16>
      %b = tile.load %w[:, %j] : memref<64x64xbf16> -> !tile.tile<64 x b1=64 x bf16>
      %d = tile.dot %a, %b : !tile.tile<b0=16 x 64 x bf16>, !tile.tile<64 x b1=64 x bf16> -> !tile.tile<b0=16 x b1=64 x f32>
      tile.store %d, %hidden[%i, %j] : !tile.tile<b0=16 x b1=64 x f32>, memref<1024x64xf32>
    }
    tile.for %k: b2=64 in (0, 64) {
      %a = tile.load %hidden[%i, %k] : memref<1024x64xf32> -> !tile.tile<b0=16 x b2=64 x f32>
      %s = tile.mul %a, %a : !tile.tile<b0=16 x b2=64 x f32>
      tile.store %s, %hidden[%i, %k] : !tile.tile<b0=16 x b2=64 x f32>, memref<1024x64xf32>
    }
  }
  func.return
}
