// RUN: kopt %s -p 'legalise-ops,convert-tile-to-triton' -t triton-py | filecheck %s

// One row of f32 that is not rounded is multiplied and summed; rounded, and of 16 bits, it is a product of matrix units.
// CHECK: exact = tl.sum(l[:, :, None] * r[None, :, :], axis=1)
// CHECK: rounded = tl.dot(l, r, input_precision="tf32")
// CHECK: half = tl.dot(h, w)
func.func @rows(%x: memref<1x64xf32>, %y: memref<64x32xf32>, %out: memref<3x1x32xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :] : memref<1x64xf32> -> !tile.tile<1 x 64 x f32>
    %r = tile.load %y[:, :] : memref<64x32xf32> -> !tile.tile<64 x 32 x f32>
    %exact = tile.dot %l, %r : !tile.tile<1 x 64 x f32>, !tile.tile<64 x 32 x f32> -> !tile.tile<1 x 32 x f32>
    tile.store %exact, %out[0, :, :] : !tile.tile<1 x 32 x f32>, memref<3x1x32xf32>
    %rounded = tile.dot %l, %r precision tf32 : !tile.tile<1 x 64 x f32>, !tile.tile<64 x 32 x f32> -> !tile.tile<1 x 32 x f32>
    tile.store %rounded, %out[1, :, :] : !tile.tile<1 x 32 x f32>, memref<3x1x32xf32>
    %h = tile.cast %l : !tile.tile<1 x 64 x f32> to !tile.tile<1 x 64 x f16>
    %w = tile.cast %r : !tile.tile<64 x 32 x f32> to !tile.tile<64 x 32 x f16>
    %half = tile.dot %h, %w : !tile.tile<1 x 64 x f16>, !tile.tile<64 x 32 x f16> -> !tile.tile<1 x 32 x f32>
    tile.store %half, %out[2, :, :] : !tile.tile<1 x 32 x f32>, memref<3x1x32xf32>
  }
  func.return
}
