// RUN: kopt %s -p convert-tile-to-triton -t triton-py | filecheck %s

// Triton adds integers of 8 and 16 bits up in 32: sums and products wrap to their own type, those of 32 bits as they are.
// CHECK: tl.sum(v, axis=1).to(tl.int16)
// CHECK: tl.cumsum(v, axis=1).to(tl.int16)
// CHECK: tl.cumprod(v, axis=1).to(tl.int16)
// CHECK: tl.sum(b, axis=1).to(tl.int8)
// CHECK: tl.sum(w, axis=1){{$}}
// CHECK: tl.sum(one).to(tl.int8)
func.func @f(%x: memref<64x32xi16>, %y: memref<64xi16>, %z: memref<64x32xi16>, %q: memref<64xi8>, %l: memref<64xi32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i, :] : memref<64x32xi16> -> !tile.tile<b0=8 x 32 x i16>
    %s = tile.reduce add %v [1] : !tile.tile<b0=8 x 32 x i16>
    tile.store %s, %y[%i] : !tile.tile<b0=8 x i16>, memref<64xi16>
    %c = tile.scan add %v dim 1 : !tile.tile<b0=8 x 32 x i16>
    tile.store %c, %z[%i, :] : !tile.tile<b0=8 x 32 x i16>, memref<64x32xi16>
    %p = tile.scan mul %v dim 1 : !tile.tile<b0=8 x 32 x i16>
    tile.store %p, %z[%i, :] : !tile.tile<b0=8 x 32 x i16>, memref<64x32xi16>
    %b = tile.cast %v : !tile.tile<b0=8 x 32 x i16> to !tile.tile<b0=8 x 32 x i8>
    %t = tile.reduce add %b [1] : !tile.tile<b0=8 x 32 x i8>
    tile.store %t, %q[%i] : !tile.tile<b0=8 x i8>, memref<64xi8>
    %w = tile.cast %v : !tile.tile<b0=8 x 32 x i16> to !tile.tile<b0=8 x 32 x i32>
    %u = tile.reduce add %w [1] : !tile.tile<b0=8 x 32 x i32>
    tile.store %u, %l[%i] : !tile.tile<b0=8 x i32>, memref<64xi32>
    %one = tile.load %q[0:1] : memref<64xi8> -> !tile.tile<1 x i8>
    %only = tile.reshape %one : !tile.tile<1 x i8> to !tile.tile<i8>
    %twice = tile.add %only, %only : !tile.tile<i8>
    tile.store %twice, %q[0] : !tile.tile<i8>, memref<64xi8>
  }
  func.return
}
