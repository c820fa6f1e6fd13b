// RUN: kopt %s --split-input-file --verify-diagnostics --remarks -p host-partition,verify-symm | filecheck %s

// What is captured, what ends a run, and what is static: symmetric buffers, and what a partition passed on.
// CHECK-LABEL: func.func @runs
func.func @runs(%x: memref<8xf32>) -> memref<8xf32> {
  // CHECK-NEXT: %h = host.alloc persistent "f.0"
  // CHECK-NEXT: %g = host.alloc persistent "f.1"
  %h = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
  %g = host.alloc persistent "f.1" : memref<8xf32, #symm.space<"tp">>
  // CHECK-NEXT: %s = host.partition capture static (%h : memref<8xf32, #symm.space<"tp">>) -> memref<8xf32> {
  // CHECK-NEXT: host.call_out "aten.exp.default"(%x) args [unit] to %h
  // CHECK-NEXT: %s_1 = host.alloc
  // CHECK-NEXT: symm.all_reduce_out add %h to %s_1
  // CHECK-NEXT: host.yield %s_1 : memref<8xf32>
  // CHECK-NEXT: }
  host.call_out "aten.exp.default"(%x) args [unit] to %h : (memref<8xf32>) to memref<8xf32, #symm.space<"tp">>
  %s = host.alloc : memref<8xf32>
  symm.all_reduce_out add %h to %s group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  // CHECK-NEXT: host.copy %x to %g
  // expected-remark @+1 {{'host.copy' cannot be captured: it ends a partition}}
  host.copy %x to %g : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  // CHECK-NEXT: host.partition capture static (%s : memref<8xf32>, %g : memref<8xf32, #symm.space<"tp">>) {
  // CHECK-NEXT: tile.grid
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %s[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  // CHECK: symm.all_reduce_out add %g to %s
  symm.all_reduce_out add %g to %s group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %o = host.call
  // CHECK-NEXT: %w = host.alloc
  // CHECK-NEXT: symm.all_gather_out
  // expected-remark @+1 {{'host.call' cannot be captured}}
  %o = host.call "aten.tril.default"(%s) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  %w = host.alloc : memref<16xf32>
  symm.all_gather_out %o to %w group "tp" : memref<8xf32> to memref<16xf32>
  // CHECK-NEXT: %s_copy = host.alloc : memref<8xf32>
  // CHECK-NEXT: host.copy %s to %s_copy
  // CHECK-NEXT: func.return %s_copy
  // expected-remark @+1 {{'s' is copied before it is returned: its memory is a captured partition's}}
  func.return %s : memref<8xf32>
}
