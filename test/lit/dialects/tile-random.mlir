// Random bits by number.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @random(%s: memref<i32>) {
  tile.grid (%i: b0=16) in (100) {
    // CHECK: %low = tile.load %s[] : memref<i32> -> !tile.tile<i32>
    %low = tile.load %s[] : memref<i32> -> !tile.tile<i32>
    %high = tile.full 0 : !tile.tile<i32>
    %n = tile.index %i : !tile.range<b0=16>
    // CHECK: %a, %b, %c, %d = tile.philox %n key %low, %high {note = "kept"} : !tile.tile<b0=16 x i32>
    %a, %b, %c, %d = tile.philox %n key %low, %high {note = "kept"} : !tile.tile<b0=16 x i32>
    // CHECK-NEXT: %w = tile.cast %n : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x i64>
    %w = tile.cast %n : !tile.tile<b0=16 x i32> to !tile.tile<b0=16 x i64>
    // CHECK-NEXT: tile.philox %w key %low, %high : !tile.tile<b0=16 x i64>
    %e, %f, %g, %h = tile.philox %w key %low, %high : !tile.tile<b0=16 x i64>
    // CHECK-NEXT: tile.or %a, %h : !tile.tile<b0=16 x i32>
    %or = tile.or %a, %h : !tile.tile<b0=16 x i32>
  }
  func.return
}
