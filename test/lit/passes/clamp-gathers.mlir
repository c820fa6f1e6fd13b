// RUN: kopt %s --verify-each -p clamp-gathers | filecheck %s

// Numbers that are computed are held inside; those that are known to be stay.
// CHECK-LABEL: func.func @f
// CHECK: %picks = triton.bounded %n below 8 : !tile.tile<4 x i32>
// CHECK-NEXT: %t = tile.take_along %v, %picks dim 0 {triton.inside}
// CHECK-NEXT: %u = tile.take_along %v, %n dim 0 {triton.inside}
// CHECK-NEXT: %three = tile.full 3
// CHECK-NEXT: %w = tile.take_along %v, %three dim 0 :
func.func @f(%x: memref<8xf32>, %k: memref<4xi32>) {
  triton.launch @f_0 (%y = %x, %m = %k) grid (1) num_warps 4 num_stages 1 {
    %v = tile.load %y[:] : memref<8xf32> -> !tile.tile<8 x f32>
    %n = tile.load %m[:] : memref<4xi32> -> !tile.tile<4 x i32>
    %t = tile.take_along %v, %n dim 0 : !tile.tile<8 x f32>, !tile.tile<4 x i32>
    %u = tile.take_along %v, %n dim 0 {triton.inside} : !tile.tile<8 x f32>, !tile.tile<4 x i32>
    %three = tile.full 3 : !tile.tile<4 x i32>
    %w = tile.take_along %v, %three dim 0 : !tile.tile<8 x f32>, !tile.tile<4 x i32>
  }
  func.return
}
