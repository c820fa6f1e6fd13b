// RUN: kopt %s -p convert-tile-to-triton -t triton-py | filecheck %s

// Operators take a literal in the other operand's type. Functions make it f32 or i32 first: they take one of these as it
// is, and others with their type.
// CHECK: tl.maximum(v, 2.0, propagate_nan=tl.PropagateNan.ALL)
// CHECK: v + 2.0
// CHECK: tl.maximum(w, tl.full([], 2, tl.int64))
// CHECK: w + 2
func.func @f(%x: memref<8x64xf32>, %y: memref<8x64xi64>) {
  tile.grid (%i: b0=1) in (1) {
    %v = tile.load %x[:, :] : memref<8x64xf32> -> !tile.tile<8 x 64 x f32>
    %two = tile.full 2.0 : !tile.tile<8 x 64 x f32>
    %a = tile.maximum %v, %two : !tile.tile<8 x 64 x f32>
    tile.store %a, %x[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
    %b = tile.add %v, %two : !tile.tile<8 x 64 x f32>
    tile.store %b, %x[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
    %w = tile.load %y[:, :] : memref<8x64xi64> -> !tile.tile<8 x 64 x i64>
    %whole = tile.full 2 : !tile.tile<8 x 64 x i64>
    %c = tile.maximum %w, %whole : !tile.tile<8 x 64 x i64>
    tile.store %c, %y[:, :] : !tile.tile<8 x 64 x i64>, memref<8x64xi64>
    %d = tile.add %w, %whole : !tile.tile<8 x 64 x i64>
    tile.store %d, %y[:, :] : !tile.tile<8 x 64 x i64>, memref<8x64xi64>
  }
  func.return
}
