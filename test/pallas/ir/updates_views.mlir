// Views of one array, in part and turned.
func.func @views(%x: memref<40x128xf32>, %out: memref<128x20xf32>) -> memref<6x64xf32> {
  %big = host.alloc fill 2.0 : memref<12x64xf32>
  %part = host.slice %big [2, 0] [6, 64] [1, 1] : memref<12x64xf32> to memref<6x64xf32>
  %flat = host.reshape %part : memref<6x64xf32> to memref<384xf32>
  %turned = host.permute %out [1, 0] : memref<128x20xf32> to memref<20x128xf32>
  tile.grid (%i: b0=8) in (40) {
    %n = tile.id %i : !tile.range<b0=8>
    %v = tile.load %x[%i, :] : memref<40x128xf32> -> !tile.tile<b0=8 x 128 x f32>
    %s = tile.reduce add %v [0] : !tile.tile<b0=8 x 128 x f32>
    atomic.rmw add %s, %flat[128:256] : !tile.tile<128 x f32>, memref<384xf32>
    atomic.rmw max %s, %turned[%n, :] : !tile.tile<128 x f32>, memref<20x128xf32>
  }
  func.return %part : memref<6x64xf32>
}
