// RUN: kopt run %s --entry repeated --target pallas:interpret --check
// RUN: kopt run %s --entry last --target pallas:interpret --check

// Where a block has the rows of one loop in three dimensions, of which two are named by the loop and one is the whole
// window, it stands as it is: as many of its dimensions have a name as the index list names.
func.func @repeated(%x: memref<4x12xi32>) -> memref<4x4x4x12xi32> {
  %y = host.alloc fill 1 : memref<4x4x4x12xi32>
  tile.grid (%i: b0=2, %j: b1=4) in (12, 4) {
    %v = tile.load %x[%j, %i] : memref<4x12xi32> -> !tile.tile<b1=4 x b0=2 x i32>
    %lanes = tile.broadcast %v dims [0, 3] : !tile.tile<b1=4 x b0=2 x i32> to !tile.tile<b1=4 x b1=4 x b1=4 x b0=2 x i32>
    tile.store %lanes, %y[%j, %j, %j, %i] : !tile.tile<b1=4 x b1=4 x b1=4 x b0=2 x i32>, memref<4x4x4x12xi32>
    %plane = tile.load %y[0, :, %j, %i] : memref<4x4x4x12xi32> -> !tile.tile<4 x b1=4 x b0=2 x i32>
    tile.store %plane, %y[1, :, %j, %i] : !tile.tile<4 x b1=4 x b0=2 x i32>, memref<4x4x4x12xi32>
  }
  func.return %y : memref<4x4x4x12xi32>
}

// Where the dimension that the loop names is the last of two, the first one and those between them keep their places.
func.func @last(%x: memref<1xf32>) -> (memref<1x4x3x1xf32>, memref<1x1x3x1xf32>) {
  %y = host.alloc fill 0.0 : memref<1x4x3x1xf32>
  %z = host.alloc : memref<1x1x3x1xf32>
  tile.grid (%i: b0=2, %j: b1=2) in (1, 1) {
    %v = tile.load %x[%i] : memref<1xf32> -> !tile.tile<b0=2 x f32>
    %lanes = tile.broadcast %v dims [0] : !tile.tile<b0=2 x f32> to !tile.tile<b0=2 x b1=2 x 3 x b0=2 x f32>
    tile.store %lanes, %y[%i, %j, :, %i] : !tile.tile<b0=2 x b1=2 x 3 x b0=2 x f32>, memref<1x4x3x1xf32>
    %w = tile.load %y[%i, %j, :, :] : memref<1x4x3x1xf32> -> !tile.tile<b0=2 x b1=2 x 3 x 1 x f32>
    tile.store %w, %z[%i, %j, :, :] : !tile.tile<b0=2 x b1=2 x 3 x 1 x f32>, memref<1x1x3x1xf32>
  }
  func.return %y, %z : memref<1x4x3x1xf32>, memref<1x1x3x1xf32>
}
