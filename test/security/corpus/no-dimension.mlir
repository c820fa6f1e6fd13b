"builtin.module"() ({
  "func.func"() <{sym_name = "no_block", function_type = (memref<?xf32>) -> ()}> ({
  ^bb0(%x: memref<?xf32>):
    %m = "tile.dim"(%x) : (memref<?xf32>) -> index
    "triton.launch"(%x, %m) <{sym_name = "no_block_0", programs = #builtin.int<8>, num_warps = #builtin.int<4>, num_stages = #builtin.int<2>, write_only = array<i64>, sizes = array<i64: 8>, operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%a: memref<?xf32>):
    }) : (memref<?xf32>, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
