builtin.module {
  func.func @items(%offsets: memref<200001xi64>) -> memref<200000xi64> {
    %new = host.launch @items (%o = %offsets) writes [] yields (%out : memref<200000xi64>) : (memref<200001xi64>) -> memref<200000xi64> {
      tile.grid (%i: b0=1) in (200000) plan {order [i] ordered [i]
          @q0 = %o one_hot} {
        %at = tile.begin %i : !tile.range<b0=1>
        %one = arith.constant 1 : index
        %next = arith.addi %at, %one : index
        %a = tile.load %o[%at] : memref<200001xi64> -> !tile.tile<i64>
        %b = tile.load %o[%next] via @q0 : memref<200001xi64> -> !tile.tile<i64>
        %n = tile.sub %b, %a : !tile.tile<i64>
        tile.store %n, %out[%at] : !tile.tile<i64>, memref<200000xi64>
      }
    }
    func.return %new : memref<200000xi64>
  }
}
