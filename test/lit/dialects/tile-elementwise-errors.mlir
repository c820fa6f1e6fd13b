// What elementwise ops refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @narrow(%x: memref<8xf16>) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i] : memref<8xf16> -> !tile.tile<b0=8 x f16>
    // expected-error @+1 {{tile.add computes in f32, f64, bf16 or an integer type, found f16: cast first}}
    %s = tile.add %v, %v : !tile.tile<b0=8 x f16>
  }
  func.return
}

// -----

func.func @float_bits(%x: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    // expected-error @+1 {{tile.xor computes in an integer type or i1, found f32: cast first}}
    %s = tile.xor %v, %v : !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @arity(%x: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    // expected-error @+1 {{tile.fma takes 3 operands, found 2}}
    %s = tile.fma %v, %v : !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

// Two loops over blocks of one size are two axes.
func.func @axes(%x: memref<8x8xf32>) {
  tile.grid (%i: b0=8, %j: b1=8) in (8, 8) {
    %v = tile.load %x[%i, 0] : memref<8x8xf32> -> !tile.tile<b0=8 x f32>
    %w = tile.load %x[0, %j] : memref<8x8xf32> -> !tile.tile<b1=8 x f32>
    // expected-error @+1 {{tile.add needs operands of one type, found !tile.tile<b0=8 x f32> and !tile.tile<b1=8 x f32>}}
    %s = "tile.add"(%v, %w) : (!tile.tile<b0=8 x f32>, !tile.tile<b1=8 x f32>) -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @result(%x: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    // expected-error @+1 {{tile.lt gives !tile.tile<b0=8 x i1>, found !tile.tile<b0=8 x f32>}}
    %s = "tile.lt"(%v, %v) : (!tile.tile<b0=8 x f32>, !tile.tile<b0=8 x f32>) -> !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @no_tile(%x: f32) {
  // expected-error @+1 {{expected a !tile.tile type, found f32}}
  %s = tile.exp %x : f32
  func.return
}

// -----

func.func @condition(%x: memref<8xf32>) {
  tile.grid (%i: b0=8) in (8) {
    %v = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    // expected-error @+1 {{tile.select needs a condition of !tile.tile<b0=8 x i1>, found !tile.tile<b0=8 x f32>}}
    %s = tile.select %v, %v, %v : !tile.tile<b0=8 x f32>
  }
  func.return
}

// -----

func.func @shape(%x: memref<8xf32>) {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.cast keeps the dimensions, found !tile.tile<8 x f32> to !tile.tile<4 x f16>}}
  %s = tile.cast %v : !tile.tile<8 x f32> to !tile.tile<4 x f16>
  func.return
}

// -----

func.func @width(%x: memref<8xf32>) {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.bitcast keeps dimensions and width, found !tile.tile<8 x f32> to !tile.tile<8 x i16>}}
  %s = tile.bitcast %v : !tile.tile<8 x f32> to !tile.tile<8 x i16>
  func.return
}

// -----

func.func @bits_of_what(%x: memref<8xf32>) {
  %v = tile.full 0.0 : !tile.tile<8 x f32>
  // expected-error @+1 {{tile.bitcast}}
  %s = tile.bitcast %v : !tile.tile<8 x f32> to !tile.tile<8 x index>
  func.return
}

// -----

func.func @bits_of_indices(%v: !tile.tile<8 x index>) {
  // expected-error @+1 {{tile.bitcast keeps dimensions and width}}
  %s = tile.bitcast %v : !tile.tile<8 x index> to !tile.tile<8 x index>
  func.return
}
