// RUN: kopt %s --split-input-file --verify-each -p split-planes | filecheck %s
// RUN: kopt %s --split-input-file --remarks -p split-planes 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: remark: a program for each of 8 planes, which are too large together
// REMARK-NOT: remark

// What products keep apart is a dimension of the grid; loads without it are every plane's.
// CHECK-LABEL: func.func @products
// CHECK: tile.grid (%i: b0=1, %plane: b2=1) in (4, 8) {
// CHECK: %v = tile.load %x[%n, :, %plane, :] : memref<4x128x8x256xf32> -> !tile.tile<128 x b2=1 x 256 x f32>
// CHECK: tile.transpose %v [1, 0, 2] : !tile.tile<128 x b2=1 x 256 x f32>
// CHECK: tile.load %w[:, :]
// CHECK: iter(%{{.*}}) -> (!tile.tile<b2=1 x 128 x 256 x f32>) {
// CHECK: tile.dot {{.*}} -> !tile.tile<b2=1 x 128 x 256 x f32>
// CHECK: tile.store %{{.*}}, %out[%n, :, %plane, :]
func.func @products(%x: memref<4x128x8x256xf32>, %w: memref<256x256xf32>, %out: memref<4x128x8x256xf32>) {
  tile.grid (%i: b0=1) in (4) {
    %n = tile.begin %i : !tile.range<b0=1>
    %v = tile.load %x[%n, :, :, :] : memref<4x128x8x256xf32> -> !tile.tile<128 x 8 x 256 x f32>
    %t = tile.transpose %v [1, 0, 2] : !tile.tile<128 x 8 x 256 x f32>
    %u = tile.load %w[:, :] : memref<256x256xf32> -> !tile.tile<256 x 256 x f32>
    %b = tile.broadcast %u dims [1, 2] : !tile.tile<256 x 256 x f32> to !tile.tile<8 x 256 x 256 x f32>
    %z = tile.full 0.0 : !tile.tile<8 x 128 x 256 x f32>
    %s = tile.for %k: b1=1 in (0, 3) iter(%a = %z) -> (!tile.tile<8 x 128 x 256 x f32>) {
      %d = tile.dot %t, %b, %a : !tile.tile<8 x 128 x 256 x f32>, !tile.tile<8 x 256 x 256 x f32> -> !tile.tile<8 x 128 x 256 x f32>
      tile.yield %d : !tile.tile<8 x 128 x 256 x f32>
    }
    %r = tile.transpose %s [1, 0, 2] : !tile.tile<8 x 128 x 256 x f32>
    tile.store %r, %out[%n, :, :, :] : !tile.tile<128 x 8 x 256 x f32>, memref<4x128x8x256xf32>
  }
  func.return
}

// -----

// Rows that are summed are no planes, nor are lanes; small cells stay as they are.
// CHECK-LABEL: func.func @others
// CHECK: tile.grid (%i: b0=1) in (4) {
// CHECK: tile.grid (%j: b1=1) in (4) {
func.func @others(%x: memref<4x512x512xf32>, %out: memref<4x512xf32>, %y: memref<4x8x512xf32>) {
  tile.grid (%i: b0=1) in (4) {
    %v = tile.load %x[%i, :, :] : memref<4x512x512xf32> -> !tile.tile<b0=1 x 512 x 512 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b0=1 x 512 x 512 x f32>
    tile.store %s, %out[%i, :] : !tile.tile<b0=1 x 512 x f32>, memref<4x512xf32>
  }
  tile.grid (%j: b1=1) in (4) {
    %v = tile.load %y[%j, :, :] : memref<4x8x512xf32> -> !tile.tile<b1=1 x 8 x 512 x f32>
    %d = tile.add %v, %v : !tile.tile<b1=1 x 8 x 512 x f32>
    tile.store %d, %y[%j, :, :] : !tile.tile<b1=1 x 8 x 512 x f32>, memref<4x8x512xf32>
  }
  func.return
}

// -----

// A cell that reads or writes an array without its planes needs all of them.
// CHECK-LABEL: func.func @shared
// CHECK: tile.grid (%i: b0=1) in (4) {
// CHECK: tile.grid (%j: b1=1) in (4) {
func.func @shared(%x: memref<4x256x512xf32>, %out: memref<4x256x512xf32>, %sum: memref<4x512xf32>) {
  tile.grid (%i: b0=1) in (4) {
    %v = tile.load %x[%i, :, :] : memref<4x256x512xf32> -> !tile.tile<b0=1 x 256 x 512 x f32>
    tile.store %v, %out[%i, :, :] : !tile.tile<b0=1 x 256 x 512 x f32>, memref<4x256x512xf32>
    %s = tile.load %sum[%i, :] : memref<4x512xf32> -> !tile.tile<b0=1 x 512 x f32>
    %t = tile.add %s, %s : !tile.tile<b0=1 x 512 x f32>
    tile.store %t, %sum[%i, :] : !tile.tile<b0=1 x 512 x f32>, memref<4x512xf32>
  }
  tile.grid (%j: b1=1) in (4) {
    %v = tile.load %x[%j, :, :] : memref<4x256x512xf32> -> !tile.tile<b1=1 x 256 x 512 x f32>
    tile.store %v, %out[%j, :, :] : !tile.tile<b1=1 x 256 x 512 x f32>, memref<4x256x512xf32>
    %w = tile.load %out[%j, 0, :] : memref<4x256x512xf32> -> !tile.tile<b1=1 x 512 x f32>
    tile.store %w, %out[%j, 1, :] : !tile.tile<b1=1 x 512 x f32>, memref<4x256x512xf32>
  }
  func.return
}
