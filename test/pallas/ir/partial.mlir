// Part of an array is written: the rest keeps what it held.
func.func @partial(%x: memref<100x200xf32>, %y: memref<100x200xf32>) {
  tile.grid (%i: b0=32, %j: b1=128) in (70, 200) {
    %v = tile.load %x[%i, %j] : memref<100x200xf32> -> !tile.tile<b0=32 x b1=128 x f32>
    %o = tile.load %y[%i, %j] : memref<100x200xf32> -> !tile.tile<b0=32 x b1=128 x f32>
    %s = tile.add %v, %o : !tile.tile<b0=32 x b1=128 x f32>
    %z = tile.full 0.0 : !tile.tile<b0=32 x b1=128 x f32>
    %m = tile.gt %v, %z : !tile.tile<b0=32 x b1=128 x f32>
    tile.store %s, %y[%i, %j] mask %m : !tile.tile<b0=32 x b1=128 x f32>, memref<100x200xf32>
  }
  func.return
}
