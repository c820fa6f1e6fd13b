// What the ops that combine lanes refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @kind(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{tile.reduce knows add, mul, max, min, and, or, xor, found 'mean'}}
  %a = tile.reduce mean %v [0] : !tile.tile<8 x f32>
  func.return
}

// -----

func.func @bits_of_floats(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{tile.reduce and needs integers, found f32}}
  %a = tile.reduce and %v [0] : !tile.tile<8 x f32>
  func.return
}

// -----

func.func @dims(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{tile.reduce needs increasing dimensions of !tile.tile<8 x f32>, found [1]}}
  %a = tile.reduce add %v [1] : !tile.tile<8 x f32>
  func.return
}

// -----

func.func @dims_negative(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{tile.reduce needs increasing dimensions of !tile.tile<8 x f32>, found [-1]}}
  %a = tile.reduce add %v [-1] : !tile.tile<8 x f32>
  func.return
}

// -----

func.func @dims_out_of_order(%v: !tile.tile<8 x 4 x f32>) {
  // expected-error @+1 {{tile.reduce needs increasing dimensions of !tile.tile<8 x 4 x f32>, found [1, 0]}}
  %a = tile.reduce add %v [1, 0] : !tile.tile<8 x 4 x f32>
  func.return
}

// -----

func.func @dims_twice(%v: !tile.tile<8 x 4 x f32>) {
  // expected-error @+1 {{tile.reduce needs increasing dimensions of !tile.tile<8 x 4 x f32>, found [0, 0]}}
  %a = tile.reduce add %v [0, 0] : !tile.tile<8 x 4 x f32>
  func.return
}

// -----

func.func @no_tile(%v: f32) {
  // expected-error @+1 {{expected a !tile.tile type, found f32}}
  %a = tile.reduce add %v [0] : f32
  func.return
}

// -----

func.func @result(%v: !tile.tile<8 x 4 x f32>) {
  // expected-error @+1 {{tile.reduce gives !tile.tile<8 x f32>, found !tile.tile<4 x f32>}}
  %a = "tile.reduce"(%v) <{kind = "add", dims = array<i64: 1>}> : (!tile.tile<8 x 4 x f32>) -> !tile.tile<4 x f32>
  func.return
}

// -----

func.func @argreduce_kind(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{tile.argreduce knows max, min, found 'add'}}
  %a = tile.argreduce add %v dim 0 : !tile.tile<8 x f32>
  func.return
}

// -----

func.func @scan_dim(%v: !tile.tile<8 x f32>) {
  // expected-error @+1 {{!tile.tile<8 x f32> has no dimension 1}}
  %a = tile.scan add %v dim 1 : !tile.tile<8 x f32>
  func.return
}

// -----

func.func @mask_count(%v: !tile.tile<8 x 4 x f32>) {
  // expected-error @+1 {{tile.mask needs one range or '_' for each dimension of !tile.tile<8 x 4 x f32>}}
  %a = tile.mask %v in (_) else 0.0 : !tile.tile<8 x 4 x f32>
  func.return
}

// -----

func.func @mask_size(%v: !tile.tile<8 x f32>) {
  tile.grid (%i: b0=16) in (100) {
    // expected-error @+1 {{!tile.range<b0=16> cannot limit dimension 8}}
    %a = tile.mask %v in (%i) else 0.0 : !tile.tile<8 x f32>
  }
  func.return
}

// -----

func.func @mask_tag(%x: memref<100xf32>) {
  tile.grid (%i: b0=16) in (100) {
    %v = tile.load %x[%i] : memref<100xf32> -> !tile.tile<b0=16 x f32>
    // expected-error @+1 {{tile.mask can drop the tag of a masked dimension only, found b0=16 to 16}}
    %a = tile.mask %v in (_) else 0.0 : !tile.tile<b0=16 x f32> to !tile.tile<16 x f32>
  }
  func.return
}

// -----

func.func @mask_fill(%v: !tile.tile<8 x i32>) {
  // expected-error @+1 {{-inf is no i32}}
  %a = tile.mask %v in (_) else -inf : !tile.tile<8 x i32>
  func.return
}

// -----

func.func @dot_contract(%a: !tile.tile<4 x 8 x f32>, %b: !tile.tile<4 x 8 x f32>) {
  // expected-error @+1 {{tile.dot cannot contract !tile.tile<4 x 8 x f32> with !tile.tile<4 x 8 x f32>}}
  %x = tile.dot %a, %b : !tile.tile<4 x 8 x f32>, !tile.tile<4 x 8 x f32> -> !tile.tile<4 x 8 x f32>
  func.return
}

// -----

// Equal sizes under two tags do not contract.
func.func @dot_tags(%x: memref<4x8xf32>, %y: memref<8x4xf32>) {
  tile.grid (%i: b0=8, %j: b1=8) in (8, 8) {
    %a = tile.load %x[:, %i] : memref<4x8xf32> -> !tile.tile<4 x b0=8 x f32>
    %b = tile.load %y[%j, :] : memref<8x4xf32> -> !tile.tile<b1=8 x 4 x f32>
    // expected-error @+1 {{tile.dot cannot contract !tile.tile<4 x b0=8 x f32> with !tile.tile<b1=8 x 4 x f32>}}
    %d = tile.dot %a, %b : !tile.tile<4 x b0=8 x f32>, !tile.tile<b1=8 x 4 x f32> -> !tile.tile<4 x 4 x f32>
  }
  func.return
}

// -----

func.func @dot_types(%a: !tile.tile<4 x 8 x f32>, %b: !tile.tile<8 x 4 x bf16>) {
  // expected-error @+1 {{tile.dot needs two matrices of one rank and element type}}
  %x = tile.dot %a, %b : !tile.tile<4 x 8 x f32>, !tile.tile<8 x 4 x bf16> -> !tile.tile<4 x 4 x f32>
  func.return
}

// -----

func.func @dot_of_index(%a: !tile.tile<8 x 8 x index>) {
  // expected-error @+1 {{tile.dot multiplies integers or floats, found !tile.tile<8 x 8 x index> and !tile.tile<8 x 8 x index>}}
  %x = tile.dot %a, %a : !tile.tile<8 x 8 x index>, !tile.tile<8 x 8 x index> -> !tile.tile<8 x 8 x i32>
  func.return
}

// -----

func.func @dot_accumulator(%a: !tile.tile<4 x 8 x f32>, %b: !tile.tile<8 x 4 x f32>, %c: !tile.tile<4 x 5 x f32>) {
  // expected-error @+1 {{the accumulator of tile.dot must be !tile.tile<4 x 4 x f32>, found !tile.tile<4 x 5 x f32>}}
  %x = tile.dot %a, %b, %c : !tile.tile<4 x 8 x f32>, !tile.tile<8 x 4 x f32> -> !tile.tile<4 x 4 x f32>
  func.return
}

// -----

func.func @dot_vectors(%a: !tile.tile<8 x f32>) {
  // expected-error @+1 {{tile.dot needs two matrices of one rank and element type, found !tile.tile<8 x f32> and !tile.tile<8 x f32>}}
  %x = tile.dot %a, %a : !tile.tile<8 x f32>, !tile.tile<8 x f32> -> !tile.tile<f32>
  func.return
}

// -----

func.func @dot_precision(%a: !tile.tile<8 x 8 x f32>) {
  // expected-error @+1 {{precision is one of ieee, tf32, bf16, tf32x3, bf16x3, found 'double'}}
  %x = tile.dot %a, %a precision double : !tile.tile<8 x 8 x f32>, !tile.tile<8 x 8 x f32> -> !tile.tile<8 x 8 x f32>
  func.return
}

// -----

func.func @dims_of_another_type(%v: !tile.tile<8 x 4 x f32>) {
  // expected-error @+1 {{an array of i64 belongs here, not of i1}}
  %x = "tile.reduce"(%v) <{kind = "add", dims = array<i1: 1>}> : (!tile.tile<8 x 4 x f32>) -> !tile.tile<4 x f32>
  func.return
}

// -----

func.func @dot_of_vectors() {
  %a = tile.full 1.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.dot needs two matrices of one rank and element type, found !tile.tile<8 x f32> and !tile.tile<8 x f32>}}
  %x = tile.dot %a, %a : !tile.tile<8 x f32>, !tile.tile<8 x f32> -> !tile.tile<8 x f32>
  func.return
}

// -----

func.func @sum_of_index(%v: !tile.tile<8 x index>) {
  // expected-error @+1 {{tile.reduce combines integers or floats, found index}}
  %s = tile.reduce add %v [0] : !tile.tile<8 x index>
  func.return
}

// -----

func.func @dot_in_bytes(%a: !tile.tile<8 x 8 x ui8>) {
  // expected-error @+1 {{tile.dot adds products of ui8 in i32, found !tile.tile<8 x 8 x ui8>}}
  %x = tile.dot %a, %a : !tile.tile<8 x 8 x ui8>, !tile.tile<8 x 8 x ui8> -> !tile.tile<8 x 8 x ui8>
  func.return
}

// -----

func.func @dot_in_less(%a: !tile.tile<8 x 8 x f64>) {
  // expected-error @+1 {{tile.dot adds products of f64 in f64, found !tile.tile<8 x 8 x f32>}}
  %x = tile.dot %a, %a : !tile.tile<8 x 8 x f64>, !tile.tile<8 x 8 x f64> -> !tile.tile<8 x 8 x f32>
  func.return
}
