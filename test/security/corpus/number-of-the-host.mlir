builtin.module {
  func.func @carried(%x: memref<13x6xf32>, %c: i1) {
    tile.grid (%i: b0=4) in (13) {
      %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
      %f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
      %z = tile.full 0.0 : !tile.tile<24 x f32>
      %r = tile.for %k: b1=2 in (0, 5) iter(%a = %z) -> (!tile.tile<24 x f32>) {
        %s = tile.add %a, %f : !tile.tile<24 x f32>
        tile.yield %s : !tile.tile<24 x f32>
      }
      %e = scf.if %c -> (!tile.tile<24 x f32>) {
        scf.yield %r : !tile.tile<24 x f32>
      } else {
        scf.yield %f : !tile.tile<24 x f32>
      }
      %m = tile.reduce max %e [0] : !tile.tile<24 x f32>
    }
    func.return
  }
}
