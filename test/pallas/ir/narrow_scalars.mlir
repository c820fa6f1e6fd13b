// Single elements of types that a TPU has no scalars for.
func.func @narrow_scalars(%x: memref<24x128xf32>, %s: memref<4x24xbf16>, %n: memref<4x24xi8>, %p: memref<4xi1>) -> memref<24x128xf32> {
  %out = host.alloc : memref<24x128xf32>
  tile.grid (%i: b0=1) in (24) {
    %k = tile.begin %i : !tile.range<b0=1>
    %scale = tile.load %s[2, 11] : memref<4x24xbf16> -> !tile.tile<bf16>
    %shift = tile.load %n[1, %k] : memref<4x24xi8> -> !tile.tile<i8>
    %flag = tile.load %p[3] : memref<4xi1> -> !tile.tile<i1>
    %a = tile.cast %scale : !tile.tile<bf16> to !tile.tile<f32>
    %b = tile.cast %shift : !tile.tile<i8> to !tile.tile<f32>
    %c = tile.cast %flag : !tile.tile<i1> to !tile.tile<f32>
    %ab = tile.mul %a, %b : !tile.tile<f32>
    %abc = tile.add %ab, %c : !tile.tile<f32>
    %wide = tile.broadcast %abc dims [] : !tile.tile<f32> to !tile.tile<b0=1 x 128 x f32>
    %v = tile.load %x[%i, :] : memref<24x128xf32> -> !tile.tile<b0=1 x 128 x f32>
    %r = tile.add %v, %wide : !tile.tile<b0=1 x 128 x f32>
    tile.store %r, %out[%i, :] : !tile.tile<b0=1 x 128 x f32>, memref<24x128xf32>
  }
  func.return %out : memref<24x128xf32>
}
