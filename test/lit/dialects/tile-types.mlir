// Types: tagged and plain dimensions, ranks, element types, refs.
// RUN: kopt %s --verify-roundtrip | filecheck %s
// RUN: kopt %s --print-op-generic | kopt - | filecheck %s

// CHECK: func.func @types(%a: !tile.tile<f32>, %b: !tile.tile<64 x 1 x i1>, %c: !tile.tile<8 x index>,
// CHECK-SAME: %d: !tile.ref<128 x 64 x f8E5M2, smem>, %e: !tile.ref<ui8, semaphore>)
func.func @types(%a: !tile.tile<f32>, %b: !tile.tile<64 x 1 x i1>, %c: !tile.tile<8 x index>,
                 %d: !tile.ref<128 x 64 x f8E5M2, smem>, %e: !tile.ref<ui8, semaphore>) {
  // CHECK: tile.grid (%i: b0=1, %j: block_1=64) in (1, 1)
  tile.grid (%i: b0=1, %j: block_1=64) in (1, 1) {
    // CHECK: tile.full 0 : !tile.tile<b0=1 x block_1=64 x 0 x i8>
    %z = tile.full 0 : !tile.tile<b0=1 x block_1=64 x 0 x i8>
  }
  func.return
}
