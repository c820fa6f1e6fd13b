// RUN: kopt %s --split-input-file --remarks -p plan-buffers,verify-symm 2>&1 | filecheck %s

// CHECK: remark: peak memory 96 bytes: 96 of the device's own; 2 of 5 arrays reuse memory
// CHECK: remark: peak memory 96 bytes: 32 of the device's own, 64 of group "tp"; 1 of 4 arrays reuse memory

// One type, lives that do not overlap; fills are kept; what is returned is not freed.
// CHECK: func.func @shared
func.func @shared(%x: memref<8xf32>) -> memref<8xf32> {
  // CHECK-NEXT: %a = host.alloc : memref<8xf32>
  %a = host.alloc : memref<8xf32>
  // CHECK-NEXT: %b = host.alloc : memref<8xf32>
  %b = host.alloc : memref<8xf32>
  // CHECK-NEXT: %other = host.alloc : memref<2x4xf32>
  %other = host.alloc : memref<2x4xf32>
  %c = host.alloc fill 1.0 : memref<8xf32>
  %d = host.alloc : memref<8xf32>
  // CHECK-NEXT: host.copy %x to %a
  host.copy %x to %a : memref<8xf32>, memref<8xf32>
  // CHECK-NEXT: host.copy %a to %b
  host.copy %a to %b : memref<8xf32>, memref<8xf32>
  // CHECK-NEXT: %c = host.reuse %a fill 1.0 : memref<8xf32>
  // CHECK-NEXT: host.copy %b to %c
  // CHECK-NEXT: host.free %b : memref<8xf32>
  host.copy %b to %c : memref<8xf32>, memref<8xf32>
  // CHECK-NEXT: %v = host.reshape %c
  %v = host.reshape %c : memref<8xf32> to memref<2x4xf32>
  // CHECK-NEXT: host.copy %v to %other
  host.copy %v to %other : memref<2x4xf32>, memref<2x4xf32>
  // CHECK-NEXT: %w = host.reshape %other
  %w = host.reshape %other : memref<2x4xf32> to memref<8xf32>
  // CHECK-NEXT: %d = host.reuse %c : memref<8xf32>
  // CHECK-NEXT: host.copy %w to %d
  host.copy %w to %d : memref<8xf32>, memref<8xf32>
  // CHECK-NEXT: host.free %other : memref<2x4xf32>
  // CHECK-NEXT: func.return %d
  func.return %d : memref<8xf32>
}

// -----

// A pointwise call writes over an input that dies, not over one of another type or one that lives on.
// CHECK: func.func @in_place
func.func @in_place(%x: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
  // CHECK-NEXT: %a = host.alloc
  %a = host.alloc : memref<8xf32>
  %b = host.alloc : memref<8xf32>
  // CHECK-NEXT: %c = host.alloc
  %c = host.alloc : memref<8xf32>
  // CHECK-NEXT: host.copy %x to %a
  host.copy %x to %a : memref<8xf32>, memref<8xf32>
  // CHECK-NEXT: host.call_out "aten.exp.default"(%a) args [unit] to %a
  host.call_out "aten.exp.default"(%a) args [unit] to %b : (memref<8xf32>) to memref<8xf32>
  // CHECK-NEXT: host.call_out "aten.exp.default"(%a) args [unit] to %c
  host.call_out "aten.exp.default"(%b) args [unit] to %c : (memref<8xf32>) to memref<8xf32>
  func.return %b, %c : memref<8xf32>, memref<8xf32>
}

// -----

// An input that is read through another view as well is not written over.
// CHECK: func.func @other_view
func.func @other_view(%x: memref<4x4xf32>) -> memref<4x4xf32> {
  // CHECK-NEXT: %a = host.alloc
  %a = host.alloc : memref<4x4xf32>
  // CHECK-NEXT: %b = host.alloc
  %b = host.alloc : memref<4x4xf32>
  host.copy %x to %a : memref<4x4xf32>, memref<4x4xf32>
  %t = host.permute %a [1, 0] : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  // CHECK: host.call_out "aten.add.Tensor"(%a, %t) args [unit, unit] to %b
  host.call_out "aten.add.Tensor"(%a, %t) args [unit, unit] to %b : (memref<4x4xf32>, memref<4x4xf32, strided<[1, 4]>>) to memref<4x4xf32>
  // CHECK-NEXT: host.free %a
  func.return %b : memref<4x4xf32>
}

// -----

// Symmetric memory is reused after the exit barrier, here a separate one, and apart from other memory of its shape.
// CHECK: func.func @exit_barrier
func.func @exit_barrier(%x: memref<8xf32>) -> memref<8xf32> {
  %a = host.alloc persistent "f.0" : memref<8xf32, #symm.space<"tp">>
  %b = host.alloc persistent "f.1" : memref<8xf32, #symm.space<"tp">>
  %c = host.alloc persistent "f.2" : memref<8xf32, #symm.space<"tp">>
  %r = host.alloc : memref<8xf32>
  host.copy %x to %a : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  symm.all_reduce_out add %a to %r group "tp" by one_shot barriers [entry] : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  // CHECK: barriers [entry]
  // CHECK-NEXT: host.copy %x to %b
  host.copy %x to %b : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  // CHECK-NEXT: symm.barrier group "tp"
  symm.barrier group "tp"
  // CHECK-NEXT: %c = host.reuse %a : memref<8xf32, #symm.space<"tp">>
  // CHECK-NEXT: host.copy %x to %c
  host.copy %x to %c : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  symm.all_reduce_out add %b to %r group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  symm.all_reduce_out add %c to %r group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  // CHECK: func.return %r
  func.return %r : memref<8xf32>
}

// -----

// Each partition has a pool of its own; what it passes on is not planned; what a call allocates is freed only.
// CHECK: func.func @partitions
func.func @partitions(%x: memref<8xf32>) -> memref<8xf32> {
  // CHECK-NEXT: %p = host.partition capture -> memref<8xf32> {
  %p = host.partition capture -> memref<8xf32> {
    // CHECK-NEXT: %a = host.alloc
    // CHECK-NEXT: host.copy %x to %a
    // CHECK-NEXT: host.copy %a to %x
    // CHECK-NEXT: %b = host.reuse %a
    %a = host.alloc : memref<8xf32>
    %b = host.alloc : memref<8xf32>
    host.copy %x to %a : memref<8xf32>, memref<8xf32>
    host.copy %a to %x : memref<8xf32>, memref<8xf32>
    host.copy %x to %b : memref<8xf32>, memref<8xf32>
    host.yield %b : memref<8xf32>
  }
  // CHECK: %c = host.call
  %c = host.call "aten.exp.default"(%p) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  // CHECK-NEXT: host.partition capture {
  host.partition capture {
    // CHECK-NEXT: %d = host.alloc
    %d = host.alloc : memref<8xf32>
    host.copy %c to %d : memref<8xf32>, memref<8xf32>
    host.copy %d to %x : memref<8xf32>, memref<8xf32>
    // CHECK: host.free %d
  }
  // CHECK-NEXT: }
  // CHECK-NEXT: host.free %c
  // CHECK-NEXT: %e = host.alloc
  %e = host.alloc : memref<8xf32>
  host.copy %x to %e : memref<8xf32>, memref<8xf32>
  func.return %e : memref<8xf32>
}

// -----

// What a call has allocated is not written over, though it dies there: it may have other strides than its type says.
// CHECK: func.func @of_a_call
func.func @of_a_call(%x: memref<8xf32>) -> memref<8xf32> {
  // CHECK-NEXT: %a = host.call "aten.exp.default"(%x)
  %a = host.call "aten.exp.default"(%x) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  // CHECK-NEXT: %b = host.alloc
  %b = host.alloc : memref<8xf32>
  // CHECK-NEXT: host.call_out "aten.neg.default"(%a) args [unit] to %b
  host.call_out "aten.neg.default"(%a) args [unit] to %b : (memref<8xf32>) to memref<8xf32>
  // CHECK-NEXT: host.free %a
  // CHECK-NEXT: func.return %b
  func.return %b : memref<8xf32>
}

// -----

// A function that is declared has no arrays.
// CHECK: func.func private @declared(memref<8xf32>)
func.func private @declared(memref<8xf32>) -> ()
