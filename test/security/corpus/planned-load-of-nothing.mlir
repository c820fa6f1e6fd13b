builtin.module {
  func.func @options(%x: memref<129xf32>) {
    tile.grid (%i: b0=4096) in (129) plan {order [i] parallel [i] split 2
        @x = %x pointer} {
      %v = tile.load %x[%i] via @x : memref<129xf32> -> !tile.tile<b0=4096 x f32>
    }
    func.return
  }
}
