// What the loop without a range refuses.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @condition(%go: i1, %z: !tile.tile<4 x f32>) {
  // expected-error @+1 {{tile.while yields first whether there is another visit, of type i1}}
  %r = tile.while %go iter(%a = %z) -> (!tile.tile<4 x f32>) {
    tile.yield %a : !tile.tile<4 x f32>
  }
  func.return
}

// -----

func.func @carried(%go: i1, %z: !tile.tile<4 x f32>) {
  // expected-error @+1 {{tile.while carries (!tile.tile<4 x f32>) but yields ()}}
  %r = tile.while %go iter(%a = %z) -> (!tile.tile<4 x f32>) {
    tile.yield %go : i1
  }
  func.return
}
