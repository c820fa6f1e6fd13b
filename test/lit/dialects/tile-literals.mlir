// Numbers at the ends of a type are printed; those beyond are infinite.
// RUN: kopt %s --verify-roundtrip | filecheck %s

func.func @literals() {
  // CHECK: tile.full 3.4028{{[0-9]*}}e+38 : !tile.tile<f32>
  %a = tile.full 3.4028234663852886e+38 : !tile.tile<f32>
  // CHECK-NEXT: tile.full inf : !tile.tile<f32>
  %b = tile.full 1.0e+39 : !tile.tile<f32>
  // CHECK-NEXT: tile.full -inf : !tile.tile<f16>
  %c = tile.full -70000.0 : !tile.tile<f16>
  // CHECK-NEXT: tile.full 65504.0 : !tile.tile<f16>
  %d = tile.full 65504.0 : !tile.tile<f16>
  func.return
}
