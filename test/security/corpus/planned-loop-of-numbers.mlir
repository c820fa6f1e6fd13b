builtin.module {
  func.func @counted(%out: memref<1xi32>) {
    tile.grid (%i: b0=1) in (1) plan {order [i, k] ordered [i, k]} {
      %zero = arith.constant 0 : index
      %s = tile.for %k: b1=12 in (0, 100) iter(%t = %zero) -> (index) schedule grid {
        %hi = tile.end %k : !tile.range<b1=12>
        %u = arith.addi %t, %hi : index
        tile.yield %u : index
      }
      %v = tile.splat %s : index to !tile.tile<b0=1 x i32>
      tile.store %v, %out[%i] : !tile.tile<b0=1 x i32>, memref<1xi32>
    }
    func.return
  }
}
