// A pipeline inside a pipeline: the rows of %y arrive with the outer loop, the products' columns with the inner one.
func.func @nested(%x: memref<40x300xf32>, %y: memref<40x128xf32>) -> memref<40x300xf32> {
  %out = host.alloc : memref<40x300xf32>
  tile.grid (%g: b0=40) in (40) {
    tile.for %i: b1=8 in (0, 40) {
      %v = tile.load %y[%i, :] : memref<40x128xf32> -> !tile.tile<b1=8 x 128 x f32>
      %s = tile.reduce add %v [1] : !tile.tile<b1=8 x 128 x f32>
      tile.for %k: b2=128 in (0, 300) {
        %a = tile.load %x[%i, %k] : memref<40x300xf32> -> !tile.tile<b1=8 x b2=128 x f32>
        %b = tile.broadcast %s dims [0] : !tile.tile<b1=8 x f32> to !tile.tile<b1=8 x b2=128 x f32>
        %p = tile.mul %a, %b : !tile.tile<b1=8 x b2=128 x f32>
        tile.store %p, %out[%i, %k] : !tile.tile<b1=8 x b2=128 x f32>, memref<40x300xf32>
      }
    }
  }
  func.return %out : memref<40x300xf32>
}
