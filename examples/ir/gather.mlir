// Rows of a table by number, and one element of each row by its flat position.
func.func @gather(%table: memref<300x200xf32>, %ids: memref<1000xi32>) -> (memref<1000x200xf32>, memref<1000xf32>) {
  %rows = host.alloc : memref<1000x200xf32>
  %picked = host.alloc fill 0.0 : memref<1000xf32>
  %flat = host.reshape %table : memref<300x200xf32> to memref<60000xf32>
  tile.grid (%i: b0=16, %j: b1=128) in (1000, 200) {
    %n = tile.load %ids[%i] : memref<1000xi32> -> !tile.tile<b0=16 x i32>
    %v = tile.load %table[%n, %j] : memref<300x200xf32> -> !tile.tile<b0=16 x b1=128 x f32>
    tile.store %v, %rows[%i, %j] : !tile.tile<b0=16 x b1=128 x f32>, memref<1000x200xf32>
  }
  tile.grid (%i2: b2=32) in (1000) {
    %n = tile.load %ids[%i2] : memref<1000xi32> -> !tile.tile<b2=32 x i32>
    %w = tile.full 200 : !tile.tile<b2=32 x i32>
    %at = tile.mul %n, %w : !tile.tile<b2=32 x i32>
    %v = tile.load %flat[%at] : memref<60000xf32> -> !tile.tile<b2=32 x f32>
    tile.store %v, %picked[%i2] : !tile.tile<b2=32 x f32>, memref<1000xf32>
  }
  func.return %rows, %picked : memref<1000x200xf32>, memref<1000xf32>
}
