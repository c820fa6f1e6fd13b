// The loop without a range.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

func.func @loops(%go: i1, %z: !tile.tile<4 x f32>, %limit: !tile.tile<f32>) {
  // CHECK: %r = tile.while %go iter(%a = %z) -> (!tile.tile<4 x f32>) {
  %r = tile.while %go iter(%a = %z) -> (!tile.tile<4 x f32>) {
    %b = tile.add %a, %a : !tile.tile<4 x f32>
    %s = tile.reduce add %b [0] : !tile.tile<4 x f32>
    %c = tile.lt %s, %limit : !tile.tile<f32>
    %more = tile.extract %c : !tile.tile<i1> to i1
    // CHECK: tile.yield %more, %b : i1, !tile.tile<4 x f32>
    tile.yield %more, %b : i1, !tile.tile<4 x f32>
  }
  // CHECK: tile.while %go attributes {note = "kept"} {
  tile.while %go attributes {note = "kept"} {
    // CHECK-NEXT: tile.yield %go : i1
    tile.yield %go : i1
  }
  func.return
}
