// RUN: kopt %s --split-input-file --verify-each --pass-pipeline='builtin.module(functionalise-host,hoist-loads)' | filecheck %s

// What the inner loop does not move with is read before it, with the place that it is found at.
// CHECK-LABEL: @outer_rows
// CHECK: tile.for %i: b0=16 in (0, %n) {
// CHECK-NEXT: %head = tile.shift %i by
// CHECK-NEXT: %q = tile.load %{{.*}}[%i, :]
// CHECK-NEXT: tile.for %j: b1=16 in (0, 64)
// CHECK-NEXT: tile.load %{{.*}}[%j, :]
// CHECK-NOT: tile.load
func.func @outer_rows(%x: memref<64x256xf32>, %y: memref<64x256xf32>, %bounds: memref<1xi32>, %out: memref<64x256xf32>) {
  tile.grid (%g: b9=1) in (1) {
    %s = tile.load %bounds[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    tile.for %i: b0=16 in (0, %n) {
      tile.for %j: b1=16 in (0, 64) {
        %head = tile.shift %i by %n : !tile.range<b0=16>
        %q = tile.load %x[%i, :] : memref<64x256xf32> -> !tile.tile<b0=16 x 256 x f32>
        %k = tile.load %y[%j, :] : memref<64x256xf32> -> !tile.tile<b1=16 x 256 x f32>
        %t = tile.reduce add %k [0] : !tile.tile<b1=16 x 256 x f32>
        %u = tile.broadcast %t dims [1] : !tile.tile<256 x f32> to !tile.tile<b0=16 x 256 x f32>
        %v = tile.add %q, %u : !tile.tile<b0=16 x 256 x f32>
        tile.store %v, %out[%head, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
      }
    }
  }
  func.return
}

// -----

// The inner loop may visit nothing, and the block from %n may lie outside the array; %out is written in the loop.
// CHECK-LABEL: @stays
// CHECK: tile.for %i: b0=16 in (0, %n) {
// CHECK: %row = tile.shift
// CHECK-NEXT: tile.for %j: b1=16 in (0, %n)
// CHECK: tile.load %{{.*}}[%row, :]
// CHECK: tile.load %{{.*}}[%i, :]
func.func @stays(%x: memref<64x256xf32>, %bounds: memref<1xi32>, %out: memref<64x256xf32>) {
  tile.grid (%g: b9=1) in (1) {
    %s = tile.load %bounds[0] : memref<1xi32> -> !tile.tile<i32>
    %n = tile.extract %s : !tile.tile<i32> to index
    tile.for %i: b0=16 in (0, %n) {
      tile.for %j: b1=16 in (0, %n) {
        %row = tile.shift %i by %n : !tile.range<b0=16>
        %q = tile.load %x[%row, :] : memref<64x256xf32> -> !tile.tile<b0=16 x 256 x f32>
        %o = tile.load %out[%i, :] : memref<64x256xf32> -> !tile.tile<b0=16 x 256 x f32>
        %v = tile.add %q, %o : !tile.tile<b0=16 x 256 x f32>
        tile.store %v, %out[%i, :] : !tile.tile<b0=16 x 256 x f32>, memref<64x256xf32>
      }
    }
  }
  func.return
}
