func.func @f(%x: memref<?x64xf32>) {
  %n = "tile.dim"(%i) <{dim = #builtin.int<0>}> : (!tile.range<b0=16>) -> index
  "tile.grid"(%n) <{lower = array<i64: 0>, upper = array<i64: -9223372036854775808>, operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%i: !tile.range<b0=16>):
    "tile.yield"() : () -> ()
  }) : (index) -> ()
  func.return
}
