// RUN: kopt %s --split-input-file --verify-diagnostics --remarks -p symm-place,symm-propagate,verify-symm | filecheck %s
// RUN: kopt %s --split-input-file -p symm-place,symm-propagate,plan-buffers,verify-symm | filecheck %s --check-prefix=PLAN

// Through a kernel and a call; the plan then has the whole chain in one place.
// CHECK-LABEL: func.func @chain
// PLAN-LABEL: func.func @chain
func.func @chain(%x: memref<8x16xf32>, %w: memref<16x16xf32>, %y: memref<8x16xf32>) -> memref<8x16xf32> {
  // expected-remark @+1 {{'m' is computed in the symmetric memory of group "tp"}}
  %m = host.call "aten.mm.default"(%x, %w) args [unit, unit] : (memref<8x16xf32>, memref<16x16xf32>) -> (memref<8x16xf32>)
  // expected-remark @+1 {{'r' is computed in the symmetric memory of group "tp"}}
  %r = host.call "aten.relu.default"(%m) args [unit] : (memref<8x16xf32>) -> (memref<8x16xf32>)
  // expected-remark @+1 {{'h' is allocated in the symmetric memory of group "tp"}}
  %h = host.alloc : memref<8x16xf32>
  tile.grid (%i: b0=8, %j: b1=16) in (8, 16) {
    %v = tile.load %r[%i, %j] : memref<8x16xf32> -> !tile.tile<b0=8 x b1=16 x f32>
    %u = tile.load %y[%i, %j] : memref<8x16xf32> -> !tile.tile<b0=8 x b1=16 x f32>
    %z = tile.add %v, %u : !tile.tile<b0=8 x b1=16 x f32>
    tile.store %z, %h[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<8x16xf32>
  }
  %s = symm.all_reduce add %h group "tp" by one_shot : memref<8x16xf32> to memref<8x16xf32>
  func.return %s : memref<8x16xf32>
}
// CHECK-DAG: %h = host.alloc persistent "chain.0" : memref<8x16xf32, #symm.space<"tp">>
// CHECK-DAG: %r = host.alloc persistent "chain.1" : memref<8x16xf32, #symm.space<"tp">>
// CHECK-DAG: %m = host.alloc persistent "chain.2" : memref<8x16xf32, #symm.space<"tp">>
// CHECK: host.call_out "aten.mm.default"(%x, %w) args [unit, unit] to %m
// CHECK-NEXT: host.call_out "aten.relu.default"(%m) args [unit] to %r
// PLAN-NEXT: %m = host.alloc persistent "chain.2" : memref<8x16xf32, #symm.space<"tp">>
// PLAN-NEXT: host.call_out "aten.mm.default"(%x, %w) args [unit, unit] to %m
// PLAN-NEXT: host.call_out "aten.relu.default"(%m) args [unit] to %m
// PLAN-NEXT: tile.grid
// PLAN-NEXT: tile.load %m[%i, %j]
// PLAN: tile.store %z, %m[%i, %j]
// PLAN: symm.all_reduce add %m

// -----

// Returned, read after, transposed by the kernel, in a loop of its own, or not pointwise: they stay.
// CHECK-LABEL: func.func @stay
func.func @stay(%x: memref<16x16xf32>) -> memref<16x16xf32> {
  %a = host.call "aten.exp.default"(%x) args [unit] : (memref<16x16xf32>) -> (memref<16x16xf32>)
  %b = host.call "aten.exp.default"(%x) args [unit] : (memref<16x16xf32>) -> (memref<16x16xf32>)
  // expected-remark @+1 {{'c' is allocated in the symmetric memory}}
  %c = host.call "aten.add.Tensor"(%a, %b) args [unit, unit] : (memref<16x16xf32>, memref<16x16xf32>) -> (memref<16x16xf32>)
  %d = host.call "aten.exp.default"(%b) args [unit] : (memref<16x16xf32>) -> (memref<16x16xf32>)
  // expected-remark @+1 {{'h' is allocated in the symmetric memory}}
  %h = host.alloc : memref<16x16xf32>
  tile.grid (%i: b0=16, %j: b1=16) in (16, 16) {
    %v = tile.load %d[%j, %i] : memref<16x16xf32> -> !tile.tile<b1=16 x b0=16 x f32>
    %z = tile.transpose %v [1, 0] : !tile.tile<b1=16 x b0=16 x f32>
    tile.store %z, %h[%i, %j] : !tile.tile<b0=16 x b1=16 x f32>, memref<16x16xf32>
  }
  // expected-remark @+1 {{'p' is allocated in the symmetric memory}}
  %p = host.call "aten.mm.default"(%d, %d) args [unit, unit] : (memref<16x16xf32>, memref<16x16xf32>) -> (memref<16x16xf32>)
  %s = symm.all_reduce add %c group "tp" by one_shot : memref<16x16xf32> to memref<16x16xf32>
  %t = symm.all_reduce add %h group "tp" by one_shot : memref<16x16xf32> to memref<16x16xf32>
  %u = symm.all_reduce add %p group "tp" by one_shot : memref<16x16xf32> to memref<16x16xf32>
  func.return %a : memref<16x16xf32>
}
// CHECK: %a = host.call
// CHECK-NEXT: %b = host.call
// CHECK: %d = host.call

// -----

// A partition before the call reads it: it moves. One that the call is in has no order with what made it outside: it stays.
// CHECK-LABEL: func.func @partitions
// CHECK-NEXT: %h = host.alloc persistent "partitions.0" : memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: %m = host.alloc persistent "partitions.1" : memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: host.call_out "aten.exp.default"(%x) args [unit] to %m : (memref<8xf32>) to memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: host.partition capture {
// CHECK-NEXT: host.copy %m to %s : memref<8xf32, #symm.space<"tp">>, memref<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: host.call_out "aten.relu.default"(%m) args [unit] to %h : (memref<8xf32, #symm.space<"tp">>) to memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: %a = symm.all_reduce add %h group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
// CHECK-NEXT: func.return
func.func @partitions(%x: memref<8xf32>, %s: memref<8xf32>) {
  // expected-remark @+1 {{'m' is computed in the symmetric memory of group "tp"}}
  %m = host.call "aten.exp.default"(%x) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  host.partition capture {
    host.copy %m to %s : memref<8xf32>, memref<8xf32>
  }
  // expected-remark @+1 {{'h' is allocated in the symmetric memory of group "tp"}}
  %h = host.call "aten.relu.default"(%m) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  %a = symm.all_reduce add %h group "tp" by one_shot : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @inside
// CHECK-NEXT: %h = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: %m = host.alloc : memref<8xf32>
// CHECK-NEXT: host.call_out "aten.exp.default"(%x) args [unit] to %m : (memref<8xf32>) to memref<8xf32>
// CHECK-NEXT: host.partition capture {
// CHECK-NEXT: host.call_out "aten.relu.default"(%m) args [unit] to %h : (memref<8xf32>) to memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: }
// CHECK-NEXT: symm.all_reduce_out add %h to %s group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
// CHECK-NEXT: func.return
func.func @inside(%x: memref<8xf32>, %s: memref<8xf32>) {
  %h = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
  %m = host.alloc : memref<8xf32>
  host.call_out "aten.exp.default"(%x) args [unit] to %m : (memref<8xf32>) to memref<8xf32>
  host.partition capture {
    host.call_out "aten.relu.default"(%m) args [unit] to %h : (memref<8xf32>) to memref<8xf32, #symm.space<"tp">>
  }
  symm.all_reduce_out add %h to %s group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  func.return
}
