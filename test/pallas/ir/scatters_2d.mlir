// Row numbers of two dimensions, pairs of row numbers, a view as the target, and rows of two dimensions.
func.func @scatters_2d(%r: memref<6x10xi32>, %c: memref<6x10xi32>, %v: memref<6x10x24xf32>, %table: memref<300x24xf32>, %pairs: memref<300x320xi32>, %whole: memref<600x4x24xf32>) {
  %view = host.slice %whole [100, 0, 0] [310, 4, 24] [1, 1, 1] : memref<600x4x24xf32> to memref<310x4x24xf32, strided<[96, 24, 1], offset: 9600>>
  tile.grid (%i: b0=4, %j: b1=16) in (6, 10) {
    %m = tile.load %r[%i, %j] : memref<6x10xi32> -> !tile.tile<b0=4 x b1=16 x i32>
    %n = tile.load %c[%i, %j] : memref<6x10xi32> -> !tile.tile<b0=4 x b1=16 x i32>
    %a = tile.load %v[%i, %j, :] : memref<6x10x24xf32> -> !tile.tile<b0=4 x b1=16 x 24 x f32>
    atomic.rmw add %a, %table[%m, :] : !tile.tile<b0=4 x b1=16 x 24 x f32>, memref<300x24xf32>
    atomic.rmw xor %n, %pairs[%m, %n] : !tile.tile<b0=4 x b1=16 x i32>, memref<300x320xi32>
    %w = tile.broadcast %a dims [0, 1, 3] : !tile.tile<b0=4 x b1=16 x 24 x f32> to !tile.tile<b0=4 x b1=16 x 4 x 24 x f32>
    atomic.rmw max %w, %view[%n, :, :] : !tile.tile<b0=4 x b1=16 x 4 x 24 x f32>, memref<310x4x24xf32, strided<[96, 24, 1], offset: 9600>>
  }
  func.return
}
