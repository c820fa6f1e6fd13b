// RUN: kopt %s --verify-each -p compare-terms | filecheck %s

// Numbers of rows and columns are compared as they are; their difference stays where it is used otherwise.
// CHECK-LABEL: func.func @compared
// CHECK: %apart = tile.sub %row, %column
// CHECK: %lower = tile.ge %row, %column : !tile.tile<64 x 64 x i32>
// CHECK: %same = tile.eq %row, %column : !tile.tile<64 x 64 x i32>
// What is loaded may wrap, and other numbers than 0 stay.
// CHECK: %wraps = tile.lt %gap, %zero
// CHECK: %near = tile.lt %apart, %ten
func.func @compared(%x: memref<64x64xi32>, %out: memref<64x64xi1>, %far: memref<64x64xi32>) {
  tile.grid (%i: b0=1) in (1) {
    %numbers = tile.arange 0, 1 : !tile.tile<64 x i32>
    %row = tile.broadcast %numbers dims [0] : !tile.tile<64 x i32> to !tile.tile<64 x 64 x i32>
    %column = tile.broadcast %numbers dims [1] : !tile.tile<64 x i32> to !tile.tile<64 x 64 x i32>
    %apart = tile.sub %row, %column : !tile.tile<64 x 64 x i32>
    %zero = tile.full 0 : !tile.tile<64 x 64 x i32>
    %lower = tile.ge %apart, %zero : !tile.tile<64 x 64 x i32>
    %same = tile.eq %apart, %zero : !tile.tile<64 x 64 x i32>
    %loaded = tile.load %x[:, :] : memref<64x64xi32> -> !tile.tile<64 x 64 x i32>
    %gap = tile.sub %loaded, %row : !tile.tile<64 x 64 x i32>
    %wraps = tile.lt %gap, %zero : !tile.tile<64 x 64 x i32>
    %ten = tile.full 10 : !tile.tile<64 x 64 x i32>
    %near = tile.lt %apart, %ten : !tile.tile<64 x 64 x i32>
    %a = tile.and %lower, %same : !tile.tile<64 x 64 x i1>
    %b = tile.or %wraps, %near : !tile.tile<64 x 64 x i1>
    %c = tile.and %a, %b : !tile.tile<64 x 64 x i1>
    tile.store %c, %out[:, :] : !tile.tile<64 x 64 x i1>, memref<64x64xi1>
    tile.store %apart, %far[:, :] : !tile.tile<64 x 64 x i32>, memref<64x64xi32>
  }
  func.return
}
