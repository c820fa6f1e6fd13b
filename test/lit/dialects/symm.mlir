// Collectives and symmetric memory.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

// CHECK: func.func @collectives(%x: memref<8x64xbf16>, %s: memref<8x64xbf16, #symm.space<"tp">>) {
func.func @collectives(%x: memref<8x64xbf16>, %s: memref<8x64xbf16, #symm.space<"tp">>) {
  // CHECK-NEXT: symm.all_reduce add %x group "tp" : memref<8x64xbf16> to memref<8x64xbf16>
  %a = symm.all_reduce add %x group "tp" : memref<8x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: symm.all_reduce add %s group "tp" by one_shot {note = "kept"} : memref<8x64xbf16, #symm.space<"tp">> to memref<8x64xbf16>
  %b = symm.all_reduce add %s group "tp" by one_shot {note = "kept"} : memref<8x64xbf16, #symm.space<"tp">> to memref<8x64xbf16>
  // CHECK-NEXT: symm.all_gather %x group "dp" {note = "kept"} : memref<8x64xbf16> to memref<32x64xbf16>
  %c = symm.all_gather %x group "dp" {note = "kept"} : memref<8x64xbf16> to memref<32x64xbf16>
  // CHECK-NEXT: symm.reduce_scatter %x group "dp" : memref<8x64xbf16> to memref<2x64xbf16>
  %d = symm.reduce_scatter %x group "dp" : memref<8x64xbf16> to memref<2x64xbf16>
  // CHECK-NEXT: symm.all_to_all %x group "dp" : memref<8x64xbf16> to memref<8x64xbf16>
  %e = symm.all_to_all %x group "dp" : memref<8x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: symm.barrier group "tp" {note = "kept"}
  symm.barrier group "tp" {note = "kept"}
  func.return
}

// CHECK: func.func @out_forms
func.func @out_forms(%s: memref<8x64xbf16, #symm.space<"tp">>, %x: memref<8x64xbf16>, %y: memref<2x64xbf16>) {
  // CHECK-NEXT: symm.all_reduce_out add %s to %x group "tp" by one_shot {note = "kept"} : memref<8x64xbf16, #symm.space<"tp">> to memref<8x64xbf16>
  symm.all_reduce_out add %s to %x group "tp" by one_shot {note = "kept"} : memref<8x64xbf16, #symm.space<"tp">> to memref<8x64xbf16>
  // CHECK-NEXT: symm.all_reduce_out add %s to %x group "tp" by two_shot barriers [entry] :
  symm.all_reduce_out add %s to %x group "tp" by two_shot barriers [entry] : memref<8x64xbf16, #symm.space<"tp">> to memref<8x64xbf16>
  // CHECK-NEXT: symm.all_reduce_out add %s to %x group "tp" by multimem barriers [] :
  symm.all_reduce_out add %s to %x group "tp" by multimem barriers [] : memref<8x64xbf16, #symm.space<"tp">> to memref<8x64xbf16>
  // CHECK-NEXT: symm.all_reduce_out max %x to %x group "tp" : memref<8x64xbf16> to memref<8x64xbf16>
  symm.all_reduce_out max %x to %x group "tp" : memref<8x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: symm.all_gather_out %y to %x group "dp" {note = "kept"} : memref<2x64xbf16> to memref<8x64xbf16>
  symm.all_gather_out %y to %x group "dp" {note = "kept"} : memref<2x64xbf16> to memref<8x64xbf16>
  // CHECK-NEXT: symm.reduce_scatter_out %x to %y group "dp" : memref<8x64xbf16> to memref<2x64xbf16>
  symm.reduce_scatter_out %x to %y group "dp" : memref<8x64xbf16> to memref<2x64xbf16>
  // CHECK-NEXT: symm.all_to_all_out %x to %x group "dp" : memref<8x64xbf16> to memref<8x64xbf16>
  symm.all_to_all_out %x to %x group "dp" : memref<8x64xbf16> to memref<8x64xbf16>
  func.return
}

// CHECK: func.func @point_to_point
func.func @point_to_point(%s: memref<8x64xbf16, #symm.space<"tp">>, %rank: i32) {
  // CHECK-NEXT: symm.signal %s to %rank channel 0 : i32 {note = "kept"} : memref<8x64xbf16, #symm.space<"tp">>, i32
  symm.signal %s to %rank channel 0 : i32 {note = "kept"} : memref<8x64xbf16, #symm.space<"tp">>, i32
  // CHECK-NEXT: symm.wait %s from %rank channel 1 : i32 : memref<8x64xbf16, #symm.space<"tp">>, i32
  symm.wait %s from %rank channel 1 : i32 : memref<8x64xbf16, #symm.space<"tp">>, i32
  func.return
}

// CHECK: func.func @copies_of_arrays
func.func @copies_of_arrays(%x: memref<4x8xf32>, %y: memref<8xf32>, %n: index) {
  // CHECK-NEXT: symm.barrier group "tp" with(%n, %n) {note = "kept"}
  symm.barrier group "tp" with(%n, %n) {note = "kept"}
  // CHECK-NEXT: symm.remote_copy %x[%n, :] to %y[:] on %n group "tp" {note = "kept"} : memref<4x8xf32>, memref<8xf32>
  %t = symm.remote_copy %x[%n, :] to %y[:] on %n group "tp" {note = "kept"} : memref<4x8xf32>, memref<8xf32>
  func.return
}

// CHECK: func.func @remote_copies
func.func @remote_copies() {
  // CHECK-NEXT: %me = symm.rank group "tp" {note = "kept"}
  %me = symm.rank group "tp" {note = "kept"}
  // CHECK-NEXT: symm.barrier group "tp" ranks 4 : i32
  symm.barrier group "tp" ranks 4 : i32
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %b = pallas.scratch : !tile.ref<2 x 8 x 128 x f32, vmem>
  %sent = pallas.scratch : !tile.ref<1 x i32, semaphore>
  %received = pallas.scratch : !tile.ref<2 x i32, semaphore>
  %free = pallas.scratch : !tile.ref<1 x i32, counter>
  // CHECK: %t = symm.remote_copy %a[:, :] to %b[1, :, :] on %me signal %sent[0], %received[1] group "tp" {note = "kept"} : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>, !tile.ref<2 x i32, semaphore>
  %t = symm.remote_copy %a[:, :] to %b[1, :, :] on %me signal %sent[0], %received[1] group "tp" {note = "kept"} : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<2 x 8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>, !tile.ref<2 x i32, semaphore>
  // CHECK-NEXT: symm.remote_copy_start %t {note = "kept"}
  symm.remote_copy_start %t {note = "kept"}
  // CHECK-NEXT: symm.remote_copy_wait send %t {note = "kept"}
  symm.remote_copy_wait send %t {note = "kept"}
  // CHECK-NEXT: symm.remote_copy_wait receive %t
  symm.remote_copy_wait receive %t
  // CHECK-NEXT: symm.signal %free to %me channel 0 : i32 group "tp" : !tile.ref<1 x i32, counter>, index
  symm.signal %free to %me channel 0 : i32 group "tp" : !tile.ref<1 x i32, counter>, index
  // CHECK-NEXT: symm.wait %free from %me channel 0 : i32 group "tp" {note = "kept"} : !tile.ref<1 x i32, counter>, index
  symm.wait %free from %me channel 0 : i32 group "tp" {note = "kept"} : !tile.ref<1 x i32, counter>, index
  func.return
}
