"builtin.module"() ({
  "func.func"() <{sym_name = "comparison", function_type = (memref<8x128xf32>) -> memref<8x128xf32>}> ({
  ^bb0(%x: memref<8x128xf32>):
    %o = "pallas.call"(%x) <{sym_name = "comparison", windows = [#pallas.window<[8, 128], (d0) -> (0, 0), vmem>, #pallas.window<[8, 128], (d0) -> (0, 0), vmem>], semantics = ["arbitrary"], aliases = array<i64: -1>}> ({
    ^bb0(%x_ref: !tile.ref<8 x 128 x f32, vmem>, %o_ref: !tile.ref<8 x 128 x f32, vmem>):
      "tile.grid"() <{lower = array<i64: 0>, upper = array<i64: 1>, operandSegmentSizes = array<i32: 0, 0>}> ({
      ^bb0(%g: !tile.range<g0=1>):
        %a = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
        %n = "arith.cmpf"(%a, %a) <{predicate = 256 : i64, fastmath = #arith.fastmath<none>}> : (f32, f32) -> i1
        "tile.yield"() : () -> ()
      }) : () -> ()
    }) : (memref<8x128xf32>) -> memref<8x128xf32>
    "func.return"(%o) : (memref<8x128xf32>) -> ()
  }) : () -> ()
}) : () -> ()
