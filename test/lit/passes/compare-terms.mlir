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

// Differences of floats, and those with another number on the left of 0, stay.
// CHECK-LABEL: func.func @others
// CHECK-NEXT: tile.grid (%i: b0=64) in (64) {
// CHECK-NEXT: %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=64 x f32>
// CHECK-NEXT: %two = tile.full 2.0 : !tile.tile<b0=64 x f32>
// CHECK-NEXT: %gap = tile.sub %v, %two : !tile.tile<b0=64 x f32>
// CHECK-NEXT: %none = tile.full 0.0 : !tile.tile<b0=64 x f32>
// CHECK-NEXT: %a = tile.lt %gap, %none : !tile.tile<b0=64 x f32>
// CHECK-NEXT: %n = tile.index %i : !tile.range<b0=64>
// CHECK-NEXT: %five = tile.full 5 : !tile.tile<b0=64 x i32>
// CHECK-NEXT: %zero = tile.full 0 : !tile.tile<b0=64 x i32>
// CHECK-NEXT: %d = tile.sub %n, %five : !tile.tile<b0=64 x i32>
// CHECK-NEXT: %b = tile.lt %zero, %d : !tile.tile<b0=64 x i32>
// CHECK-NEXT: %s = tile.add %n, %five : !tile.tile<b0=64 x i32>
// CHECK-NEXT: %c = tile.lt %s, %zero : !tile.tile<b0=64 x i32>
// CHECK-NEXT: %e = tile.lt %d, %n : !tile.tile<b0=64 x i32>
// CHECK-NEXT: %f = tile.ne %n, %five : !tile.tile<b0=64 x i32>
// CHECK-NEXT: %g = tile.and %a, %b : !tile.tile<b0=64 x i1>
// CHECK-NEXT: %h = tile.and %c, %e : !tile.tile<b0=64 x i1>
// CHECK-NEXT: %k = tile.and %g, %h : !tile.tile<b0=64 x i1>
// CHECK-NEXT: %l = tile.and %k, %f : !tile.tile<b0=64 x i1>
// CHECK-NEXT: tile.store %l, %out[%i] : !tile.tile<b0=64 x i1>, memref<64xi1>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @others(%x: memref<64xf32>, %out: memref<64xi1>) {
  tile.grid (%i: b0=64) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=64 x f32>
    %two = tile.full 2.0 : !tile.tile<b0=64 x f32>
    %gap = tile.sub %v, %two : !tile.tile<b0=64 x f32>
    %none = tile.full 0.0 : !tile.tile<b0=64 x f32>
    %a = tile.lt %gap, %none : !tile.tile<b0=64 x f32>
    %n = tile.index %i : !tile.range<b0=64>
    %five = tile.full 5 : !tile.tile<b0=64 x i32>
    %zero = tile.full 0 : !tile.tile<b0=64 x i32>
    %d = tile.sub %n, %five : !tile.tile<b0=64 x i32>
    %b = tile.lt %zero, %d : !tile.tile<b0=64 x i32>
    %s = tile.add %n, %five : !tile.tile<b0=64 x i32>
    %c = tile.lt %s, %zero : !tile.tile<b0=64 x i32>
    %e = tile.lt %d, %n : !tile.tile<b0=64 x i32>
    %f = tile.ne %d, %zero : !tile.tile<b0=64 x i32>
    %g = tile.and %a, %b : !tile.tile<b0=64 x i1>
    %h = tile.and %c, %e : !tile.tile<b0=64 x i1>
    %k = tile.and %g, %h : !tile.tile<b0=64 x i1>
    %l = tile.and %k, %f : !tile.tile<b0=64 x i1>
    tile.store %l, %out[%i] : !tile.tile<b0=64 x i1>, memref<64xi1>
  }
  func.return
}
