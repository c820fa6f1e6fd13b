func.func @concat(%x: memref<6xf32>, %y: memref<f32>) {
  tile.grid (%i: b0=1) in (1) {
    %v = tile.load %x[:] : memref<6xf32> -> !tile.tile<6 x f32>
    %e = tile.exp %v : !tile.tile<6 x f32>

    %one = tile.full 1.0 : !tile.tile<2 x f32>
    %c = tile.concat %e, %one dim 0 : !tile.tile<6 x f32>, !tile.tile<2 x f32> to !tile.tile<8 x f32>
    %s = tile.reduce add %c [0] : !tile.tile<8 x f32>
    tile.store %s, %y[] : !tile.tile<f32>, memref<f32>
  }
  func.return
}

