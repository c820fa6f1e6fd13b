builtin.module {
  func.func @yielded() -> memref<100xf32> {
    %new = host.launch @yielded () writes [] yields (%out : memref<100xf32>) : () -> memref<100xf32> {
      tile.grid (%i: b0=8) in (5 to 25) plan {order [i] ordered [i]
          @q0 = %out accumulate} {
        %v = tile.full 1.0 : !tile.tile<b0=8 x f32>
        tile.store %v, %out[%i] via @q0 : !tile.tile<b0=8 x f32>, memref<100xf32>
      }
    }
    func.return %new : memref<100xf32>
  }
}
