// RUN: kopt run %s --target pallas:interpret --check

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
