// What loads and stores refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @count(%x: memref<100x64xf32>) {
  // expected-error @+1 {{1 indices for an array of 2 dimensions}}
  %a = tile.load %x[:] : memref<100x64xf32> -> !tile.tile<100 x f32>
  func.return
}

// -----

func.func @row(%x: memref<100xf32>) {
  // expected-error @+1 {{index 100 is outside dimension 0 of 100 elements}}
  %a = tile.load %x[100] : memref<100xf32> -> !tile.tile<f32>
  func.return
}

// -----

func.func @slice(%x: memref<100xf32>) {
  // expected-error @+1 {{slice 90:101 is outside dimension 0 of 100 elements}}
  %a = tile.load %x[90:101] : memref<100xf32> -> !tile.tile<11 x f32>
  func.return
}

// -----

func.func @backwards(%x: memref<100xf32>) {
  // expected-error @+1 {{a slice needs 0 <= start <= stop and step >= 1, found 9:3}}
  %a = tile.load %x[9:3] : memref<100xf32> -> !tile.tile<0 x f32>
  func.return
}

// -----

func.func @type(%x: memref<100xf32>) {
  // expected-error @+1 {{the index list addresses !tile.tile<100 x f32>, found !tile.tile<100 x f16>}}
  %a = tile.load %x[:] : memref<100xf32> -> !tile.tile<100 x f16>
  func.return
}

// -----

func.func @memory_type(%x: memref<100xf32>) {
  // expected-error @+1 {{expected the type memref<100xf32>, found memref<99xf32>}}
  %a = tile.load %x[:] : memref<99xf32> -> !tile.tile<99 x f32>
  func.return
}

// -----

func.func @no_memory(%x: f32) {
  // expected-error @+1 {{expected a memref type, found f32}}
  %a = tile.load %x[] : f32 -> !tile.tile<f32>
  func.return
}

// -----

func.func @gather_by_floats(%x: memref<100xf32>) {
  %n = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{index 0 gathers by a tile of integers, found !tile.tile<8 x f32>}}
  %a = tile.load %x[%n] : memref<100xf32> -> !tile.tile<8 x f32>
  func.return
}

// -----

func.func @gathers_differ(%x: memref<100x100xf32>) {
  %n = tile.full 0 : !tile.tile<8 x i32>
  %k = tile.full 0 : !tile.tile<4 x i32>
  // expected-error @+1 {{gathering indices need the same dimensions: broadcast them first}}
  %a = tile.load %x[%n, %k] : memref<100x100xf32> -> !tile.tile<8 x f32>
  func.return
}

// -----

func.func @index_kind(%x: memref<100xf32>, %n: f32) {
  // expected-error @+1 {{index 0 is a range, an index or a tile of integers, found f32}}
  %a = tile.load %x[%n] : memref<100xf32> -> !tile.tile<f32>
  func.return
}

// -----

func.func @mask(%x: memref<100xf32>) {
  %m = tile.full 1 : !tile.tile<99 x i1>
  // expected-error @+1 {{the mask must be !tile.tile<100 x i1>, found !tile.tile<99 x i1>}}
  %a = tile.load %x[:] mask %m : memref<100xf32> -> !tile.tile<100 x f32>
  func.return
}

// -----

func.func @other(%x: memref<100xf32>) {
  // expected-error @+1 {{'other' needs a mask}}
  %a = tile.load %x[:] other 0.0 : memref<100xf32> -> !tile.tile<100 x f32>
  func.return
}

// -----

func.func @store_type(%x: memref<100xf32>) {
  %v = tile.full 0.0 : !tile.tile<99 x f32>
  // expected-error @+1 {{the index list addresses !tile.tile<100 x f32>, found !tile.tile<99 x f32>}}
  tile.store %v, %x[:] : !tile.tile<99 x f32>, memref<100xf32>
  func.return
}

// -----

func.func @places(%x: memref<100xf32>, %n: index) {
  // expected-error @+1 {{tile.load has 1 index operands for 0 places in its list}}
  %a = "tile.load"(%x, %n) <{layout = [#tile.all], operandSegmentSizes = array<i32: 1, 1, 0>}> : (memref<100xf32>, index) -> !tile.tile<100 x f32>
  func.return
}

// -----

func.func @get(%r: !tile.ref<16 x f32, vmem>) {
  // expected-error @+1 {{the index list addresses !tile.tile<16 x f32>, found !tile.tile<8 x f32>}}
  %a = tile.get %r[:] : !tile.ref<16 x f32, vmem> -> !tile.tile<8 x f32>
  func.return
}

// -----

func.func @get_memref(%x: memref<16xf32>) {
  // expected-error @+1 {{expected a !tile.ref type, found memref<16xf32>}}
  %a = tile.get %x[:] : memref<16xf32> -> !tile.tile<16 x f32>
  func.return
}
