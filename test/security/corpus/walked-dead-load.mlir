func.func @top(%x: memref<1024x131072xf32>, %o: memref<1024xf32>) {
  tile.grid (%i: b0=1) in (1024) plan {order [i] parallel [i] walk(dim 1 of %x: b1=8192, passes)
      @x0 = %x pointer
      @x1 = %x pointer
      @o = %o pointer} {
    %first = tile.load %x[%i, :] via @x0 : memref<1024x131072xf32> -> !tile.tile<b0=1 x 131072 x f32>
    %top = tile.reduce max %first [1] : !tile.tile<b0=1 x 131072 x f32>
    %unused = tile.load %x[%i, :] via @x1 : memref<1024x131072xf32> -> !tile.tile<b0=1 x 131072 x f32>
    tile.store %top, %o[%i] via @o : !tile.tile<b0=1 x f32>, memref<1024xf32>
  }
  func.return
}
