// What ops on ranges refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @no_range(%x: index) {
  // expected-error @+1 {{expected a !tile.range type, found index}}
  %a = tile.index %x : index
  func.return
}

// -----

func.func @whole_size() {
  // expected-error @+1 {{100 elements do not fit !tile.range<w0=64>}}
  %a = tile.whole 100 : !tile.range<w0=64>
  func.return
}

// -----

func.func @whole_type() {
  // expected-error @+1 {{expected a !tile.range type, found index}}
  %a = tile.whole 100 : index
  func.return
}

// -----

func.func @lanes() {
  tile.grid (%i: b0=16) in (100) {
    // expected-error @+1 {{tile.index gives !tile.tile<b0=16 x i32>, found !tile.tile<16 x i32>}}
    %a = "tile.index"(%i) : (!tile.range<b0=16>) -> !tile.tile<16 x i32>
  }
  func.return
}

// -----

func.func @shift() {
  tile.grid (%i: b0=16) in (100) {
    %n = tile.begin %i : !tile.range<b0=16>
    // expected-error @+1 {{tile.shift keeps the range's type, found !tile.range<b1=16>}}
    %a = "tile.shift"(%i, %n) : (!tile.range<b0=16>, index) -> !tile.range<b1=16>
  }
  func.return
}

// -----

func.func @shift_by() {
  tile.grid (%i: b0=16) in (100) {
    %n = tile.full 1 : !tile.tile<i32>
    // expected-error @+1 {{operand is used with type index, but has been previously used or defined with type !tile.tile<i32>}}
    %a = tile.shift %i by %n : !tile.range<b0=16>
  }
  func.return
}
