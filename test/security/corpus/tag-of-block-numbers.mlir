builtin.module {
  func.func @block(%x: memref<50xf32>, %y: memref<12xf32>) {
    tile.grid (%n: b0_block=1) in (5) {
      %b = tile.begin %n : !tile.range<b0_block=1>
      %twelve = arith.constant 12 : index
      %lo = arith.muli %b, %b : index
      %hi = arith.addi %lo, %twelve : index
      tile.for %i: b0=12 in (%b, %hi) {
        %v = tile.load %x[%i] : memref<50xf32> -> !tile.tile<b0=12 x f32>
        %w = tile.load %y[:] : memref<12xf32> -> !tile.tile<12 x f32>
        %t = tile.broadcast %w dims [0] : !tile.tile<12 x f32> to !tile.tile<b0=12 x f32>
        %s = tile.sub %v, %t : !tile.tile<b0=12 x f32>
        tile.store %s, %y[%i] : !tile.tile<b0=12 x f32>, memref<12xf32>
      }
    }
    func.return
  }
}