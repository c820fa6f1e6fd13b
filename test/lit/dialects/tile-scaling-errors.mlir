// What operands of scaled products cannot be.
// RUN: kopt %s --split-input-file --verify-diagnostics

func.func @f(%v: !tile.tile<16 x 64 x f8E5M2>, %s: !tile.tile<16 x 2 x ui8>) {
  // expected-error @+1 {{found e2m1 in !tile.tile<16 x 64 x f8E5M2>}}
  %a = tile.scaling_extf e2m1 %v, %s dim 1 : !tile.tile<16 x 64 x f8E5M2>, !tile.tile<16 x 2 x ui8> to !tile.tile<16 x 64 x bf16>
  func.return
}

// -----

func.func @f(%v: !tile.tile<16 x 64 x f8E5M2>, %s: !tile.tile<16 x 2 x ui8>) {
  // expected-error @+1 {{takes matrices}}
  %a = tile.scaling_extf e5m2 %v, %s dim 2 : !tile.tile<16 x 64 x f8E5M2>, !tile.tile<16 x 2 x ui8> to !tile.tile<16 x 64 x bf16>
  func.return
}

// -----

func.func @f(%v: !tile.tile<16 x 64 x ui8>, %s: !tile.tile<16 x 2 x ui8>) {
  // expected-error @+1 {{tile.scaling_extf e2m1 along 1 cannot make !tile.tile<16 x 64 x bf16> of !tile.tile<16 x 64 x ui8>}}
  %a = tile.scaling_extf e2m1 %v, %s dim 1 : !tile.tile<16 x 64 x ui8>, !tile.tile<16 x 2 x ui8> to !tile.tile<16 x 64 x bf16>
  func.return
}

// -----

func.func @f(%v: !tile.tile<16 x 64 x f8E5M2>, %s: !tile.tile<16 x 2 x ui8>) {
  // expected-error @+1 {{has no scale for each group}}
  %a = tile.scaling_extf e5m2 %v, %s dim 0 : !tile.tile<16 x 64 x f8E5M2>, !tile.tile<16 x 2 x ui8> to !tile.tile<16 x 64 x bf16>
  func.return
}
