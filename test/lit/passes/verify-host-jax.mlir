// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(verify-host{family=jax})' | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics -t jax-py

// CHECK-LABEL: func.func @fine
// CHECK: symm.all_gather
func.func @fine(%x: memref<2xf32>) -> memref<8xf32> {
  symm.barrier group "tp"
  %s = symm.all_reduce avg %x group "tp" : memref<2xf32> to memref<2xf32>
  %a = symm.all_gather %s group "tp" : memref<2xf32> to memref<8xf32>
  func.return %a : memref<8xf32>
}

// -----

func.func @given(%x: memref<8xf32>, %r: memref<8xf32>) {
  // expected-note @+2 {{lower the program as it was before symm-to-dps}}
  // expected-error @+1 {{'symm.all_reduce_out' writes an array that is given, and JAX has none to give: it plans the memory itself}}
  symm.all_reduce_out add %x to %r group "tp" : memref<8xf32> to memref<8xf32>
  func.return
}

// -----

func.func @given_parts(%x: memref<2xf32>, %r: memref<8xf32>) {
  // expected-note @+2 {{lower the program as it was before symm-to-dps}}
  // expected-error @+1 {{'symm.all_gather_out' writes an array that is given, and JAX has none to give: it plans the memory itself}}
  symm.all_gather_out %x to %r group "tp" : memref<2xf32> to memref<8xf32>
  func.return
}

// -----

func.func @average(%x: memref<8xi32>) -> memref<8xi32> {
  // expected-error @+1 {{JAX's average of memref<8xi32> is no integer}}
  %a = symm.all_reduce avg %x group "tp" : memref<8xi32> to memref<8xi32>
  func.return %a : memref<8xi32>
}

// -----

func.func @signal(%x: memref<8xf32, #symm.space<"tp">>, %one: i32) {
  // expected-error @+1 {{'symm.signal' has no spelling on the host of a Pallas kernel}}
  symm.signal %x to %one channel 0 : i32 : memref<8xf32, #symm.space<"tp">>, i32
  func.return
}

// -----

func.func @ranks(%x: memref<2xf32>) -> memref<4xf32> {
  %a = symm.all_gather %x group "tp" : memref<2xf32> to memref<8xf32>
  // expected-error @+1 {{symm.reduce_scatter is of 2 ranks of group "tp", others of 4}}
  %b = symm.reduce_scatter %a group "tp" : memref<8xf32> to memref<4xf32>
  func.return %b : memref<4xf32>
}
