"builtin.module"() ({
  "func.func"() <{sym_name = "wrong_signal", function_type = (memref<8x128xf32>) -> memref<8x128xf32>}> ({
  ^bb0(%x: memref<8x128xf32>):
    %o = "pallas.call"(%x) <{sym_name = "wrong_signal", windows = [#pallas.window<[8, 128], (d0) -> (0, 0), hbm>, #pallas.window<[8, 128], (d0) -> (0, 0), hbm>], semantics = ["arbitrary"], aliases = array<i64: -1>, collective = 0 : i64}> ({
    ^bb0(%given: !tile.ref<8 x 128 x f32, hbm>, %out: !tile.ref<8 x 128 x f32, hbm>, %mine: !tile.ref<8 x 128 x f32, vmem>, %inbox: !tile.ref<2 x 8 x 128 x f32, vmem>, %sent: !tile.ref<4 x i32, semaphore>, %got: !tile.ref<4 x i32, semaphore>, %free: !tile.ref<2 x i32, counter>):
      "tile.grid"() <{lower = array<i64: 0>, upper = array<i64: 1>}> ({
      ^bb0(%g: !tile.range<g0=1>):
        %me = "symm.rank"() <{group = "tp"}> : () -> index
        %one = "arith.constant"() <{value = 1 : index}> : () -> index
        %two = "arith.constant"() <{value = 2 : index}> : () -> index
        %three = "arith.constant"() <{value = 3 : index}> : () -> index
        %far = "arith.addi"(%me, %one) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %right = "arith.remui"(%far, %three) : (index, index) -> index
        %back = "arith.addi"(%me, %two) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %left = "arith.remui"(%back, %three) : (index, index) -> index
        %v = "tile.full"() <{value = 1.000000e+00 : f32}> : () -> !tile.tile<8 x 128 x f32>
        "symm.barrier"() <{group = "tp", ranks = 3 : i32}> : () -> ()
        "tile.for"() <{static_bounds = array<i64: 0, 4>, operandSegmentSizes = array<i32: 0, 0>}> ({
        ^bb0(%s: !tile.range<s0=1>):
          %n = "tile.id"(%s) : (!tile.range<s0=1>) -> index
          "tile.put"(%v, %mine) <{layout = [#tile.all, #tile.all]}> : (!tile.tile<8 x 128 x f32>, !tile.ref<8 x 128 x f32, vmem>) -> ()
          %t = "symm.remote_copy"(%mine, %inbox, %sent, %got, %right, %n) <{source_layout = [#tile.all, #tile.all], target_layout = [#builtin.int<0>, #tile.all, #tile.all], sent_layout = [#builtin.int<0>], group = "tp", operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1>}> : (!tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<4 x i32, semaphore>, !tile.ref<4 x i32, semaphore>, index, index) -> !symm.transfer
          "symm.remote_copy_start"(%t) : (!symm.transfer) -> ()
          "symm.remote_copy_wait"(%t) <{end = "send"}> : (!symm.transfer) -> ()
          "symm.remote_copy_wait"(%t) <{end = "receive"}> : (!symm.transfer) -> ()
          %i = "tile.get"(%inbox) <{layout = [#builtin.int<0>, #tile.all, #tile.all]}> : (!tile.ref<2 x 8 x 128 x f32, vmem>) -> !tile.tile<8 x 128 x f32>
          "symm.signal"(%free, %right) <{channel = 0 : i32, group = "tp"}> : (!tile.ref<2 x i32, counter>, index) -> ()
          "symm.wait"(%free, %left) <{channel = 0 : i32, group = "tp"}> : (!tile.ref<2 x i32, counter>, index) -> ()
          "tile.yield"() : () -> ()
        }) : () -> ()
        "tile.yield"() : () -> ()
      }) : () -> ()
    }) : (memref<8x128xf32>) -> memref<8x128xf32>
    "func.return"(%o) : (memref<8x128xf32>) -> ()
  }) : () -> ()
}) : () -> ()
