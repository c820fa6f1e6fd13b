// The rows of a product are no power of two, which warps are.
func.func @f(%x: memref<100x100xf32>) {
  tile.grid (%i: b0=1) in (1) {
    %l = tile.load %x[:, :] : memref<100x100xf32> -> !tile.tile<100 x 100 x f32>
    %n = tile.cast %l : !tile.tile<100 x 100 x f32> to !tile.tile<100 x 100 x bf16>
    %a = tile.dot %l, %l : !tile.tile<100 x 100 x f32>, !tile.tile<100 x 100 x f32> -> !tile.tile<100 x 100 x f32>
    %b = tile.dot %l, %l precision ieee : !tile.tile<100 x 100 x f32>, !tile.tile<100 x 100 x f32> -> !tile.tile<100 x 100 x f32>
    %c = tile.dot %n, %n : !tile.tile<100 x 100 x bf16>, !tile.tile<100 x 100 x bf16> -> !tile.tile<100 x 100 x f32>
  }
  func.return
}
