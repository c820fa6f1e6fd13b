func.func @relu6(%x: memref<1000xf32>) -> memref<1000xf32> {
  %out = host.alloc : memref<1000xf32>
  tile.grid (%i: b0=128) in (1000) {
    %v = tile.load %x[%i] : memref<1000xf32> -> !tile.tile<b0=128 x f32>
    %r = activation.relu6 %v : !tile.tile<b0=128 x f32>
    tile.store %r, %out[%i] : !tile.tile<b0=128 x f32>, memref<1000xf32>
  }
  func.return %out : memref<1000xf32>
}
