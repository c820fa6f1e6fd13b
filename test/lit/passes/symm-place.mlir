// RUN: kopt %s --split-input-file --verify-diagnostics --remarks -p symm-place,verify-symm | filecheck %s

// A call that can write a given array writes one in symmetric memory; functional collectives read it as well.
// CHECK-LABEL: func.func @producer
func.func @producer(%x: memref<8x4xf32>, %w: memref<4x64xf32>) -> memref<8x64xf32> {
  // expected-remark @+1 {{'h' is allocated in the symmetric memory of group "tp"}}
  %h = host.call "aten.mm.default"(%x, %w) args [unit, unit] {note = "kept"} : (memref<8x4xf32>, memref<4x64xf32>) -> (memref<8x64xf32>)
  %s = symm.all_reduce add %h group "tp" by one_shot : memref<8x64xf32> to memref<8x64xf32>
  func.return %s : memref<8x64xf32>
}
// CHECK-NEXT: %h = host.alloc persistent "producer.0" : memref<8x64xf32, #symm.space<"tp">>
// CHECK-NEXT: host.call_out "aten.mm.default"(%x, %w) args [unit, unit] to %h {note = "kept"} : (memref<8x4xf32>, memref<4x64xf32>) to memref<8x64xf32, #symm.space<"tp">>
// CHECK-NEXT: symm.all_reduce add %h group "tp" by one_shot : memref<8x64xf32, #symm.space<"tp">> to memref<8x64xf32>

// -----

// A kernel's allocation, through a view; the fill stays where it was; what is returned is a copy, as it was viewed.
// CHECK-LABEL: func.func @kernel
func.func @kernel(%x: memref<64xf32>, %s: memref<8x8xf32>) -> (memref<64xf32>, memref<8x8xf32, strided<[1, 8]>>) {
  // expected-remark @+1 {{'h' is allocated in the symmetric memory of group "tp"}}
  %h = host.alloc fill 0.0 : memref<64xf32>
  %v = host.reshape %h : memref<64xf32> to memref<8x8xf32>
  %t = host.permute %v [1, 0] : memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
  tile.grid (%i: b0=16) in (64) {
    %a = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=16 x f32>
    tile.store %a, %h[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  symm.all_reduce_out add %v to %s group "tp" by one_shot : memref<8x8xf32> to memref<8x8xf32>
  // expected-remark @+1 {{'h' is copied before it is returned: its memory is symmetric}}
  func.return %h, %t : memref<64xf32>, memref<8x8xf32, strided<[1, 8]>>
}
// CHECK-NEXT: %h = host.alloc persistent "kernel.0" : memref<64xf32, #symm.space<"tp">>
// CHECK-NEXT: %h_1 = host.reuse %h fill 0.0 : memref<64xf32, #symm.space<"tp">>
// CHECK-NEXT: %v = host.reshape %h_1 : memref<64xf32, #symm.space<"tp">> to memref<8x8xf32, #symm.space<"tp">>
// CHECK: tile.store %a, %h_1[%i] : !tile.tile<b0=16 x f32>, memref<64xf32, #symm.space<"tp">>
// CHECK: symm.all_reduce_out add %v to %s
// CHECK-NEXT: %h_copy = host.alloc : memref<64xf32>
// CHECK-NEXT: host.copy %h_1 to %h_copy
// CHECK-NEXT: %v_1 = host.reshape %h_copy : memref<64xf32> to memref<8x8xf32>
// CHECK-NEXT: %t_1 = host.permute %v_1 [1, 0] : memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
// CHECK-NEXT: func.return %h_copy, %t_1

// -----

// An argument is copied, once for as long as neither it nor the copy is written.
// CHECK-LABEL: func.func @argument
func.func @argument(%x: memref<8xf32>, %s: memref<8xf32>) {
  // expected-remark @+1 {{'x' is copied to the symmetric memory of group "tp": the caller allocated it}}
  %a = symm.all_reduce add %x group "tp" by one_shot : memref<8xf32> to memref<8xf32>
  %b = symm.all_reduce add %x group "tp" by one_shot : memref<8xf32> to memref<8xf32>
  host.copy %a to %x : memref<8xf32>, memref<8xf32>
  // expected-remark @+1 {{'x' is copied to the symmetric memory of group "tp": the caller allocated it}}
  %c = symm.all_reduce add %x group "tp" by one_shot : memref<8xf32> to memref<8xf32>
  func.return
}
// CHECK-NEXT: %x_tp = host.alloc persistent "argument.0" : memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: %x_tp_1 = host.alloc persistent "argument.1" : memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: host.copy %x to %x_tp : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: symm.all_reduce add %x_tp
// CHECK-NEXT: symm.all_reduce add %x_tp group
// CHECK-NEXT: host.copy %a to %x
// CHECK-NEXT: host.copy %x to %x_tp_1
// CHECK-NEXT: symm.all_reduce add %x_tp_1 group

// -----

// Opaque calls allocate; of two groups, the first has the array and the second a copy; views with gaps are copied.
// CHECK-LABEL: func.func @copies
func.func @copies(%x: memref<8x8xf32>) -> memref<8x8xf32> {
  %o = host.call "aten.tril.default"(%x) args [unit] : (memref<8x8xf32>) -> (memref<8x8xf32>)
  // expected-remark @+1 {{'o' is copied to the symmetric memory of group "tp": what makes it allocates it}}
  %a = symm.all_reduce add %o group "tp" by one_shot : memref<8x8xf32> to memref<8x8xf32>
  // expected-remark @+1 {{'e' is allocated in the symmetric memory of group "tp"}}
  %e = host.call "aten.exp.default"(%a) args [unit] : (memref<8x8xf32>) -> (memref<8x8xf32>)
  %b = symm.all_reduce add %e group "tp" by one_shot : memref<8x8xf32> to memref<8x8xf32>
  // expected-remark @+1 {{'e' is copied to the symmetric memory of group "dp": it is in the symmetric memory of group "tp"}}
  %c = symm.all_reduce add %e group "dp" by one_shot : memref<8x8xf32> to memref<8x8xf32>
  %f = host.slice %e [0, 0] [8, 4] [1, 1] : memref<8x8xf32> to memref<8x4xf32, strided<[8, 1]>>
  // expected-remark @+1 {{'e' is copied to the symmetric memory of group "tp": its elements do not lie one after the other}}
  %d = symm.all_reduce add %f group "tp" by one_shot : memref<8x4xf32, strided<[8, 1]>> to memref<8x4xf32>
  %g = host.slice %e [4, 0] [4, 8] [1, 1] : memref<8x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 32>>
  %h = symm.all_reduce add %g group "tp" by one_shot : memref<4x8xf32, strided<[8, 1], offset: 32>> to memref<4x8xf32>
  func.return %c : memref<8x8xf32>
}
// CHECK: host.copy %o to %o_tp : memref<8x8xf32>, memref<8x8xf32, #symm.space<"tp">>
// CHECK-NEXT: symm.all_reduce add %o_tp group "tp"
// CHECK-NEXT: host.call_out "aten.exp.default"(%a) args [unit] to %e
// CHECK-NEXT: symm.all_reduce add %e group "tp"
// CHECK-NEXT: host.copy %e to %e_dp : memref<8x8xf32, #symm.space<"tp">>, memref<8x8xf32, #symm.space<"dp">>
// CHECK-NEXT: symm.all_reduce add %e_dp group "dp"
// CHECK-NEXT: %f = host.slice %e [0, 0] [8, 4] [1, 1] : memref<8x8xf32, #symm.space<"tp">> to memref<8x4xf32, strided<[8, 1]>, #symm.space<"tp">>
// CHECK-NEXT: host.copy %f to %e_tp : memref<8x4xf32, strided<[8, 1]>, #symm.space<"tp">>, memref<8x4xf32, #symm.space<"tp">>
// CHECK-NEXT: symm.all_reduce add %e_tp group "tp"
// CHECK-NEXT: %g = host.slice %e
// CHECK-NEXT: symm.all_reduce add %g group "tp"

// -----

// A two-shot reduction overwrites its input: a copy of it, where it is read after.
// CHECK-LABEL: func.func @overwritten
func.func @overwritten(%x: memref<8xf32>) -> memref<8xf32> {
  %e = host.call "aten.exp.default"(%x) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  // expected-remark @+1 {{'e' is copied to the symmetric memory of group "tp": it is read after a two-shot reduction overwrites it}}
  %a = symm.all_reduce add %e group "tp" by two_shot : memref<8xf32> to memref<8xf32>
  // expected-remark @+1 {{'f' is allocated in the symmetric memory of group "tp"}}
  %f = host.call "aten.add.Tensor"(%e, %a) args [unit, unit] : (memref<8xf32>, memref<8xf32>) -> (memref<8xf32>)
  %b = symm.all_reduce add %f group "tp" by two_shot : memref<8xf32> to memref<8xf32>
  func.return %b : memref<8xf32>
}
// CHECK: host.copy %e to %e_tp
// CHECK-NEXT: symm.all_reduce add %e_tp group "tp" by two_shot
// CHECK-NEXT: host.call_out "aten.add.Tensor"(%e, %a)

// -----

// Neither may it overwrite the caller's array, wherever that is.
// CHECK-LABEL: func.func @kept
func.func @kept(%x: memref<8xf32, #symm.space<"tp">>) -> memref<8xf32> {
  // expected-remark @+1 {{'x' is copied to the symmetric memory of group "tp": the caller keeps what a two-shot reduction would overwrite}}
  %a = symm.all_reduce add %x group "tp" by two_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  func.return %a : memref<8xf32>
}
// CHECK: host.copy %x to %x_tp

// -----

// Without an algorithm a library moves the data, from anywhere.
// CHECK-LABEL: func.func @library
// CHECK-NEXT: symm.all_reduce add %x group "tp" : memref<8xf32> to memref<8xf32>
func.func @library(%x: memref<8xf32>) {
  %a = symm.all_reduce add %x group "tp" : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @dynamic(%x: memref<?x64xf32>) {
  // expected-note @+2 {{give the sizes as numbers, one program for each}}
  // expected-error @+1 {{symmetric memory needs a static shape, found memref<?x64xf32>: all ranks address it alike}}
  %a = symm.all_reduce add %x group "tp" by one_shot : memref<?x64xf32> to memref<?x64xf32>
  func.return
}

// -----

// An array without a name.
// CHECK-LABEL: func.func @nameless
func.func @nameless(%0: memref<8xf32>) -> memref<8xf32> {
  // expected-remark @+1 {{an array is copied to the symmetric memory of group "tp": the caller allocated it}}
  %a = symm.all_reduce add %0 group "tp" by one_shot : memref<8xf32> to memref<8xf32>
  func.return %a : memref<8xf32>
}
// CHECK: host.copy %{{.+}} to %array_tp :

// -----

// What a partition hands out of it, what a launch calls it, and its version behind a launch are in its memory.
// CHECK-LABEL: func.func @handed
// CHECK-NEXT: %h = host.alloc persistent "handed.0" : memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: %p = host.partition capture -> memref<8xf32, #symm.space<"tp">> {
// CHECK-NEXT: host.call_out "aten.exp.default"(%x) args [unit] to %h : (memref<8xf32>) to memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: host.yield %h : memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: }
// CHECK-NEXT: symm.all_reduce_out add %p to %s group "tp" by one_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
// CHECK-NEXT: %a = host.launch @copy (%from = %h, %to = %t) writes [1] : (memref<8xf32, #symm.space<"tp">>, memref<8xf32>) -> memref<8xf32> {
// CHECK-NEXT: tile.grid (%i: b0=8) in (8) {
// CHECK-NEXT: %v = tile.load %from[%i] : memref<8xf32, #symm.space<"tp">> -> !tile.tile<b0=8 x f32>
// CHECK-NEXT: tile.store %v, %to[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: %b = host.launch @back (%from = %t, %to = %h) writes [1] : (memref<8xf32>, memref<8xf32, #symm.space<"tp">>) -> memref<8xf32, #symm.space<"tp">> {
// CHECK-NEXT: tile.grid (%i: b1=8) in (8) {
// CHECK-NEXT: %v = tile.load %from[%i] : memref<8xf32> -> !tile.tile<b1=8 x f32>
// CHECK-NEXT: tile.store %v, %to[%i] : !tile.tile<b1=8 x f32>, memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: host.copy %b to %s : memref<8xf32, #symm.space<"tp">>, memref<8xf32>
// CHECK-NEXT: func.return %a : memref<8xf32>
func.func @handed(%x: memref<8xf32>, %s: memref<8xf32>, %t: memref<8xf32>) -> memref<8xf32> {
  // expected-remark @+1 {{'h' is allocated in the symmetric memory of group "tp"}}
  %h = host.alloc : memref<8xf32>
  %p = host.partition capture -> memref<8xf32> {
    host.call_out "aten.exp.default"(%x) args [unit] to %h : (memref<8xf32>) to memref<8xf32>
    host.yield %h : memref<8xf32>
  }
  symm.all_reduce_out add %p to %s group "tp" by one_shot : memref<8xf32> to memref<8xf32>
  %a = host.launch @copy (%from = %h, %to = %t) writes [1] : (memref<8xf32>, memref<8xf32>) -> memref<8xf32> {
    tile.grid (%i: b0=8) in (8) {
      %v = tile.load %from[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
      tile.store %v, %to[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
    }
  }
  %b = host.launch @back (%from = %t, %to = %h) writes [1] : (memref<8xf32>, memref<8xf32>) -> memref<8xf32> {
    tile.grid (%i: b1=8) in (8) {
      %v = tile.load %from[%i] : memref<8xf32> -> !tile.tile<b1=8 x f32>
      tile.store %v, %to[%i] : !tile.tile<b1=8 x f32>, memref<8xf32>
    }
  }
  host.copy %b to %s : memref<8xf32>, memref<8xf32>
  func.return %a : memref<8xf32>
}

// -----

// What a collective overwrites, and a kernel behind it reads, is a copy; what a kernel before it wrote is not.
// CHECK-LABEL: func.func @read_behind
// CHECK-NEXT: %a = host.alloc persistent "read_behind.0" : memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: %b_tp = host.alloc persistent "read_behind.1" : memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: %b = host.alloc : memref<8xf32>
// CHECK-NEXT: tile.grid (%i: b0=8) in (8) {
// CHECK-NEXT: %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
// CHECK-NEXT: tile.store %v, %a[%i] : !tile.tile<b0=8 x f32>, memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: tile.store %v, %b[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: symm.all_reduce_out add %a to %s group "tp" by two_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
// CHECK-NEXT: host.copy %b to %b_tp : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
// CHECK-NEXT: symm.all_reduce_out add %b_tp to %t group "tp" by two_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
// CHECK-NEXT: tile.grid (%j: b1=8) in (8) {
// CHECK-NEXT: %v_1 = tile.load %b[%j] : memref<8xf32> -> !tile.tile<b1=8 x f32>
// CHECK-NEXT: tile.store %v_1, %x[%j] : !tile.tile<b1=8 x f32>, memref<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @read_behind(%x: memref<8xf32>, %s: memref<8xf32>, %t: memref<8xf32>) {
  // expected-remark @+1 {{'a' is allocated in the symmetric memory of group "tp"}}
  %a = host.alloc : memref<8xf32>
  %b = host.alloc : memref<8xf32>
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %a[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
    tile.store %v, %b[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
  }
  symm.all_reduce_out add %a to %s group "tp" by two_shot : memref<8xf32> to memref<8xf32>
  // expected-remark @+1 {{'b' is copied to the symmetric memory of group "tp": it is read after a two-shot reduction overwrites it}}
  symm.all_reduce_out add %b to %t group "tp" by two_shot : memref<8xf32> to memref<8xf32>
  tile.grid (%j: b1=8) in (8) {
    %v = tile.load %b[%j] : memref<8xf32> -> !tile.tile<b1=8 x f32>
    tile.store %v, %x[%j] : !tile.tile<b1=8 x f32>, memref<8xf32>
  }
  func.return
}
