// Dependences that no order of the grid serves: one stays whole on chip.
func.func @crossed(%x: memref<40x200xf32>, %rows: memref<40xf32>, %columns: memref<200xf32>) {
  tile.grid (%i: b0=8, %j: b1=128) in (40, 200) {
    %v = tile.load %x[%i, %j] : memref<40x200xf32> -> !tile.tile<b0=8 x b1=128 x f32>
    %r = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=128 x f32>
    %c = tile.reduce max %v [0] : !tile.tile<b0=8 x b1=128 x f32>
    atomic.rmw add %r, %rows[%i] : !tile.tile<b0=8 x f32>, memref<40xf32>
    atomic.rmw max %c, %columns[%j] : !tile.tile<b1=128 x f32>, memref<200xf32>
  }
  func.return
}
