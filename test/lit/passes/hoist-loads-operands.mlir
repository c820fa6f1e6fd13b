// RUN: kopt %s --split-input-file --verify-each -p 'hoist-loads{operands=true}' | filecheck %s

// Both loops have a visit or none: the queries are loaded once for all keys, and so is a vector where the loop stores.
// Loads of a loop that may visit nothing stay.
// CHECK-LABEL: @packed
// CHECK: tile.for %m: b1=64 in (%b, %e) {
// CHECK-NEXT: %q = tile.load %x[%m, :]
// CHECK-NEXT: %bias = tile.load %z[%m]
// CHECK-NEXT: tile.for %n: b2=64 in (%b, %e) {
// CHECK-NEXT: %k = tile.load %y[%n, :]
// CHECK: tile.for %o: b3=64 in (0, %e) {
// CHECK-NEXT: tile.load %x[%m, :]
func.func @packed(%x: memref<256x64xf16>, %y: memref<256x64xf16>, %z: memref<256xf32>, %offsets: memref<5xi32>, %out: memref<256x256xf32>) {
  tile.grid (%i: b0=1) in (4) {
    %first = tile.begin %i : !tile.range<b0=1>
    %one = arith.constant 1 : index
    %next = arith.addi %first, %one : index
    %bt = tile.load %offsets[%first] : memref<5xi32> -> !tile.tile<i32>
    %et = tile.load %offsets[%next] : memref<5xi32> -> !tile.tile<i32>
    %b = tile.extract %bt : !tile.tile<i32> to index
    %e = tile.extract %et : !tile.tile<i32> to index
    tile.for %m: b1=64 in (%b, %e) {
      tile.for %n: b2=64 in (%b, %e) {
        %q = tile.load %x[%m, :] : memref<256x64xf16> -> !tile.tile<b1=64 x 64 x f16>
        %k = tile.load %y[%n, :] : memref<256x64xf16> -> !tile.tile<b2=64 x 64 x f16>
        %t = tile.transpose %k [1, 0] : !tile.tile<b2=64 x 64 x f16>
        %s = tile.dot %q, %t : !tile.tile<b1=64 x 64 x f16>, !tile.tile<64 x b2=64 x f16> -> !tile.tile<b1=64 x b2=64 x f32>
        %bias = tile.load %z[%m] : memref<256xf32> -> !tile.tile<b1=64 x f32>
        %w = tile.broadcast %bias dims [0] : !tile.tile<b1=64 x f32> to !tile.tile<b1=64 x b2=64 x f32>
        %r = tile.add %s, %w : !tile.tile<b1=64 x b2=64 x f32>
        tile.store %r, %out[%m, %n] : !tile.tile<b1=64 x b2=64 x f32>, memref<256x256xf32>
      }
      tile.for %o: b3=64 in (0, %e) {
        %q = tile.load %x[%m, :] : memref<256x64xf16> -> !tile.tile<b1=64 x 64 x f16>
        %k = tile.load %y[%o, :] : memref<256x64xf16> -> !tile.tile<b3=64 x 64 x f16>
        %t = tile.transpose %k [1, 0] : !tile.tile<b3=64 x 64 x f16>
        %s = tile.dot %q, %t : !tile.tile<b1=64 x 64 x f16>, !tile.tile<64 x b3=64 x f16> -> !tile.tile<b1=64 x b3=64 x f32>
        tile.store %s, %out[%m, %o] : !tile.tile<b1=64 x b3=64 x f32>, memref<256x256xf32>
      }
    }
  }
  func.return
}

// -----

// Rows of a block that is always full have visits: its weights are loaded once. Of what is stored into, of matrices,
// and in loops that store nothing, loads stay: Triton moves those of the last.
// CHECK-LABEL: @rows
// CHECK: %w = tile.load %weights[:]
// CHECK-NEXT: tile.for %r: b1=2 in (%b, %e) {
// CHECK-NEXT: %v = tile.load %x[%r, :]
// CHECK-NEXT: %p = tile.load %sums[:]
// CHECK-NEXT: %m = tile.load %matrix[:, :]
// CHECK: tile.for %q: b2=2 in (%b, %e)
// CHECK-NEXT: tile.load %weights[:]
func.func @rows(%x: memref<64x128xf32>, %weights: memref<128xf32>, %matrix: memref<2x128xf32>, %sums: memref<128xf32>) {
  tile.grid (%i: b0=32) in (64) {
    %b = tile.begin %i : !tile.range<b0=32>
    %e = tile.end %i : !tile.range<b0=32>
    tile.for %r: b1=2 in (%b, %e) {
      %v = tile.load %x[%r, :] : memref<64x128xf32> -> !tile.tile<b1=2 x 128 x f32>
      %w = tile.load %weights[:] : memref<128xf32> -> !tile.tile<128 x f32>
      %p = tile.load %sums[:] : memref<128xf32> -> !tile.tile<128 x f32>
      %m = tile.load %matrix[:, :] : memref<2x128xf32> -> !tile.tile<2 x 128 x f32>
      %wp = tile.add %w, %p : !tile.tile<128 x f32>
      tile.store %wp, %sums[:] : !tile.tile<128 x f32>, memref<128xf32>
    }
    %zero = tile.full 0.0 : !tile.tile<128 x f32>
    %total = tile.for %q: b2=2 in (%b, %e) iter(%t = %zero) -> (!tile.tile<128 x f32>) {
      %w = tile.load %weights[:] : memref<128xf32> -> !tile.tile<128 x f32>
      %sum = tile.add %t, %w : !tile.tile<128 x f32>
      tile.yield %sum : !tile.tile<128 x f32>
    }
    tile.store %total, %sums[:] : !tile.tile<128 x f32>, memref<128xf32>
  }
  func.return
}
