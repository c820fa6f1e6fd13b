// RUN: kopt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a block of at least 16 lanes cannot have at most 8}}
func.func @f() attributes {tile.open = [#tile.open<b0 : least 16 most 8>]} {
  func.return
}

// -----

// expected-error @+1 {{'narrow' is no word of an open block: least, most, wanted, observed, sized, pinned}}
func.func @f() attributes {tile.open = [#tile.open<b0 : narrow>]} {
  func.return
}

// -----

// expected-error @+1 {{an open block has a tag, and at least one lane}}
func.func @f() attributes {tile.open = [#tile.open<b0 : least 0>]} {
  func.return
}
