// RUN: kopt %s --split-input-file --verify-each -p 'hoist-loads{operands=true}' | filecheck %s

// Both loops have a visit or none: the queries are loaded once for all keys. What is no operand stays, and so do loads
// of a loop that may visit nothing.
// CHECK-LABEL: @packed
// CHECK: tile.for %m: b1=64 in (%b, %e) {
// CHECK-NEXT: %q = tile.load %x[%m, :]
// CHECK-NEXT: tile.for %n: b2=64 in (%b, %e) {
// CHECK-NEXT: %k = tile.load %y[%n, :]
// CHECK: %bias = tile.load %z[%m]
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
