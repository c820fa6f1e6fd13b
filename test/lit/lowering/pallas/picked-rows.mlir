// RUN: kopt run %s --target pallas:interpret --check

// What names rows is used as it is: element numbers are printed, though only a broadcast uses them.
func.func @f(%x: memref<8x16xf32>, %y: memref<8x16xf32>) {
  tile.grid (%i: b0=2) in (8) {
    %v = tile.load %x[:, :] : memref<8x16xf32> -> !tile.tile<8 x 16 x f32>
    %n = tile.index %i : !tile.range<b0=2>
    %lanes = tile.broadcast %n dims [0] : !tile.tile<b0=2 x i32> to !tile.tile<b0=2 x 16 x i32>
    %rows = tile.take_along %v, %lanes dim 0 : !tile.tile<8 x 16 x f32>, !tile.tile<b0=2 x 16 x i32>
    tile.store %rows, %y[%i, :] : !tile.tile<b0=2 x 16 x f32>, memref<8x16xf32>
  }
  func.return
}
