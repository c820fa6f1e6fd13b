// RUN: kopt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(verify-host{family=torch})' | filecheck %s
// RUN: kopt %s --split-input-file --verify-diagnostics -t torch-py

// What torch has stays as it is, in captured runs too.
// CHECK-LABEL: func.func @fine
// CHECK: host.partition capture
func.func @fine(%x: memref<8xf32>, %r: memref<8xf32>) {
  %h = host.alloc persistent "fine.0" : memref<8xf32, #symm.space<"tp">>
  host.copy %x to %h : memref<8xf32>, memref<8xf32, #symm.space<"tp">>
  symm.barrier group "tp"
  %one = arith.constant 1 : i32
  host.partition capture static (%h : memref<8xf32, #symm.space<"tp">>) {
    %s = host.call "aten.exp.default"(%x) args [unit] : (memref<8xf32>) -> (memref<8xf32>)
    host.copy %s to %r : memref<8xf32>, memref<8xf32>
    symm.signal %h to %one channel 0 : i32 : memref<8xf32, #symm.space<"tp">>, i32
  }
  func.return
}

// -----

func.func @grid(%x: memref<64xf32>) {
  // expected-error @+1 {{'tile.grid' has no torch form}}
  tile.grid (%i: b0=16) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
    tile.store %z, %x[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
  }
  func.return
}

// -----

func.func @in_a_run(%x: memref<64xf32>) {
  host.partition capture {
    // expected-error @+1 {{'tile.grid' has no torch form}}
    tile.grid (%i: b0=16) in (64) {
      %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
      tile.store %z, %x[%i] : !tile.tile<b0=16 x f32>, memref<64xf32>
    }
  }
  func.return
}

// -----

func.func @alloc() {
  // expected-error @+1 {{torch has no element type i7}}
  %a = host.alloc : memref<8xi7>
  func.return
}

// -----

func.func @collective(%x: memref<2xi7>) {
  // expected-error @+1 {{torch has no element type i7}}
  %a = symm.all_gather %x group "tp" : memref<2xi7> to memref<8xi7>
  func.return
}

// -----

func.func @operator(%x: memref<8xi64>) -> memref<8xi32> {
  // expected-error @+1 {{torch has no operator 'kopt.saturate_to_i32' that programs may call}}
  %a = host.call "kopt.saturate_to_i32"(%x) args [unit] : (memref<8xi64>) -> (memref<8xi32>)
  func.return %a : memref<8xi32>
}

// -----

func.func @constant() {
  // expected-error @+1 {{'arith.constant' of vector<2xi32> has no torch form}}
  %a = arith.constant dense<1> : vector<2xi32>
  func.return
}

// -----

func.func @persistent() {
  // expected-error @+1 {{persistent memory is symmetric memory and the reverse, for torch; found memref<8xf32> persistent}}
  %a = host.alloc persistent "f.0" : memref<8xf32>
  func.return
}

// -----

func.func @symmetric() {
  // expected-error @+1 {{persistent memory is symmetric memory and the reverse, for torch; found memref<8xf32, #symm.space<"tp">> not persistent}}
  %a = host.alloc : memref<8xf32, #symm.space<"tp">>
  func.return
}

// -----

func.func @two_shot(%x: memref<8xf32, #symm.space<"tp">>) {
  // expected-note @+2 {{run symm-to-dps before}}
  // expected-error @+1 {{torch has no two_shot all-reduce that allocates its result}}
  %r = symm.all_reduce add %x group "tp" by two_shot : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  func.return
}

// -----

func.func @barriers(%x: memref<8xf32, #symm.space<"tp">>, %r: memref<8xf32>) {
  // expected-error @+1 {{torch's one_shot_all_reduce_out waits at entry and exit; found barriers [entry]}}
  symm.all_reduce_out add %x to %r group "tp" by one_shot barriers [entry] : memref<8xf32, #symm.space<"tp">> to memref<8xf32>
  symm.barrier group "tp"
  func.return
}

// -----

func.func @strided(%x: memref<4x2xf32>, %r: memref<8x2xf32, strided<[1, 8]>>) {
  // expected-error @+1 {{symm.all_gather_out writes a contiguous array, found memref<8x2xf32, strided<[1, 8]>>}}
  symm.all_gather_out %x to %r group "tp" : memref<4x2xf32> to memref<8x2xf32, strided<[1, 8]>>
  func.return
}

// -----

func.func @strided_sum(%x: memref<8x2xf32>, %r: memref<8x2xf32, strided<[1, 8]>>) {
  // expected-error @+1 {{symm.all_reduce_out writes a contiguous array, found memref<8x2xf32, strided<[1, 8]>>}}
  symm.all_reduce_out add %x to %r group "tp" : memref<8x2xf32> to memref<8x2xf32, strided<[1, 8]>>
  func.return
}

// -----

func.func @strided_result(%x: memref<4x2xf32>) {
  // expected-error @+1 {{symm.all_gather writes a contiguous array, found memref<8x2xf32, strided<[1, 8]>>}}
  %a = symm.all_gather %x group "tp" : memref<4x2xf32> to memref<8x2xf32, strided<[1, 8]>>
  func.return
}

// -----

func.func @number(%h: memref<8xf32, #symm.space<"tp">>, %rank: i32) {
  // expected-error @+1 {{a captured run takes arrays, found i32 from outside}}
  host.partition capture static (%h : memref<8xf32, #symm.space<"tp">>) {
    symm.signal %h to %rank channel 0 : i32 : memref<8xf32, #symm.space<"tp">>, i32
  }
  func.return
}

// -----

func.func @nested(%x: memref<8xf32>, %r: memref<8xf32>) {
  host.partition capture {
    // expected-error @+1 {{a captured run is no part of another}}
    host.partition capture {
      host.copy %x to %r : memref<8xf32>, memref<8xf32>
    }
  }
  func.return
}

// -----

// Runs are replayed, and persistent memory stays: neither changes its size from call to call.
func.func @open_run(%x: memref<?xf32>, %r: memref<?xf32>) attributes {tile.extents = ["n", "n"]} {
  // expected-error @+1 {{a captured run is of arrays as large in every call, found memref<?xf32>}}
  host.partition capture {
    host.copy %x to %r : memref<?xf32>, memref<?xf32>
  }
  func.return
}

// -----

func.func @open_memory(%x: memref<?xf32>) {
  // expected-error @+1 {{persistent memory is as large in every call, found memref<?xf32, #symm.space<"tp">>}}
  %a = host.alloc persistent "a" {tile.extents = ["x.size(0)"]} : memref<?xf32, #symm.space<"tp">>
  func.return
}
