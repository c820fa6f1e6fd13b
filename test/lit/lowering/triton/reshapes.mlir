// RUN: kopt %s -p convert-tile-to-triton -t triton-py | filecheck %s

// Dimensions of 1 that a block gains are new axes, wherever they stand; any other reshape is one.
// CHECK: e = tl.reshape(v, [512])
// CHECK: g = tl.reshape(v, [16, 32])
// CHECK: aa = tl.reshape(v[:, None, :], [8, 64])
// CHECK: bb = tl.reshape(v[None, :, :], [8, 64])
// CHECK: cc = tl.reshape(v[:, :, None], [8, 64])
// CHECK: dd = tl.reshape(v[None, :, None, :, None], [8, 64])
// CHECK: ee = tl.reshape(e, [8, 64])
// CHECK: gg = tl.reshape(g, [8, 64])
func.func @f(%x: memref<8x64xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %v = tile.load %x[:, :] : memref<8x64xf32> -> !tile.tile<8 x 64 x f32>
    %a = tile.reshape %v : !tile.tile<8 x 64 x f32> to !tile.tile<8 x 1 x 64 x f32>
    %b = tile.reshape %v : !tile.tile<8 x 64 x f32> to !tile.tile<1 x 8 x 64 x f32>
    %c = tile.reshape %v : !tile.tile<8 x 64 x f32> to !tile.tile<8 x 64 x 1 x f32>
    %d = tile.reshape %v : !tile.tile<8 x 64 x f32> to !tile.tile<1 x 8 x 1 x 64 x 1 x f32>
    %e = tile.reshape %v : !tile.tile<8 x 64 x f32> to !tile.tile<512 x f32>
    %g = tile.reshape %v : !tile.tile<8 x 64 x f32> to !tile.tile<16 x 32 x f32>
    %aa = tile.reshape %a : !tile.tile<8 x 1 x 64 x f32> to !tile.tile<8 x 64 x f32>
    %bb = tile.reshape %b : !tile.tile<1 x 8 x 64 x f32> to !tile.tile<8 x 64 x f32>
    %cc = tile.reshape %c : !tile.tile<8 x 64 x 1 x f32> to !tile.tile<8 x 64 x f32>
    %dd = tile.reshape %d : !tile.tile<1 x 8 x 1 x 64 x 1 x f32> to !tile.tile<8 x 64 x f32>
    %ee = tile.reshape %e : !tile.tile<512 x f32> to !tile.tile<8 x 64 x f32>
    %gg = tile.reshape %g : !tile.tile<16 x 32 x f32> to !tile.tile<8 x 64 x f32>
    tile.store %aa, %x[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
    tile.store %bb, %x[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
    tile.store %cc, %x[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
    tile.store %dd, %x[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
    tile.store %ee, %x[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
    tile.store %gg, %x[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
  }
  func.return
}
