// What collectives refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @kind(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_reduce knows add, max, min, avg, found 'mean'}}
  %a = symm.all_reduce mean %x group "tp" : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @algorithm(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_reduce goes by one_shot, two_shot, multimem, found 'ring'}}
  %a = symm.all_reduce add %x group "tp" by ring : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @shape(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_reduce keeps the shape, found [8] and [16]}}
  %a = symm.all_reduce add %x group "tp" : memref<8xf32> to memref<16xf32>
  func.return
}

// -----

func.func @parts(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_gather joins parts along dimension 0, found [8] and [12]}}
  %a = symm.all_gather %x group "tp" : memref<8xf32> to memref<12xf32>
  func.return
}

// -----

func.func @element(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.reduce_scatter keeps the element type, found memref<8xf32> to memref<4xf16>}}
  %a = symm.reduce_scatter %x group "tp" : memref<8xf32> to memref<4xf16>
  func.return
}

// -----

func.func @other_group(%x: memref<8xf32, #symm.space<"dp">>) {
  // expected-error @+1 {{symm.all_to_all in group "tp" takes a buffer of another group, #symm.space<"dp">}}
  %a = symm.all_to_all %x group "tp" : memref<8xf32, #symm.space<"dp">> to memref<8xf32>
  func.return
}

// -----

func.func @nameless(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_to_all needs the name of its group}}
  %a = symm.all_to_all %x group "" : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

// expected-error @+1 {{a group needs a name}}
func.func private @space(memref<8xf32, #symm.space<"">>)

// -----

func.func @algorithm_kind(%x: memref<8xf32>) {
  // expected-error @+1 {{symm.all_reduce by one_shot combines by add only, found 'max'}}
  %a = symm.all_reduce max %x group "tp" by one_shot : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @algorithm_element(%x: memref<8xf16>, %y: memref<8xf16>) {
  // expected-error @+1 {{symm.all_reduce_out by multimem combines f32 or bf16, found f16}}
  symm.all_reduce_out add %x to %y group "tp" by multimem : memref<8xf16> to memref<8xf16>
  func.return
}

// -----

func.func @algorithm_words(%x: memref<7xbf16>) {
  // expected-error @+1 {{symm.all_reduce by two_shot moves words of 4 bytes, found 14 bytes in memref<7xbf16>}}
  %a = symm.all_reduce add %x group "tp" by two_shot : memref<7xbf16> to memref<7xbf16>
  func.return
}

// -----

func.func @barriers(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{symm.all_reduce_out waits at entry and exit, found ['middle']}}
  symm.all_reduce_out add %x to %y group "tp" by one_shot barriers [middle] : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @out_parts(%x: memref<8xf32>, %y: memref<12xf32>) {
  // expected-error @+1 {{symm.all_gather_out joins parts along dimension 0, found [8] and [12]}}
  symm.all_gather_out %x to %y group "tp" : memref<8xf32> to memref<12xf32>
  func.return
}

// -----

func.func @signal(%x: memref<8xf32>, %rank: i32) {
  // expected-error @+1 {{symm.signal goes beside a buffer in symmetric memory, found memref<8xf32>}}
  symm.signal %x to %rank channel 0 : i32 : memref<8xf32>, i32
  func.return
}

// -----

func.func @channel(%x: memref<8xf32, #symm.space<"tp">>, %rank: i32) {
  // expected-error @+1 {{symm.wait has channels from 0 on, found -1}}
  symm.wait %x from %rank channel -1 : i32 : memref<8xf32, #symm.space<"tp">>, i32
  func.return
}

// -----

func.func @ends(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  %t = symm.remote_copy %a[:, :] to %a[:, :] on %rank signal %s[0], %s[0] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>, !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{symm.remote_copy_wait waits for send or receive, found 'both'}}
  symm.remote_copy_wait both %t
  func.return
}

// -----

func.func @copy_shapes(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{symm.remote_copy copies blocks of one shape, found !tile.tile<8 x 128 x f32> to !tile.tile<4 x 128 x f32>}}
  %t = symm.remote_copy %a[:, :] to %a[0:4, :] on %rank signal %s[0], %s[0] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>, !tile.ref<1 x i32, semaphore>
  func.return
}

// -----

func.func @copy_spaces(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{symm.remote_copy copies between memories and signals semaphores, found !tile.ref<8 x 128 x f32, vmem>}}
  %t = symm.remote_copy %a[:, :] to %a[:, :] on %rank signal %a[0, 0], %s[0] group "tp" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>
  func.return
}

// -----

func.func @copy_group(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{symm.remote_copy needs the name of its group}}
  %t = symm.remote_copy %a[:, :] to %a[:, :] on %rank signal %s[0], %s[0] group "" : !tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>, !tile.ref<1 x i32, semaphore>
  func.return
}

// -----

func.func @counters(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{symm.signal counts in a list of counters, found !tile.ref<1 x i32, semaphore>}}
  symm.signal %s to %rank channel 0 : i32 group "tp" : !tile.ref<1 x i32, semaphore>, index
  func.return
}

// -----

func.func @counters_group(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  %c = pallas.scratch : !tile.ref<1 x i32, counter>
  // expected-error @+1 {{symm.wait of a kernel needs the name of its group}}
  symm.wait %c from %rank channel 0 : i32 : !tile.ref<1 x i32, counter>, index
  func.return
}

// -----

func.func @counters_channel(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  %c = pallas.scratch : !tile.ref<1 x i32, counter>
  // expected-error @+1 {{symm.wait has channel 1 of 1}}
  symm.wait %c from %rank channel 1 : i32 group "tp" : !tile.ref<1 x i32, counter>, index
  func.return
}

// -----

func.func @barrier_ranks() {
  // expected-error @+1 {{symm.barrier is of one rank or more, found 0}}
  symm.barrier group "tp" ranks 0 : i32
  func.return
}

// -----

func.func @own_group(%x: memref<8xf32, #symm.space<"tp">>, %rank: i32) {
  // expected-error @+1 {{symm.signal is in its buffer's group, found "dp"}}
  symm.signal %x to %rank channel 0 : i32 group "dp" : memref<8xf32, #symm.space<"tp">>, i32
  func.return
}

// -----

func.func @barrier_of_both(%n: index) {
  // expected-error @+1 {{symm.barrier is of all ranks or with some, not both}}
  symm.barrier group "tp" ranks 2 : i32 with (%n)
  func.return
}

// -----

func.func @sent_alone(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{symm.remote_copy signals two semaphores, or none}}
  %t = "symm.remote_copy"(%a, %a, %s, %rank) <{source_layout = [#tile.all, #tile.all], target_layout = [#tile.all, #tile.all], sent_layout = [#builtin.int<0>], group = "tp", operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0, 0>}> : (!tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>, index) -> !symm.transfer
  func.return
}

// -----

func.func @received_alone(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{symm.remote_copy signals two semaphores, or none}}
  %t = "symm.remote_copy"(%a, %a, %s, %rank) <{source_layout = [#tile.all, #tile.all], target_layout = [#tile.all, #tile.all], received_layout = [#builtin.int<0>], group = "tp", operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 0, 0, 0, 0>}> : (!tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>, index) -> !symm.transfer
  func.return
}

// -----

func.func @unlisted(%rank: index) {
  %a = pallas.scratch : !tile.ref<8 x 128 x f32, vmem>
  %s = pallas.scratch : !tile.ref<1 x i32, semaphore>
  // expected-error @+1 {{symm.remote_copy needs the index list of a semaphore that it signals, and of no other}}
  %t = "symm.remote_copy"(%a, %a, %s, %s, %rank) <{source_layout = [#tile.all, #tile.all], target_layout = [#tile.all, #tile.all], sent_layout = [#builtin.int<0>], group = "tp", operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0>}> : (!tile.ref<8 x 128 x f32, vmem>, !tile.ref<8 x 128 x f32, vmem>, !tile.ref<1 x i32, semaphore>, !tile.ref<1 x i32, semaphore>, index) -> !symm.transfer
  func.return
}
