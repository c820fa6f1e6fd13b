// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(verify-host{family=triton})' | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics -t triton-py

// Around a kernel there are no collectives.
// CHECK-LABEL: func.func @fine
// CHECK: host.call "aten.exp.default"
func.func @fine(%x: memref<8xf32>) -> memref<8xf32> {
  %a = host.call "aten.exp.default"(%x) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  func.return %a : memref<8xf32>
}

// -----

func.func @collective(%x: memref<2xf32>) -> memref<8xf32> {
  // expected-error @+1 {{'symm.all_gather' has no torch form}}
  %a = symm.all_gather %x group "tp" : memref<2xf32> to memref<8xf32>
  func.return %a : memref<8xf32>
}

// -----

func.func @alloc() -> memref<8xi7> {
  // expected-error @+1 {{torch has no element type i7}}
  %a = host.alloc : memref<8xi7>
  func.return %a : memref<8xi7>
}

// -----

func.func @extent(%x: memref<?xf32>) -> memref<?xf32> {
  // expected-note @+2 {{name them as those of arguments}}
  // expected-error @+1 {{no argument has the extent 'elsewhere' of 'host.alloc'}}
  %a = host.alloc {tile.extents = ["elsewhere"]} : memref<?xf32>
  func.return %a : memref<?xf32>
}
