// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(verify-host{family=pallas})' | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics -t pallas-py

// What jnp has stays as it is.
// CHECK-LABEL: func.func @fine
// CHECK: host.call "aten.cat.default"
// CHECK: func.return %p
func.func @fine(%x: memref<8xf32>, %i: memref<4xi64>) -> memref<4xf32> {
  %a = host.alloc fill 0.0 : memref<8xf32>
  %c = host.call "aten.cat.default"(%x, %a) args [[unit, unit]] : (memref<8xf32>, memref<8xf32>) -> (memref<16xf32>)
  %d = host.call "aten.div.Tensor_mode"(%c, %c) args [unit, unit, "floor"] {keywords = ["rounding_mode"]} : (memref<16xf32>, memref<16xf32>) -> (memref<16xf32>)
  %e = host.call "aten.constant_pad_nd.default"(%d) args [unit, [0, 4], 0.0] : (memref<16xf32>) -> (memref<20xf32>)
  %f = host.call "aten.index.Tensor"(%e, %i) args [unit, [unit]] : (memref<20xf32>, memref<4xi64>) -> (memref<4xf32>)
  %p = host.call "aten.index_put.default"(%f, %i, %f) args [unit, [unit], unit] : (memref<4xf32>, memref<4xi64>, memref<4xf32>) -> (memref<4xf32>)
  func.return %p : memref<4xf32>
}

// -----

func.func @op(%x: memref<64xf32>) {
  // expected-error @+1 {{'tile.grid' has no spelling on the host of a Pallas kernel}}
  tile.grid (%i: b0=16) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
    tile.store %z, %x[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}

// -----

func.func @collective(%x: memref<2xf32>) -> memref<8xf32> {
  // expected-error @+1 {{'symm.all_gather' has no spelling on the host of a Pallas kernel}}
  %a = symm.all_gather %x group "tp" : memref<2xf32> to memref<8xf32>
  func.return %a : memref<8xf32>
}

// -----

func.func @alloc() -> memref<8xi7> {
  // expected-error @+1 {{Pallas has no element type for i7}}
  %a = host.alloc : memref<8xi7>
  func.return %a : memref<8xi7>
}

// -----

func.func @element(%x: memref<8xi7>) -> memref<8xi7> {
  // expected-error @+1 {{Pallas has no element type for i7}}
  %a = host.call "aten.neg.default"(%x) args [unit] : (memref<8xi7>) -> (memref<8xi7>)
  func.return %a : memref<8xi7>
}

// -----

func.func @operator(%x: memref<8x8xf32>) -> memref<8x8xf32> {
  // expected-error @+1 {{'aten.renorm.default' of these arguments has no spelling in jnp}}
  %a = host.call "aten.renorm.default"(%x) args [unit, 2, 0, 1.0] : (memref<8x8xf32>) -> (memref<8x8xf32>)
  func.return %a : memref<8x8xf32>
}

// -----

func.func @argument(%x: memref<8xf32>) -> memref<8xf32> {
  // expected-error @+1 {{'aten.exp.default' of these arguments has no spelling in jnp}}
  %a = host.call "aten.exp.default"(%x) args [unit, 1] : (memref<8xf32>) -> (memref<8xf32>)
  func.return %a : memref<8xf32>
}

// -----

func.func @no_indices(%x: memref<8xf32>) -> memref<8xf32> {
  // expected-error @+1 {{'aten.index.Tensor' of these arguments has no spelling in jnp}}
  %a = host.call "aten.index.Tensor"(%x) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  func.return %a : memref<8xf32>
}

// -----

func.func @indices_of_no_list(%x: memref<8xf32>, %i: memref<8xi64>) -> memref<8xf32> {
  // expected-error @+1 {{'aten.index_put.default' of these arguments has no spelling in jnp}}
  %a = host.call "aten.index_put.default"(%x, %i, %x) args [unit, unit, unit] : (memref<8xf32>, memref<8xi64>, memref<8xf32>) -> (memref<8xf32>)
  func.return %a : memref<8xf32>
}

// -----

func.func @no_value(%x: memref<8xf32>, %i: memref<8xi64>) -> memref<8xf32> {
  // expected-error @+1 {{'aten.index_put.default' of these arguments has no spelling in jnp}}
  %a = host.call "aten.index_put.default"(%x, %i) args [unit, [unit]] : (memref<8xf32>, memref<8xi64>) -> (memref<8xf32>)
  func.return %a : memref<8xf32>
}

// -----

func.func @nothing_to_join() -> memref<8xf32> {
  // expected-error @+1 {{'aten.cat.default' of these arguments has no spelling in jnp}}
  %a = host.call "aten.cat.default"() args [] : () -> (memref<8xf32>)
  func.return %a : memref<8xf32>
}

// -----

func.func @no_widths(%x: memref<8xf32>) -> memref<8xf32> {
  // expected-error @+1 {{'aten.constant_pad_nd.default' of these arguments has no spelling in jnp}}
  %a = host.call "aten.constant_pad_nd.default"(%x) args [unit, [1]] : (memref<8xf32>) -> (memref<8xf32>)
  func.return %a : memref<8xf32>
}

// -----

func.func @no_divisor(%x: memref<8xf32>) -> memref<8xf32> {
  // expected-error @+1 {{'aten.fmod.Scalar' of these arguments has no spelling in jnp}}
  %a = host.call "aten.fmod.Scalar"(%x) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
  func.return %a : memref<8xf32>
}

// -----

func.func @no_result(%x: memref<8xf32>) {
  // expected-error @+1 {{'aten.exp.default' of these arguments has no spelling in jnp}}
  host.call "aten.exp.default"(%x) args [unit] : (memref<8xf32>) -> ()
  func.return
}

// -----

func.func @two_results(%x: memref<8xf32>) -> memref<8xf32> {
  // expected-error @+1 {{'aten.cat.default' of these arguments has no spelling in jnp}}
  %a, %b = host.call "aten.cat.default"(%x) args [[unit]] : (memref<8xf32>) -> (memref<8xf32>, memref<8xf32>)
  func.return %b : memref<8xf32>
}

// -----

func.func @unsaid(%x: memref<?xf32>) -> memref<?xf32> {
  // expected-error @+1 {{which extents the results of 'host.call' have is not said}}
  %y = host.call "aten.neg.default"(%x) args [unit] : (memref<?xf32>) -> (memref<?xf32>)
  func.return %y : memref<?xf32>
}

// -----

func.func @extent(%x: memref<?xf32>) -> memref<?xf32> {
  %out = pallas.call @f(%x) windows [<[1024], (d0) -> (d0), vmem>, <[1024], (d0) -> (d0), vmem>] semantics (parallel) aliases [-1] : (memref<?xf32>) -> memref<?xf32> attributes {tile.extents = ["x.size(0)"]} {
  ^bb0(%x_1: !tile.ref<1024 x f32, vmem>, %out_1: !tile.ref<1024 x f32, vmem>):
    // expected-note @+2 {{name them as those of arguments}}
    // expected-error @+1 {{no argument has the extent 'elsewhere' of 'tile.extent'}}
    %n = tile.extent "elsewhere"
    tile.grid (%i: b0=1024) in (%n) {
      %v = tile.get %x_1[:] : !tile.ref<1024 x f32, vmem> -> !tile.tile<b0=1024 x f32>
      tile.put %v, %out_1[:] : !tile.tile<b0=1024 x f32>, !tile.ref<1024 x f32, vmem>
    }
  }
  func.return %out : memref<?xf32>
}
