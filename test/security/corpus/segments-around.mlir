"builtin.module"() ({
  "func.func"() <{sym_name = "kinds", function_type = (memref<64xf32>) -> ()}> ({
  ^bb0(%x: memref<64xf32>):
    "tile.grid"(%x) <{lower = array<i64: 0>, upper = array<i64: 64>, plan = #tile.plan<order [b0] parallel [b0] @x = %0 window>}> ({
    ^bb0(%i: !tile.range<b0=8>):
      %v = "tile.load"(%x, %i) <{layout = [unit], operandSegmentSizes = array<i32: 1, 1, 0>}> {via = "x"} : (memref<64xf32>, !tile.range<b0=8>) -> !tile.tile<b0=8 x f32>
      "tile.yield"() : () -> ()
    }) : (memref<64xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
