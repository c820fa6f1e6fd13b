// What jagged loops refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @lengths(%n: !tile.tile<8 x f32>) {
  // expected-error @+1 {{jagged.for needs a tile of lengths, found !tile.tile<8 x f32>}}
  jagged.for %k: b1=16 in %n {
  }
  func.return
}

// -----

func.func @carries(%n: !tile.tile<8 x i32>, %z: !tile.tile<8 x f32>) {
  // expected-error @+1 {{jagged.for carries (!tile.tile<8 x f32>) but yields (!tile.tile<8 x i32>)}}
  %r = jagged.for %k: b1=16 in %n iter(%a = %z) -> (!tile.tile<8 x f32>) {
    tile.yield %n : !tile.tile<8 x i32>
  }
  func.return
}

// -----

func.func @valid(%n: !tile.tile<8 x i32>) {
  jagged.for %k: b1=16 in %n {
    // expected-error @+1 {{jagged.valid gives !tile.tile<8 x b1=16 x i1>, found !tile.tile<8 x i1>}}
    %v = "jagged.valid"(%k, %n) : (!tile.range<b1=16>, !tile.tile<8 x i32>) -> !tile.tile<8 x i1>
  }
  func.return
}

// -----

func.func @valid_lengths(%n: !tile.tile<8 x i32>) {
  jagged.for %k: b1=16 in %n {
    // expected-error @+1 {{expected a !tile.tile type, found index}}
    %v = jagged.valid %k of %n : !tile.range<b1=16>, index
  }
  func.return
}
