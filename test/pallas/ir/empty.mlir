// Nothing to walk: no call is made; sums of nothing are 0.
func.func @empty(%x: memref<0x8xf32>, %y: memref<16x0xf32>) -> (memref<0x8xf32>, memref<16xf32>) {
  %out = host.alloc : memref<0x8xf32>
  %sum = host.alloc : memref<16xf32>
  tile.grid (%i: b0=8) in (0) {
    %v = tile.load %x[%i, :] : memref<0x8xf32> -> !tile.tile<b0=8 x 8 x f32>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 8 x f32>, memref<0x8xf32>
  }
  tile.grid (%j: b1=16) in (16) {
    %v = tile.load %y[%j, :] : memref<16x0xf32> -> !tile.tile<b1=16 x 0 x f32>
    %s = tile.reduce add %v [1] : !tile.tile<b1=16 x 0 x f32>
    tile.store %s, %sum[%j] : !tile.tile<b1=16 x f32>, memref<16xf32>
  }
  func.return %out, %sum : memref<0x8xf32>, memref<16xf32>
}
