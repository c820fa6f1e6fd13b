// RUN: kopt %s -p convert-tile-to-triton -t triton-py | filecheck %s

// A number in all lanes is one for any lanes: no lanes are made of it, to be put into another shape.
// CHECK: n = tl.load(y)
// CHECK: w = tl.reshape(v, [512])
// CHECK-NEXT: #
// CHECK-NEXT: s = w + n
func.func @g(%x: memref<8x64xf32>, %y: memref<1xf32>, %out: memref<512xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %v = tile.load %x[:, :] : memref<8x64xf32> -> !tile.tile<8 x 64 x f32>
    %n = tile.load %y[0] : memref<1xf32> -> !tile.tile<f32>
    %b = tile.broadcast %n dims [] : !tile.tile<f32> to !tile.tile<8 x 64 x f32>
    %c = tile.reshape %b : !tile.tile<8 x 64 x f32> to !tile.tile<512 x f32>
    %w = tile.reshape %v : !tile.tile<8 x 64 x f32> to !tile.tile<512 x f32>
    %s = tile.add %w, %c : !tile.tile<512 x f32>
    tile.store %s, %out[:] : !tile.tile<512 x f32>, memref<512xf32>
  }
  func.return
}
