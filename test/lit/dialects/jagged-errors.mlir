// What jagged loops refuse.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @lengths() {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.full 3.0 : !tile.tile<b0=8 x f32>
    // expected-error @+1 {{jagged.for needs a tile of lengths, found !tile.tile<b0=8 x f32>}}
    jagged.for %k: b1=16 in %n {
    }
  }
  func.return
}

// -----

func.func @one(%n: !tile.tile<i32>) {
  // expected-error @+1 {{jagged.for needs a tile of lengths, found !tile.tile<i32>}}
  jagged.for %k: b1=16 in %n {
  }
  func.return
}

// -----

func.func @plain(%n: !tile.tile<8 x i32>) {
  // expected-error @+1 {{jagged.for needs items that are lanes of loops (tagged dimensions), found !tile.tile<8 x i32>}}
  jagged.for %k: b1=16 in %n {
  }
  func.return
}

// -----

func.func @carries(%z: !tile.tile<8 x f32>) {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.full 3 : !tile.tile<b0=8 x i32>
    // expected-error @+1 {{jagged.for carries (!tile.tile<8 x f32>) but yields (!tile.tile<b0=8 x i32>)}}
    %r = jagged.for %k: b1=16 in %n iter(%a = %z) -> (!tile.tile<8 x f32>) {
      tile.yield %n : !tile.tile<b0=8 x i32>
    }
  }
  func.return
}

// -----

func.func @valid() {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.full 3 : !tile.tile<b0=8 x i32>
    jagged.for %k: b1=16 in %n {
      // expected-error @+1 {{jagged.valid gives !tile.tile<b0=8 x b1=16 x i1>, found !tile.tile<b0=8 x i1>}}
      %v = "jagged.valid"(%k, %n) : (!tile.range<b1=16>, !tile.tile<b0=8 x i32>) -> !tile.tile<b0=8 x i1>
    }
  }
  func.return
}

// -----

func.func @valid_lengths() {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.full 3 : !tile.tile<b0=8 x i32>
    jagged.for %k: b1=16 in %n {
      // expected-error @+1 {{expected a !tile.tile type, found index}}
      %v = jagged.valid %k of %n : !tile.range<b1=16>, index
    }
  }
  func.return
}

// -----

func.func @starts() {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.full 3 : !tile.tile<b0=8 x i16>
    jagged.for %k: b1=16 in %n {
      // expected-error @+1 {{jagged.rows needs starts of at least 32 bits, found !tile.tile<b0=8 x i16>}}
      %r = jagged.rows %k from %n : !tile.range<b1=16>, !tile.tile<b0=8 x i16>
    }
  }
  func.return
}

// -----

func.func @truths() {
  tile.grid (%i: b0=8) in (8) {
    %n = tile.full true : !tile.tile<b0=8 x i1>
    // expected-error @+1 {{jagged.for needs a tile of lengths, found !tile.tile<b0=8 x i1>}}
    jagged.for %k: b1=16 in %n {
    }
  }
  func.return
}
