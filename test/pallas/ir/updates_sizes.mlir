// Nothing to update, and one element.
func.func @sizes(%x: memref<0x128xf32>, %y: memref<17xi16>) -> (memref<0xf32>, memref<1xi16>, memref<128xf32>) {
  %none = host.alloc fill 1.0 : memref<128xf32>
  %empty = host.alloc fill 0.0 : memref<0xf32>
  %one = host.alloc fill 0 : memref<1xi16>
  tile.grid (%i: b0=8) in (0) {
    %v = tile.load %x[%i, :] : memref<0x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %s = tile.reduce add %v [0] : !tile.tile<b0=8 x 128 x f32>
    atomic.rmw add %s, %none[:] : !tile.tile<128 x f32>, memref<128xf32>
  }
  tile.grid (%j: b1=8) in (17) {
    %z = tile.full 1.0 : !tile.tile<0 x f32>
    atomic.rmw add %z, %empty[:] : !tile.tile<0 x f32>, memref<0xf32>
    %v = tile.load %y[%j] : memref<17xi16> -> !tile.tile<b1=8 x i16>
    %s = tile.reduce max %v [0] : !tile.tile<b1=8 x i16>
    atomic.rmw max %s, %one[0] : !tile.tile<i16>, memref<1xi16>
  }
  func.return %empty, %one, %none : memref<0xf32>, memref<1xi16>, memref<128xf32>
}
