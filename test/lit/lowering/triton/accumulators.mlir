// RUN: kopt %s -p 'legalise-ops,convert-tile-to-triton' -t triton-py | filecheck %s

// Triton up to 3.7 takes a product for one of f32 unless it is told, whatever it is added to.
// CHECK: of_integers = tl.dot(l, r, acc, out_dtype=tl.int32)
// CHECK: of_doubles = tl.dot(h, w, out_dtype=tl.float64)
func.func @sums(%x: memref<32x64xi8>, %y: memref<64x32xi8>, %sums: memref<32x32xi32>, %out: memref<32x32xf64>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :] : memref<32x64xi8> -> !tile.tile<32 x 64 x i8>
    %r = tile.load %y[:, :] : memref<64x32xi8> -> !tile.tile<64 x 32 x i8>
    %acc = tile.load %sums[:, :] : memref<32x32xi32> -> !tile.tile<32 x 32 x i32>
    %of_integers = tile.dot %l, %r, %acc : !tile.tile<32 x 64 x i8>, !tile.tile<64 x 32 x i8> -> !tile.tile<32 x 32 x i32>
    tile.store %of_integers, %sums[:, :] : !tile.tile<32 x 32 x i32>, memref<32x32xi32>
    %h = tile.cast %l : !tile.tile<32 x 64 x i8> to !tile.tile<32 x 64 x f64>
    %w = tile.cast %r : !tile.tile<64 x 32 x i8> to !tile.tile<64 x 32 x f64>
    %of_doubles = tile.dot %h, %w : !tile.tile<32 x 64 x f64>, !tile.tile<64 x 32 x f64> -> !tile.tile<32 x 32 x f64>
    tile.store %of_doubles, %out[:, :] : !tile.tile<32 x 32 x f64>, memref<32x32xf64>
  }
  func.return
}
