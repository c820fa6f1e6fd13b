// Operands of scaled products.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

// CHECK-LABEL: func.func @scaled
// CHECK-NEXT: tile.scaling_extf e5m2 %v, %s dim 1 : !tile.tile<16 x 64 x f8E5M2>, !tile.tile<16 x 2 x ui8> to !tile.tile<16 x 64 x bf16>
func.func @scaled(%v: !tile.tile<16 x 64 x f8E5M2>, %s: !tile.tile<16 x 2 x ui8>) {
  %a = tile.scaling_extf e5m2 %v, %s dim 1 : !tile.tile<16 x 64 x f8E5M2>, !tile.tile<16 x 2 x ui8> to !tile.tile<16 x 64 x bf16>
  func.return
}
