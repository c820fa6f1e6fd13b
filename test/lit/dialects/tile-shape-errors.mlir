// What the ops that make and rearrange tiles refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @fraction() {
  // expected-error @+1 {{1.5 is no i32}}
  %a = tile.full 1.5 : !tile.tile<8 x i32>
  func.return
}

// -----

func.func @literal_type() {
  // expected-error @+1 {{tile.full of 1 : i32 cannot make !tile.tile<8 x f32>}}
  %a = "tile.full"() <{value = 1 : i32}> : () -> !tile.tile<8 x f32>
  func.return
}

// -----

func.func @splat(%s: f32) {
  // expected-error @+1 {{tile.splat of f32 cannot make !tile.tile<8 x f16>}}
  %a = tile.splat %s : f32 to !tile.tile<8 x f16>
  func.return
}

// -----

func.func @extract() {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.extract needs a tile of rank 0, found !tile.tile<8 x f32>}}
  %a = tile.extract %v : !tile.tile<8 x f32> to f32
  func.return
}

// -----

func.func @arange() {
  // expected-error @+1 {{tile.arange makes one dimension of integers, found !tile.tile<8 x f32>}}
  %a = tile.arange 0, 1 : !tile.tile<8 x f32>
  func.return
}

// -----

func.func @arange_of_truths() {
  // expected-error @+1 {{tile.arange makes one dimension of integers, found !tile.tile<8 x i1>}}
  %a = tile.arange 0, 1 : !tile.tile<8 x i1>
  func.return
}

// -----

func.func @arange_of_what() {
  // expected-error @+1 {{expected a !tile.tile type, found i32}}
  %a = tile.arange 0, 1 : i32
  func.return
}

// -----

func.func @broadcast_size() {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.broadcast cannot repeat dimension 8 to 16}}
  %a = tile.broadcast %v dims [0] : !tile.tile<8 x f32> to !tile.tile<16 x f32>
  func.return
}

// -----

func.func @broadcast_order() {
  %v = tile.full 0.0 : !tile.tile<8 x 8 x f32>
  // expected-error @+1 {{tile.broadcast needs one increasing result dimension an input dimension, found [1, 0]}}
  %a = tile.broadcast %v dims [1, 0] : !tile.tile<8 x 8 x f32> to !tile.tile<8 x 8 x f32>
  func.return
}

// -----

func.func @broadcast_negative() {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.broadcast needs one increasing result dimension an input dimension, found [-1]}}
  %a = tile.broadcast %v dims [-1] : !tile.tile<8 x f32> to !tile.tile<8 x f32>
  func.return
}

// -----

func.func @broadcast_element() {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.broadcast keeps the element type, found !tile.tile<8 x f32> to !tile.tile<8 x f16>}}
  %a = tile.broadcast %v dims [0] : !tile.tile<8 x f32> to !tile.tile<8 x f16>
  func.return
}

// -----

func.func @reshape_lanes() {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.reshape keeps the number of lanes, found !tile.tile<8 x f32> to !tile.tile<4 x f32>}}
  %a = tile.reshape %v : !tile.tile<8 x f32> to !tile.tile<4 x f32>
  func.return
}

// -----

func.func @reshape_tag() {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.full 0.0 : !tile.tile<8 x f32>
    // expected-error @+1 {{tile.reshape cannot make a dimension tagged b0}}
    %a = tile.reshape %v : !tile.tile<8 x f32> to !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @transpose() {
  %v = tile.full 0.0 : !tile.tile<8 x 4 x f32>
  // expected-error @+1 {{[1, 1] is no permutation of the dimensions of !tile.tile<8 x 4 x f32>}}
  %a = tile.transpose %v [1, 1] : !tile.tile<8 x 4 x f32>
  func.return
}

// -----

func.func @transpose_result() {
  %v = tile.full 0.0 : !tile.tile<8 x 4 x f32>
  // expected-error @+1 {{tile.transpose gives !tile.tile<4 x 8 x f32>, found !tile.tile<8 x 4 x f32>}}
  %a = "tile.transpose"(%v) <{permutation = array<i64: 1, 0>}> : (!tile.tile<8 x 4 x f32>) -> !tile.tile<8 x 4 x f32>
  func.return
}

// -----

func.func @slice_outside() {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{slice [4] [3] [2] is outside dimension 8}}
  %a = tile.slice %v [4] [3] [2] : !tile.tile<8 x f32> to !tile.tile<3 x f32>
  func.return
}

// -----

func.func @slice_tagged(%x: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    // expected-error @+1 {{tile.slice takes the tagged dimension b0=8 whole or not at all}}
    %a = tile.slice %v [0] [4] [1] : !tile.tile<b0=8 x f32> to !tile.tile<4 x f32>
  }
  func.return
}

// -----

func.func @slice_numbers() {
  %v = tile.full 0.0 : !tile.tile<8 x 8 x f32>
  // expected-error @+1 {{tile.slice needs three numbers for each dimension of !tile.tile<8 x 8 x f32>}}
  %a = tile.slice %v [0] [4] [1] : !tile.tile<8 x 8 x f32> to !tile.tile<4 x 8 x f32>
  func.return
}

// -----

func.func @slice_generic() {
  %v = tile.full 0.0 : !tile.tile<8 x 8 x f32>
  // expected-error @+1 {{tile.slice needs three numbers for each dimension of !tile.tile<8 x 8 x f32>}}
  %a = "tile.slice"(%v) <{offsets = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>}> : (!tile.tile<8 x 8 x f32>) -> !tile.tile<4 x f32>
  func.return
}

// -----

func.func @slice_result() {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.slice gives !tile.tile<4 x f32>, found !tile.tile<5 x f32>}}
  %a = tile.slice %v [0] [4] [1] : !tile.tile<8 x f32> to !tile.tile<5 x f32>
  func.return
}

// -----

func.func @concat() {
  %v = tile.full 0.0 : !tile.tile<8 x 4 x f32>
  %w = tile.full 0.0 : !tile.tile<8 x 5 x f32>
  // expected-error @+1 {{tile.concat along 0 cannot join !tile.tile<8 x 4 x f32> and !tile.tile<8 x 5 x f32>}}
  %a = tile.concat %v, %w dim 0 : !tile.tile<8 x 4 x f32>, !tile.tile<8 x 5 x f32> to !tile.tile<16 x 4 x f32>
  func.return
}

// -----

func.func @concat_dim() {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.concat along 1 cannot join !tile.tile<8 x f32> and !tile.tile<8 x f32>}}
  %a = tile.concat %v, %v dim 1 : !tile.tile<8 x f32>, !tile.tile<8 x f32> to !tile.tile<16 x f32>
  func.return
}

// -----

func.func @take_along_type() {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.take_along picks by a tile of integers, found !tile.tile<8 x f32>}}
  %a = tile.take_along %v, %v dim 0 : !tile.tile<8 x f32>, !tile.tile<8 x f32>
  func.return
}

// -----

func.func @take_along_rank() {
  %v = tile.full 0.0 : !tile.tile<8 x 4 x f32>
  %n = tile.full 0 : !tile.tile<8 x i32>
  // expected-error @+1 {{tile.take_along dim 1 cannot pick from !tile.tile<8 x 4 x f32> by !tile.tile<8 x i32>}}
  %a = tile.take_along %v, %n dim 1 : !tile.tile<8 x 4 x f32>, !tile.tile<8 x i32>
  func.return
}

// -----

func.func @dynamic_slice_too_long(%n: index) {
  %v = tile.full 0.0 : !tile.tile<8 x 4 x f32>
  // expected-error @+1 {{tile.dynamic_slice along dimension 0 cannot make !tile.tile<16 x 4 x f32> of !tile.tile<8 x 4 x f32>}}
  %a = tile.dynamic_slice %v from %n dim 0 : !tile.tile<8 x 4 x f32> to !tile.tile<16 x 4 x f32>
  func.return
}

// -----

func.func @valid_lanes(%v: !tile.tile<24 x f32>) {
  // expected-error @+1 {{tile.valid_lanes gives !tile.tile<24 x i1>, found !tile.tile<8 x i1>}}
  %k = tile.valid_lanes %v : !tile.tile<24 x f32> to !tile.tile<8 x i1>
  func.return
}

// -----

func.func @nothing_joined() {
  // expected-error @+1 {{tile.concat joins one tile at least}}
  %c = "tile.concat"() <{dim = #builtin.int<0>}> : () -> !tile.tile<4 x f32>
  func.return
}
