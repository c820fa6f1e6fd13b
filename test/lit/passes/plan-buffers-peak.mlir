// RUN: kopt %s --split-input-file --remarks -p plan-buffers 2>&1 | filecheck %s

// The most that is allocated at once: what was freed counts no more, nor does memory that another array takes over.
// CHECK: remark: peak memory 80 bytes: 80 of the device's own; 0 of 3 arrays reuse memory
// CHECK: remark: peak memory 64 bytes: 64 of the device's own; 1 of 3 arrays reuse memory

// CHECK: func.func @other_types
func.func @other_types(%x: memref<8xf32>, %y: memref<16xf32>, %z: memref<4xf32>) -> memref<4xf32> {
  %a = host.alloc : memref<8xf32>
  host.copy %x to %a : memref<8xf32>, memref<8xf32>
  // CHECK: host.copy %a to %x
  // CHECK-NEXT: host.free %a : memref<8xf32>
  host.copy %a to %x : memref<8xf32>, memref<8xf32>
  %b = host.alloc : memref<16xf32>
  host.copy %y to %b : memref<16xf32>, memref<16xf32>
  %c = host.alloc : memref<4xf32>
  host.copy %z to %c : memref<4xf32>, memref<4xf32>
  // CHECK: host.copy %b to %y
  // CHECK-NEXT: host.free %b : memref<16xf32>
  host.copy %b to %y : memref<16xf32>, memref<16xf32>
  func.return %c : memref<4xf32>
}

// -----

func.func @one_type(%x: memref<8xf32>) -> memref<8xf32> {
  %a = host.alloc : memref<8xf32>
  %b = host.alloc : memref<8xf32>
  %c = host.alloc : memref<8xf32>
  host.copy %x to %a : memref<8xf32>, memref<8xf32>
  host.copy %a to %b : memref<8xf32>, memref<8xf32>
  host.copy %b to %c : memref<8xf32>, memref<8xf32>
  func.return %c : memref<8xf32>
}
