// Combinations by a function of the kernel's own, scans in reverse, and sorts.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @combinations(%v: !tile.tile<4 x 8 x f32>, %k: !tile.tile<4 x 8 x i32>) {
  // CHECK: tile.scan add %v dim 1 reverse : !tile.tile<4 x 8 x f32>
  %s = tile.scan add %v dim 1 reverse : !tile.tile<4 x 8 x f32>
  // CHECK-NEXT: %a, %b = tile.associative_scan %v, %k dim 1 reverse : !tile.tile<4 x 8 x f32>, !tile.tile<4 x 8 x i32> {
  // CHECK-NEXT: ^bb0(%l: !tile.tile<f32>, %m: !tile.tile<i32>, %r: !tile.tile<f32>, %n: !tile.tile<i32>):
  // CHECK-NEXT: %c = tile.mul %l, %r : !tile.tile<f32>
  // CHECK-NEXT: %d = tile.add %m, %n : !tile.tile<i32>
  // CHECK-NEXT: tile.yield %c, %d : !tile.tile<f32>, !tile.tile<i32>
  %a, %b = tile.associative_scan %v, %k dim 1 reverse : !tile.tile<4 x 8 x f32>, !tile.tile<4 x 8 x i32> {
  ^bb0(%l: !tile.tile<f32>, %m: !tile.tile<i32>, %r: !tile.tile<f32>, %n: !tile.tile<i32>):
    %c = tile.mul %l, %r : !tile.tile<f32>
    %d = tile.add %m, %n : !tile.tile<i32>
    tile.yield %c, %d : !tile.tile<f32>, !tile.tile<i32>
  }
  // CHECK: tile.associative_reduce %v dim 0 attributes {note = "kept"} : !tile.tile<4 x 8 x f32> {
  %e = tile.associative_reduce %v dim 0 attributes {note = "kept"} : !tile.tile<4 x 8 x f32> {
  ^bb0(%l: !tile.tile<f32>, %r: !tile.tile<f32>):
    %c = tile.mul %l, %r : !tile.tile<f32>
    tile.yield %c : !tile.tile<f32>
  }
  // CHECK: tile.add %e, %e : !tile.tile<8 x f32>
  %f = tile.add %e, %e : !tile.tile<8 x f32>
  // CHECK-NEXT: %x, %y = tile.sort %v dim 1 : !tile.tile<4 x 8 x f32>
  %x, %y = tile.sort %v dim 1 : !tile.tile<4 x 8 x f32>
  // CHECK-NEXT: tile.sort %k dim 0 descending {note = "kept"} : !tile.tile<4 x 8 x i32>
  %z, %w = tile.sort %k dim 0 descending {note = "kept"} : !tile.tile<4 x 8 x i32>
  func.return
}
