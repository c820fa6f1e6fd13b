"builtin.module"() ({
  "func.func"() <{sym_name = "heads", function_type = (memref<2x96x4x64xf32>) -> memref<2x96x4x64xf32>}> ({
  ^bb0(%x: memref<2x96x4x64xf32>):
    %out = "host.alloc"() : () -> memref<2x96x4x64xf32>
    "tile.grid"() <{lower = array<i64: 0, 0, 0>, upper = array<i64: 2, 4, 96>}> ({
    ^bb0(%b: !tile.range<b0=1>, %h: !tile.range<b1=1>, %i: !tile.range<b2=16>):
      %n = "tile.begin"(%b) : (!tile.range<b0=1>) -> index
      %m = "tile.begin"(%h) : (!tile.range<b1=1>) -> index
      %v = "tile.load"(%x, %n, %i, %m) <{layout = [unit, unit, unit, #tile.all], operandSegmentSizes = array<i32: 1, 3, 0>}> : (memref<2x96x4x64xf32>, index, !tile.range<b2=16>, index) -> !tile.tile<b2=16 x 64 x f32>
      "tile.store"(%v, %out, %n, %i, %m) <{layout = [unit, unit, unit, #tile.all], operandSegmentSizes = array<i32: 1, 1, 3, 17>}> : (!tile.tile<b2=16 x 64 x f32>, memref<2x96x4x64xf32>, index, !tile.range<b2=16>, index) -> ()
      "tile.yield"() : () -> ()
    }) : () -> ()
    "func.return"(%out) : (memref<2x96x4x64xf32>) -> ()
  }) : () -> ()
}) : () -> ()
